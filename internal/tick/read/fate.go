package read

import (
	"cmp"
	"context"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// A Fate is the outcome of the open proposal.
type Fate struct {
	// Left is the proposal without the part that users merged; nil if no part is left.
	Left *latch.Proposal
	// Merged is the number of merged changes and repairs, of All.
	Merged, All int
	// Outcome is the outcome of Left; "" if the tick did not ask the host.
	Outcome Outcome
	Host    *repo.Proposal // as the host has it
	Pushed  bool           // an earlier tick pushed to the proposal's branch, and did not save it
	// Wait is the reason for proposing nothing; "" if proposing is allowed.
	Wait string
}

// mergeProposal removes the merged part from the proposal. It runs before the latches
// follow: a squash must not count as declined.
func mergeProposal(f Fate, loaded latch.Latches, found Found) Fate {
	if f.Left == nil {
		return f
	}
	ours := *f.Left
	changes := Proposed(loaded)
	merged := countMerged(changes, found.Past.Merged, found.Past.Tip.Entries)
	repaired := repaired(*found.Tree, ours.Repairs, merged > 0)
	f.All = len(changes) + len(ours.Repairs)
	f.Merged = merged + len(repaired)
	ours.Repairs = slices.DeleteFunc(slices.Clone(ours.Repairs), func(m latch.Repair) bool { return slices.Contains(repaired, m) })
	f.Left = &ours
	if f.All > 0 && f.Merged == f.All { // a proposal whose latches are lost is still open
		f.Left = nil
	}
	return f
}

// review asks the host for the state of the rest of the proposal.
func (r *reader) review(ctx context.Context, f Found) (Fate, error) {
	fate := f.Fate
	ours := fate.Left
	switch {
	case ours == nil:
		return fate, nil
	case r.Proposals == nil: // the repository has no pull requests any more
		fate.Outcome = Overtaken
		return fate, nil
	case ours.ID == "" && f.Branch == ours.Head:
		return fate, nil
	}
	host, err := r.Proposals.Find(ctx, ours.Branch)
	if err != nil {
		return fate, err
	}
	seen := Seen{Branch: f.Branch, Host: host, BaseMoved: f.Tip != r.agreed.Tip}
	broken := func(c checkpoint.Change) bool { return f.Tree.Broken[c.ID.Namespace] != nil }
	seen.Unread = f.Tree != nil && slices.ContainsFunc(Proposed(r.Latches), broken)
	if seen.Branch != "" && seen.Branch != ours.Head {
		made, err := r.commits.Made(ctx, seen.Branch)
		if err != nil {
			return fate, err
		}
		seen.Ours = made != nil
		fate.Pushed = seen.Ours
	}
	fate.Host = host
	fate.Outcome = Judge(*ours, seen)
	fate.Wait = cmp.Or(waits[fate.Outcome], fate.Wait)
	return fate, nil
}

// waits are the outcomes after which gitlatch proposes nothing in this tick, with the reason:
// it saves the outcome first.
var waits = map[Outcome]string{
	Unseen: "users merged the proposal, but the branch does not have the merge yet",
	Closed: "a user closed the proposal",
	Taken:  "a user took over the proposal's branch",
}
