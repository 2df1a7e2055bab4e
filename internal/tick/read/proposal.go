package read

import (
	"context"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Proposed returns the changes that the latches propose, in the order of workload.Compare.
func Proposed(latches latch.Latches) (changes []checkpoint.Change) {
	for l := range latches.All() {
		c, proposes := l.Change()
		if proposes {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b checkpoint.Change) int { return workload.Compare(a.ID, b.ID) })
	return changes
}

// countMerged returns the number of proposed changes that users merged, squashed or not, and that
// the base still has.
func countMerged(changes, merged []checkpoint.Change, base map[workload.ID]checkpoint.Entry) int {
	inBase := map[workload.ID]bool{}
	for _, m := range merged {
		inBase[m.ID] = inBase[m.ID] || m.To == base[m.ID]
	}
	return lists.Count(changes, func(c checkpoint.Change) bool { return inBase[c.ID] })
}

// A Made proposal is the content of a tick's push to the proposal's branch, from git.
type Made struct {
	Head    string
	Base    string // the commit of the base that it was made on
	Changes []checkpoint.Change
}

// readMade reads the head of a proposal. It returns nil if no tick pushed this commit: a user
// made, amended or rebased it.
func readMade(ctx context.Context, from repo.Repository, commits *ledger.Commits, head string) (*Made, error) {
	log, _, err := from.History(ctx, head, "", 1)
	if err != nil || len(log) == 0 {
		return nil, err
	}
	c := ledger.Pushed{LogEntry: log[0], Trailers: ledger.ReadTrailers(log[0].Message)}
	if !c.Pushed(commits.Site) || c.Committer != c.Author || len(c.Parents) != 1 {
		return nil, nil
	}
	if c.Base == "" {
		c.Base = c.Parents[0]
	}
	before, after, verified, err := commits.Verify(ctx, c, c.Base, c.Base)
	if err != nil || !verified {
		return nil, err
	}
	return &Made{head, c.Base, ledger.Changes(before.Holding, after.Holding)}, nil
}

// Seen is the observed state of a site's proposal.
type Seen struct {
	Branch    string         // the commit of its branch; "" if the branch does not exist
	Ours      bool           // a tick pushed that commit
	Host      *repo.Proposal // as the host reports it; nil if the host does not have it
	BaseMoved bool           // since git and the latches agreed
	// Unread is true if a checkpoint file with one of its entries cannot be read, so that
	// nobody knows whether the merge contains the entry.
	Unread bool
}

// An Outcome is the outcome of a proposal.
type Outcome string

// The outcomes.
const (
	Open      Outcome = "open"
	Unopened  Outcome = "unopened"  // the host does not have the proposal, so no user decided
	Unseen    Outcome = "unseen"    // users merged it, but the base does not have the merge yet
	Overtaken Outcome = "overtaken" // users merged it, but nobody knows which of its changes; or the host has no proposals any more
	Withdrawn Outcome = "withdrawn" // gitlatch closed it
	Closed    Outcome = "closed"    // a user closed it
	Taken     Outcome = "taken"     // a user took over its branch
)

// Judge returns the outcome of a proposal.
func Judge(ours latch.Proposal, s Seen) Outcome {
	moved := s.Branch != "" && s.Branch != ours.Head
	taken := moved && !s.Ours
	var state repo.ProposalState
	if s.Host != nil {
		state = s.Host.State
	}
	switch {
	case s.Host == nil && !taken:
		return Unopened
	case state == repo.ProposalMerged && !s.BaseMoved:
		return Unseen
	case taken:
		return Taken
	case state == repo.ProposalMerged && (moved || s.Unread):
		return Overtaken
	case state == repo.ProposalOpen && s.Branch != "":
		return Open
	case state == repo.ProposalClosed && ours.Closing != "" && ours.Closing == s.Host.Head:
		return Withdrawn
	}
	return Closed
}
