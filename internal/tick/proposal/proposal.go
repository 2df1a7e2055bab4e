// Package proposal is what a site asks people to merge, and what they made of that. All
// but Read are functions of values.
package proposal

import (
	"context"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// A Made proposal is what a tick pushed to the proposal's branch, as git holds it.
type Made struct {
	Head    string
	Base    string // the commit of the base that it was made on
	Changes []checkpoint.Change
}

// Read reads the head of a proposal. It returns nil for a head that no tick pushed as it
// is: a person made, amended or rebased the commit.
func Read(ctx context.Context, from repo.Repository, commits *ledger.Commits, head string) (*Made, error) {
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

// Seen is what is seen of a proposal that a site has.
type Seen struct {
	Branch    string         // the commit that its branch holds; "" is no branch
	Ours      bool           // a tick pushed that commit
	Host      *repo.Proposal // as the host has it; nil is none
	BaseMoved bool           // since git and the latches agreed
}

// An Outcome is what became of a proposal.
type Outcome string

// The outcomes.
const (
	Open      Outcome = "open"
	Unopened  Outcome = "unopened"  // the host does not know of the proposal: nobody decided anything
	Unseen    Outcome = "unseen"    // people merged it, and the base does not show that yet
	Overtaken Outcome = "overtaken" // people merged what a later tick had pushed
	Withdrawn Outcome = "withdrawn" // gitlatch closed it
	Closed    Outcome = "closed"    // a person closed it
	Taken     Outcome = "taken"     // a person took over its branch
)

// Judge tells what became of a proposal.
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
	case state == repo.ProposalMerged && moved:
		return Overtaken
	case state == repo.ProposalOpen && s.Branch != "":
		return Open
	case state == repo.ProposalClosed && ours.Closing != "" && ours.Closing == s.Host.Head:
		return Withdrawn
	}
	return Closed
}
