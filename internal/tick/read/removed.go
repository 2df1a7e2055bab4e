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
// remove a second time: these are opt-outs. If a dead tick followed a removal and saved the
// latch, but not the head, its latch has no entry, and this is the same removal.
func (p presence) removed(changes []ledger.Change, l latch.Latches, now time.Time) []ledger.Change {
	return lists.Filter(changes, func(c ledger.Change) bool {
		_, seen := p.samples[c.ID]
		_, sampled := p.kinds.Object(c.ID.Kind)
		absent := p.whole && sampled && !seen
		second := l.Get(c.ID).Returned(now)
		return c.Removed() && !absent && !second
	})
}

// levels returns the removed entries with a level that a policy writes.
func (p presence) levels(set policy.Set, removed []ledger.Change) []ledger.Change {
	return lists.Filter(removed, func(c ledger.Change) bool {
		s, seen := p.samples[c.ID]
		_, _, latched := set.Choose(s)
		return c.Agreed.Replicas > 0 && (latched || !seen)
	})
}

// An unlisted contains the removals of entries that the changes since the agreement do not list,
// because the checkpoint file of their namespace is broken, or was.
type unlisted struct {
	// hidden are the workloads whose file is broken at the tip. A commit before the tip may have
	// removed their entries together with others. Their latches keep the last levels.
	hidden map[workload.ID]bool
	// followed are the numbers of removed entries that an earlier tick followed, by namespace. This
	// is so after three events: the file was broken, so only the latches had its entries; a user
	// removed them; and a tick saved the latches, but died before it saved the head.
	followed map[string]int
}

// unlistedIn returns the removals that the changes in f do not list.
func unlistedIn(f Found, l latch.Latches) unlisted {
	u := unlisted{hidden: map[workload.ID]bool{}, followed: map[string]int{}}
	for _, c := range f.Changes {
		if !c.Removed() && f.Tree.Broken[c.ID.Namespace] != nil {
			u.hidden[c.ID] = true
		}
	}
	for one := range l.All() {
		broken := f.Past.Agreed.Broken[one.ID.Namespace] != nil
		if broken && f.Fleet.At.Before(one.RemovedUntil) && one.Declared.IsZero() && !one.OptedOut {
			u.followed[one.ID.Namespace]++
		}
	}
	return u
}

// mayRemove returns changes with the hidden entries as removed.
func (u unlisted) mayRemove(changes []ledger.Change) []ledger.Change {
	return lists.Map(changes, func(c ledger.Change) ledger.Change {
		if !u.hidden[c.ID] {
			return c
		}
		return ledger.Change{ID: c.ID, Agreed: c.Agreed, WithoutUser: c.Agreed}
	})
}

// listed returns changes without the hidden entries.
func (u unlisted) listed(changes []ledger.Change) []ledger.Change {
	return lists.Filter(changes, func(c ledger.Change) bool { return !u.hidden[c.ID] })
}

// followedWith returns how many entries an earlier tick followed in the namespaces of levels.
func (u unlisted) followedWith(levels []ledger.Change) (n int) {
	for namespace, followed := range u.followed {
		if slices.ContainsFunc(levels, func(c ledger.Change) bool { return c.ID.Namespace == namespace }) {
			n += followed
		}
	}
	return n
}

// removals returns the users' commits that removed many entries at once. Such a commit is
// an edit of each entry, and opts no workload out. The commits of a rewritten branch count as one.
func (r *reader) removals(ctx context.Context, f Found, w window) ([]ledger.Removal, error) {
	if !slices.ContainsFunc(f.Changes, ledger.Change.Removed) {
		return nil, nil
	}
	here := presenceIn(f.Fleet, f.Cluster)
	others := unlistedIn(f, r.Latches)
	entries := len(f.Past.Agreed.Entries)
	many := func(levels []ledger.Change, file bool) bool {
		return policy.ManyRemoved(f.Set.Guards, len(levels)+others.followedWith(levels), file, entries)
	}
	changes := f.Changes
	if w.belief != rewritten {
		changes = others.mayRemove(changes)
	}
	all := here.removed(changes, r.Latches, f.Fleet.At)
	// All the commits together, with a whole file, are the upper bound of each of them.
	if !many(here.levels(f.Set, all), true) {
		return nil, nil
	}
	found := []ledger.Removal{{Commit: f.Tip, Changes: all}}
	if w.belief != rewritten {
		commits, err := r.commits.Removals(ctx, w.Window, f.Tip, all)
		if err != nil {
			return nil, err
		}
		found = lists.Filter(commits, func(removal ledger.Removal) bool {
			levels := here.levels(f.Set, removal.Changes)
			file := slices.ContainsFunc(levels, func(c ledger.Change) bool { return slices.Contains(removal.Files, c.ID.Namespace) })
			return many(levels, file)
		})
	}
	var removals []ledger.Removal
	for _, removal := range found {
		levels := here.levels(f.Set, removal.Changes)
		removal.Changes = others.listed(removal.Changes)
		if len(removal.Changes) == 0 {
			continue
		}
		removals = append(removals, removal)
		if f.Set.Latch {
			r.Conditions = append(r.Conditions, removedAtOnce(removal.Commit, levels, entries, f.Until()))
		}
	}
	return removals, nil
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
