package read

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A presence contains the workloads that are in the site's cluster.
type presence struct {
	samples map[workload.ID]workload.Sample
	// whole is true if an absent sample of one of the kinds proves that the workload is not in
	// the cluster.
	whole bool
	kinds workload.Kinds
}

func presenceIn(f workload.Fleet, cluster string) presence {
	samples := lists.Index(f.Samples, func(s workload.Sample) workload.ID { return s.ID })
	return presence{samples: samples, whole: len(f.Unread) == 0 && f.Cluster == cluster, kinds: f.Kinds}
}

// removed returns the entries that users removed although their workloads are in the
// cluster, or may be. It leaves out the entries of absent workloads, and the entries that users
// remove a second time: these are opt-outs.
func (p presence) removed(changes []ledger.Change, l latch.Latches, now time.Time) []ledger.Change {
	return lists.Filter(changes, func(c ledger.Change) bool {
		_, seen := p.samples[c.ID]
		_, sampled := p.kinds.Object(c.ID.Kind)
		absent := p.whole && sampled && !seen
		was := l.Get(c.ID)
		// A dead tick may have saved the latch, but not the head. Then the latch has no entry,
		// and this is the same removal.
		second := now.Before(was.RemovedUntil) && !was.Declared.IsZero()
		return c.Removed() && !absent && !second
	})
}

// levels returns the removed entries with a level that a policy writes.
func (p presence) levels(set policy.Set, r ledger.Removal) []ledger.Change {
	return lists.Filter(r.Changes, func(c ledger.Change) bool {
		s, seen := p.samples[c.ID]
		_, _, latched := set.Choose(s)
		return c.Agreed.Replicas > 0 && (latched || !seen)
	})
}

// removals returns the users' commits that removed many entries at once. Such a commit is
// an edit of each entry, and opts no workload out.
func (r *reader) removals(ctx context.Context, f Found, w window) ([]ledger.Removal, error) {
	if !slices.ContainsFunc(f.Changes, ledger.Change.Removed) {
		return nil, nil
	}
	here := presenceIn(f.Fleet, f.Cluster)
	entries := len(f.Past.Agreed.Entries)
	half := halfSaved(r.Latches, f.Past.Agreed.Broken, f.Fleet.At)
	many := func(removal ledger.Removal) bool {
		levels := here.levels(f.Set, removal)
		n := len(levels)
		for namespace, followed := range half {
			if slices.ContainsFunc(levels, func(c ledger.Change) bool { return c.ID.Namespace == namespace }) {
				n += followed
			}
		}
		whole := slices.ContainsFunc(levels, func(c ledger.Change) bool { return slices.Contains(removal.Files, c.ID.Namespace) })
		return policy.ManyRemoved(f.Set.Guards, n, whole, entries)
	}
	// The first check uses an upper bound: every removal, as if one commit had removed each
	// file. If it is not many, no commit removed many.
	removals := []ledger.Removal{{Commit: f.Tip, Changes: here.removed(f.Changes, r.Latches, f.Fleet.At)}}
	removals[0].Files = lists.Map(removals[0].Changes, func(c ledger.Change) string { return c.ID.Namespace })
	if many(removals[0]) && w.belief != rewritten { // the commits of a rewritten branch count as one
		found, err := r.commits.Removals(ctx, w.Window, f.Tip, removals[0].Changes)
		if err != nil {
			return nil, err
		}
		removals = found
	}
	removals = lists.Filter(removals, many)
	for _, removal := range removals {
		if f.Set.Latch {
			r.Conditions = append(r.Conditions, removedAtOnce(removal.Commit, here.levels(f.Set, removal), entries, f.Until()))
		}
	}
	return removals, nil
}

// halfSaved returns the numbers of removed entries that an earlier tick followed, by namespace,
// if the changes since the agreed commit do not contain them. This is so after three events: a
// checkpoint file was broken, so only the latches had its entries; a user removed them; and a
// tick saved the latches, but died before it saved the head.
func halfSaved(l latch.Latches, broken map[string]error, now time.Time) map[string]int {
	half := map[string]int{}
	for one := range l.All() {
		if broken[one.ID.Namespace] != nil && now.Before(one.RemovedUntil) && one.Declared.IsZero() && !one.OptedOut {
			half[one.ID.Namespace]++
		}
	}
	return half
}

// removedAtOnce returns the condition that a commit removed many of the site's entries.
func removedAtOnce(commit string, gone []ledger.Change, of int, until time.Time) alert.Condition {
	largest := slices.Clone(gone)
	slices.SortStableFunc(largest, func(a, b ledger.Change) int { return cmp.Compare(b.Agreed.Replicas, a.Agreed.Replicas) })
	names := lists.Map(largest, func(c ledger.Change) string { return fmt.Sprintf("%s (level %d)", c.ID, c.Agreed.Replicas) })
	text := fmt.Sprintf("commit %s removed %d of %d entries, and their workloads are in the cluster: %s", commit, len(gone), of, term.Among(names))
	return alert.Condition{
		Kind: alert.EntriesRemoved, Subject: commit, Text: alert.Brief(text),
		Effect: fmt.Sprintf("a rebuild starts these workloads with the replicas in their manifests (default 1). gitlatch writes no level for them until %s, and then treats them as new workloads", notes.Time(until)),
		Fix:    "if this was a mistake, run \"git revert " + commit + "\" and push. To opt the workloads out, wait until gitlatch has written the entries again, and then remove them a second time. To stop gitlatch, commit the policy with mode: observe",
	}
}
