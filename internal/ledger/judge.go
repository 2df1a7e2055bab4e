// Package ledger reads the content of git for a site and its history: the tree at a
// commit, the trailers of commits, and the author of each change.
//
// A commit is its own intent. gitlatch stores nothing before a push. A commit of gitlatch
// identifies itself by its trailers, and its change is the difference to its parent. So
// the next tick finds in git every push that landed, even if the tick that pushed it died
// or got an error.
//
// gitlatch's commits on the base descend from each other, because each was pushed by a
// compare-and-swap on the tip. All other changes are users' changes: before the first of
// these commits, between them, and after the last.
package ledger

import (
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Holding is the content of a site's directory at a commit.
type Holding struct {
	Entries map[workload.ID]checkpoint.Entry
	Broken  map[string]error // why the checkpoint file of a namespace cannot be read, by namespace
}

// HoldingOf returns the entries of a tree and its unreadable checkpoint files.
func HoldingOf(tree checkpoint.Tree) Holding {
	return Holding{Entries: tree.Entries(), Broken: tree.Broken}
}

// A Step is one commit of gitlatch on the base.
type Step struct {
	Before, After Holding
}

// A Past is the history of a site from the last agreement to the tip.
type Past struct {
	Agreed Holding
	Steps  []Step // the oldest first
	// Merged are the changes of proposals that users merged, the oldest first. A change
	// counts if it takes an entry from its value to the value of the tip, whoever
	// committed it, because a squash or a rebase makes a new commit. Several changes may
	// lead to that value in turn.
	Merged []checkpoint.Change
	Tip    Holding
}

// A Change is the history of one entry. A zero Entry is an absent entry.
type Change struct {
	ID     workload.ID
	Agreed checkpoint.Entry
	Now    checkpoint.Entry // at the tip, or in the last checkpoint file that can be read
	// WithoutUser is Now without the last change of a user to each part. It equals Now if no
	// user made the last change of a part.
	WithoutUser checkpoint.Entry
	// Ours is true if a commit or a proposal of gitlatch changed the entry, even if a
	// user changed it later.
	Ours bool
}

// Persons reports whether a user made the last change of a part of the entry.
func (c Change) Persons() bool { return c.WithoutUser != c.Now }

// Judge returns the changes of all entries, in the order of workload.Compare. It judges
// scale and rollout separately, and the last change of each counts. While a checkpoint file
// cannot be read at the tip, its entries end with the last content that can be read.
func (p Past) Judge() []Change {
	all := []Holding{p.Agreed, p.Tip}
	for _, s := range p.Steps {
		all = append(all, s.Before, s.After)
	}
	return lists.Map(workloads(all...), p.judge)
}

func (p Past) judge(id workload.ID) Change {
	scale, rollout := p.trace(id, scalePart), p.trace(id, rolloutPart)
	return Change{
		ID: id, Agreed: p.Agreed.Entries[id],
		Now:         scale.now.WithRollout(rollout.now.Rollout),
		WithoutUser: scale.withoutUser().WithRollout(rollout.withoutUser().Rollout),
		Ours:        scale.ours || rollout.ours,
	}
}

// A part returns an entry with the fields of one reading alone.
type part func(checkpoint.Entry) checkpoint.Entry

func scalePart(e checkpoint.Entry) checkpoint.Entry { return e.WithRollout(checkpoint.Rollout{}) }

func rolloutPart(e checkpoint.Entry) checkpoint.Entry { return checkpoint.Entry{Rollout: e.Rollout} }

// A trace is one reading of an entry, followed from commit to commit.
type trace struct {
	before checkpoint.Entry // the value before the last change
	now    checkpoint.Entry
	byUser bool // a user made the last change
	ours   bool // gitlatch made one of the changes
}

// withoutUser returns the value without the last change, if a user made it.
func (t trace) withoutUser() checkpoint.Entry {
	if t.byUser {
		return t.before
	}
	return t.now
}

// trace follows a part of an entry through the commits. Then it judges the last change: if it
// was a merge, it is a change of gitlatch.
func (p Past) trace(id workload.ID, of part) trace {
	t := trace{now: of(p.Agreed.Entries[id])}
	for _, s := range p.Steps {
		t = t.at(s.Before, id, of, false)
		t = t.at(s.After, id, of, s.Before.Broken[id.Namespace] == nil) // gitlatch changes no entry of a broken file
	}
	t = t.at(p.Tip, id, of, false)
	if p.merged(id, of, t) {
		t.byUser = false
		t.ours = true
	}
	return t
}

// at returns the trace at the next commit. ours is true if gitlatch made it.
func (t trace) at(h Holding, id workload.ID, of part, ours bool) trace {
	next := of(h.Entries[id])
	if h.Broken[id.Namespace] != nil || next == t.now {
		return t
	}
	return trace{before: t.now, now: next, byUser: !ours, ours: ours || t.ours}
}

// merged reports whether merged changes led to the present value. If a user made the last
// change, they must lead to it in turn from the value before.
func (p Past) merged(id workload.ID, of part, t trace) bool {
	reached := map[checkpoint.Entry]bool{t.before: true}
	for _, c := range p.Merged {
		from, to := of(c.From), of(c.To)
		if c.ID != id || from == to || t.byUser && !reached[from] {
			continue
		}
		if to == t.now {
			return true
		}
		reached[to] = true
	}
	return false
}

// Changes returns the entries that differ between two holdings, in the order of
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

// workloads returns the workloads of all holdings, in the order of workload.Compare.
func workloads(all ...Holding) []workload.ID {
	ids := map[workload.ID]bool{}
	for _, h := range all {
		for id := range h.Entries {
			ids[id] = true
		}
	}
	return slices.SortedFunc(maps.Keys(ids), workload.Compare)
}
