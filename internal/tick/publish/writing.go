package publish

import (
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A writing is the content of a commit on a tip.
type writing struct {
	files    map[string][]byte   // new contents by path; nil removes the file
	restored []string            // the namespaces whose checkpoint file is restored to its canonical form
	changes  []checkpoint.Change // the changes to make, in the order of workload.Compare
	// renamed are the removals of entries under the old name of a kind. They are in changes too, and
	// replace the decisions for these entries.
	renamed []policy.Decision
	skipped []workload.ID // the workloads whose change was not applied, because the entry has another value
}

// compose applies changes to the files of a tip whose tree was read, and restores the
// checkpoint files of the repairs. It leaves out a change whose entry no longer has the value
// that the decision used. If the policy gave a kind another name, the commit that writes a
// workload's level under the new name removes its entry under the old one. While the old entry
// has an edit grace period, the decisions have no level under the new name.
func (p *publisher) compose(at tip, changes []checkpoint.Change, repairs []latch.Repair) writing {
	tree := *at.tree
	changes, removals := tree.Rename(p.Fleet.Kinds, changes)
	site := checkpoint.Site{Name: p.Site, Cluster: p.Decided.Head.Cluster.UID, Kinds: p.Fleet.Kinds}
	w := writing{changes: changes}
	w.renamed = lists.Map(removals, func(c checkpoint.Change) policy.Decision { return renaming(c, tree, p.Fleet.Kinds) })
	w.files, w.skipped = checkpoint.Merge(tree, site, changes)
	checkpoint.Repair(tree, w.files, namespaces(repairs))
	w.restored = lists.Filter(tree.Stale(), func(namespace string) bool {
		return w.files[checkpoint.RecordPath(p.Site, namespace)] != nil
	})
	return w
}

// renaming returns the removal of an entry under the old name of its kind as a decision.
func renaming(c checkpoint.Change, tree checkpoint.Tree, kinds workload.Kinds) policy.Decision {
	o, _ := tree.Site.Kinds.Object(c.ID.Kind)
	now, _ := kinds.Named(o.Group, o.Kind)
	return policy.Decision{
		ID: c.ID, Reading: policy.ReadingScale, Verdict: policy.Cross, From: c.From, To: c.To,
		Text: fmt.Sprintf("the policy now calls its kind %s", now),
	}
}

// replaced returns decisions with some of them replaced.
func replaced(decisions, by []policy.Decision) []policy.Decision {
	if len(by) == 0 {
		return decisions
	}
	with := lists.Index(by, policy.Decision.Subject)
	return lists.Map(decisions, func(d policy.Decision) policy.Decision {
		if r, is := with[d.Subject()]; is {
			return r
		}
		return d
	})
}

// left returns the level changes that the writing makes: without the skipped ones, and with the
// removals under old names instead of the decisions for them.
func (w writing) left(changes []policy.Decision) []policy.Decision {
	renamed := lists.Index(w.renamed, func(d policy.Decision) workload.ID { return d.ID })
	left := lists.Filter(changes, func(d policy.Decision) bool {
		_, is := renamed[d.ID]
		return !is
	})
	left = slices.DeleteFunc(append(left, w.renamed...), func(d policy.Decision) bool { return slices.Contains(w.skipped, d.ID) })
	slices.SortStableFunc(left, func(a, b policy.Decision) int { return workload.Compare(a.ID, b.ID) })
	return left
}

// An effect is what a commit does to the entries of a tip.
type effect struct {
	ledger.Trailers // of the commit
	changes         []checkpoint.Change
	// opens is true if a broken checkpoint file can be read after the commit. For example, a
	// user wrote an entry of a kind that only site.yaml names after the commit.
	opens bool
}

// effect returns what a commit does to a tip.
func (w writing) effect(site string, on tip) (effect, error) {
	before, err := on.tree.With(nil)
	if err != nil {
		return effect{}, err
	}
	after, err := before.With(w.files)
	if err != nil {
		return effect{}, err
	}
	changes := ledger.Changes(ledger.HoldingOf(before), ledger.HoldingOf(after))
	return effect{
		Trailers: ledger.Trailers{Site: site, Intent: ledger.Intent(site, on.commit, changes)},
		changes:  changes,
		opens:    len(after.Broken) < len(before.Broken),
	}, nil
}

// later returns the namespaces that wait for another commit, because the host refuses one commit
// with all of them. has are the namespaces in the open proposal: they stay in it, and the second
// half of the others waits. If the proposal has all of them, or none, the second half of all waits.
func later(all, has []string) []string {
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	rest := slices.DeleteFunc(slices.Clone(all), func(namespace string) bool { return slices.Contains(has, namespace) })
	if len(rest) == 0 || len(rest) == len(all) {
		return all[(len(all)+1)/2:]
	}
	return rest[len(rest)/2:]
}

// halve returns the level changes that cause a commit, or half of the namespaces if all do. The
// next tick decides the others.
func halve(changes []policy.Decision) []policy.Decision {
	causes := lists.Filter(changes, func(d policy.Decision) bool { return !d.Rides })
	if len(causes) < len(changes) {
		return causes
	}
	wait := later(lists.Map(changes, func(d policy.Decision) string { return d.ID.Namespace }), nil)
	return lists.Filter(changes, func(d policy.Decision) bool { return !slices.Contains(wait, d.ID.Namespace) })
}

func namespaces(repairs []latch.Repair) []string {
	return lists.Map(repairs, func(m latch.Repair) string { return m.Namespace })
}
