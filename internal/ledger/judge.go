// Package ledger reads what git holds of a site and how that came to be: the tree at
// a commit, what commits say of themselves, and who made each change.
//
// A commit is its own intent. Nothing is written down before a push. A commit of
// gitlatch's names itself by its trailers, and its change is the difference to its
// parent. The next tick finds in git what landed, even if the tick that pushed it
// died or was told of an error.
//
// Gitlatch's commits stand one after the other on the base, since each was pushed by
// a compare-and-swap on the tip. All other changes are people's: before the first of
// these commits, between them and after the last.
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
	Broken  map[string]error // why a namespace's record cannot be read, by namespace
}

// HoldingOf is what a tree declares.
func HoldingOf(tree checkpoint.Tree) Holding {
	return Holding{Entries: tree.Entries(), Broken: tree.Broken}
}

// A Step is one commit of gitlatch's on the base.
type Step struct {
	Before, After Holding
}

// A Past is how the tip came to hold what it holds.
type Past struct {
	Agreed Holding
	Steps  []Step // the oldest first
	// Merged are the changes of proposals that users merged, the oldest first. One that
	// takes an entry from its value to the value of the tip counts, whoever committed it:
	// a squash or a rebase makes a new commit. Several of them may lead there in turn.
	Merged []checkpoint.Change
	Tip    Holding
}

// A Change is what became of one entry. A zero Entry is none.
type Change struct {
	ID     workload.ID
	Agreed checkpoint.Entry
	Now    checkpoint.Entry
	// Was is Now without the last change of a person to each part. Was equals Now if no
	// person has the last word.
	Was checkpoint.Entry
	// Ours is true if a commit or a proposal of gitlatch's changed the entry, even if
	// a person changed it later.
	Ours bool
}

// Persons reports whether a person has the last word on a part of the entry.
func (c Change) Persons() bool { return c.Was != c.Now }

// Judge tells who changed each known entry, in the order of workload.Compare. Scale
// and rollout are judged apart, and the last change of each counts. Entries whose
// record cannot be read at the tip are left out.
func (p Past) Judge() []Change {
	all := []Holding{p.Agreed, p.Tip}
	for _, s := range p.Steps {
		all = append(all, s.Before, s.After)
	}
	var changes []Change
	for _, id := range workloads(all...) {
		if p.Tip.Broken[id.Namespace] == nil {
			changes = append(changes, p.judge(id))
		}
	}
	return changes
}

func (p Past) judge(id workload.ID) Change {
	scale, rollout := p.trace(id, scalePart), p.trace(id, rolloutPart)
	return Change{
		ID: id, Agreed: p.Agreed.Entries[id], Now: p.Tip.Entries[id],
		Was:  scale.was.WithRollout(rollout.was.Rollout),
		Ours: scale.ours || rollout.ours,
	}
}

// A part is what an entry says of one reading.
type part func(checkpoint.Entry) checkpoint.Entry

func scalePart(e checkpoint.Entry) checkpoint.Entry { return e.WithRollout(checkpoint.Rollout{}) }

func rolloutPart(e checkpoint.Entry) checkpoint.Entry { return checkpoint.Entry{Rollout: e.Rollout} }

// A trace is one reading followed from commit to commit.
type trace struct {
	now, was checkpoint.Entry // was is now, unless a person changed it last
	ours     bool
}

// trace follows a part of an entry.
func (p Past) trace(id workload.ID, of part) trace {
	t := trace{now: of(p.Agreed.Entries[id])}
	t.was = t.now
	for _, s := range p.Steps {
		t.advance(s.Before, id, of, false)
		t.advance(s.After, id, of, true)
	}
	t.advance(p.Tip, id, of, false)
	reached := map[checkpoint.Entry]bool{t.was: true}
	for _, c := range p.Merged {
		if from, to := of(c.From), of(c.To); c.ID == id && from != to && (reached[from] || t.was == t.now) {
			reached[to] = true
			if to == t.now {
				t.was = to
				t.ours = true
			}
		}
	}
	return t
}

// advance follows the reading to what the next commit holds.
func (t *trace) advance(h Holding, id workload.ID, of part, ours bool) {
	next := of(h.Entries[id])
	if h.Broken[id.Namespace] != nil || next == t.now {
		return
	}
	t.was = t.now
	if ours {
		t.was = next
		t.ours = true
	}
	t.now = next
}

// Changes are the entries that differ between two holdings, in the order of
// workload.Compare.
func Changes(before, after Holding) []checkpoint.Change {
	var changes []checkpoint.Change
	for _, id := range workloads(before, after) {
		from, to := before.Entries[id], after.Entries[id]
		if from != to && before.Broken[id.Namespace] == nil && after.Broken[id.Namespace] == nil {
			changes = append(changes, checkpoint.Change{ID: id, From: from, To: to})
		}
	}
	return changes
}

// workloads are the workloads that any of the holdings names, in order.
func workloads(all ...Holding) []workload.ID {
	ids := map[workload.ID]bool{}
	for _, h := range all {
		for id := range h.Entries {
			ids[id] = true
		}
	}
	return slices.SortedFunc(maps.Keys(ids), workload.Compare)
}
