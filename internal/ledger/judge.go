// Package ledger is what git holds of a site and how it came to be: the tree at a
// commit, what commits say of themselves, whose commit one is, and whose change.
//
// A commit is its own intent. Nothing is written down before a push; a commit of
// gitlatch's names itself by its trailers, and what it changed is the difference
// to its parent. Whatever died, timed out, was refused and landed all the same,
// or landed late, is found in git by the next tick.
//
// Those commits stand one after the other on the base, since each was pushed by
// a compare-and-swap on the tip. All that changed before the first of them,
// between them and after the last is other people's, by whatever merges it came.
package ledger

import (
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Holding is what a site's directory declares at some commit.
type Holding struct {
	Entries map[workload.ID]checkpoint.Entry
	Broken  map[string]bool // the namespaces of which it cannot be told
}

// Of is what a tree declares, once people's edits of marks are counted that its
// records do not say yet.
func Of(tree checkpoint.Tree) Holding {
	h := Holding{Entries: tree.Entries(), Broken: map[string]bool{}}
	for namespace := range tree.Broken {
		h.Broken[namespace] = true
	}
	return h
}

// A Step is one commit of gitlatch's on the base.
type Step struct {
	Before, After Holding
	// Follows are the workloads whose level it took from a mark that a person set.
	Follows []workload.ID
}

// A Past is how what the tip holds came to be.
type Past struct {
	Agreed Holding
	Steps  []Step // the oldest first
	// Merged are the changes of proposals. What the tip holds of one is merged,
	// whoever wrote it: a squash or a rebase makes a commit of its own.
	Merged []checkpoint.Change
	Tip    Holding
}

// A Change is what became of one entry. A zero Entry is none.
type Change struct {
	ID     workload.ID
	Agreed checkpoint.Entry
	Now    checkpoint.Entry
	// Was is Now, with what a person changed last as it was before that. Where
	// the two are the same, no person did.
	Was checkpoint.Entry
	// Ours is true where a commit or a proposal of gitlatch's changed it, whoever
	// did so last.
	Ours bool
}

// Persons reports whether a person has the last word on a part of the entry.
func (c Change) Persons() bool { return c.Was != c.Now }

// Judge tells whose each entry is that the tip holds, or of which something is
// known, in the order of workload.Compare. Scale and rollout are judged apart,
// and the last change of each counts. Entries that the tip cannot be read for are
// left out.
func (p Past) Judge() []Change {
	all := []Holding{p.Agreed, p.Tip}
	for _, s := range p.Steps {
		all = append(all, s.Before, s.After)
	}
	var changes []Change
	for _, id := range named(all...) {
		if !p.Tip.Broken[id.Namespace] {
			changes = append(changes, p.judge(id))
		}
	}
	return changes
}

func (p Past) judge(id workload.ID) Change {
	scale, rollout := p.trace(id, scaleOf), p.trace(id, rolloutOf)
	return Change{
		ID: id, Agreed: p.Agreed.Entries[id], Now: p.Tip.Entries[id],
		Was:  scale.was.WithRollout(rollout.was.Rollout),
		Ours: scale.ours || rollout.ours,
	}
}

// A part is what an entry says of one reading.
type part func(checkpoint.Entry) checkpoint.Entry

func scaleOf(e checkpoint.Entry) checkpoint.Entry { return e.WithRollout(checkpoint.Rollout{}) }

func rolloutOf(e checkpoint.Entry) checkpoint.Entry { return checkpoint.Entry{Rollout: e.Rollout} }

// A trace is one reading followed from commit to commit.
type trace struct {
	now, was checkpoint.Entry // was is now, unless a person changed it last
	ours     bool
}

func (p Past) trace(id workload.ID, of part) trace {
	t := trace{now: of(p.Agreed.Entries[id])}
	t.was = t.now
	for _, s := range p.Steps {
		t.to(s.Before, id, of, false)
		t.to(s.After, id, of, !slices.Contains(s.Follows, id))
	}
	t.to(p.Tip, id, of, false)
	for _, c := range p.Merged {
		if c.ID == id && of(c.From) != of(c.To) && of(c.To) == t.now {
			t.was, t.ours = t.now, true
		}
	}
	return t
}

// to goes on to what a commit holds.
func (t *trace) to(h Holding, id workload.ID, of part, ours bool) {
	next := of(h.Entries[id])
	if h.Broken[id.Namespace] || next == t.now {
		return
	}
	if t.was = t.now; ours {
		t.was, t.ours = next, true
	}
	t.now = next
}

// Changes are the entries that differ between two holdings, in the order of
// workload.Compare.
func Changes(before, after Holding) []checkpoint.Change {
	var changes []checkpoint.Change
	for _, id := range named(before, after) {
		from, to := before.Entries[id], after.Entries[id]
		if from != to && !before.Broken[id.Namespace] && !after.Broken[id.Namespace] {
			changes = append(changes, checkpoint.Change{ID: id, From: from, To: to})
		}
	}
	return changes
}

// named are the workloads that any of the holdings names, in order.
func named(all ...Holding) []workload.ID {
	ids := map[workload.ID]bool{}
	for _, h := range all {
		for id := range h.Entries {
			ids[id] = true
		}
	}
	return slices.SortedFunc(maps.Keys(ids), workload.Compare)
}
