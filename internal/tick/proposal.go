package tick

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// unmergedAfter is how long a proposal may wait for people before they are told.
const unmergedAfter = 24 * time.Hour

func (p *pass) proposalBranch() string { return ledger.ProposalBranch(p.Site) }

// readHeads asks where the branches are, in one request.
func (p *pass) readHeads(ctx context.Context) (err error) {
	if p.Proposals == nil {
		p.git.tip, _, err = p.Repository.Heads(ctx)
		return err
	}
	tip, others, err := p.Repository.Heads(ctx, p.proposalBranch())
	if err == nil {
		p.git.tip, p.git.proposed = tip, others[0]
	}
	return err
}

// mergeProposal takes out of the proposal what people merged of it, squashed or
// not: the base holds it. The latches follow when the base is judged.
func (p *pass) mergeProposal(found ledger.Past) {
	if p.head.Proposal == nil {
		return
	}
	left := *p.head.Proposal
	left.Changes = slices.DeleteFunc(slices.Clone(left.Changes), func(c checkpoint.Change) bool {
		return slices.ContainsFunc(found.Merged, func(m checkpoint.Change) bool { return m.ID == c.ID && m.To == found.Tip.Entries[c.ID] })
	})
	merged := len(p.head.Proposal.Changes) - len(left.Changes)
	mended := p.mended(left.Mends, merged > 0)
	left.Mends = slices.DeleteFunc(slices.Clone(left.Mends), func(m latch.Mend) bool { return slices.Contains(mended, m) })
	all := len(p.head.Proposal.Changes) + len(p.head.Proposal.Mends)
	if still := len(left.Changes) + len(left.Mends); still < all {
		p.notice(NoticeMerged, left.URL, fmt.Sprintf("people merged %d of %d proposed changes", all-still, all))
	}
	p.head.Proposal = &left
	if len(left.Changes)+len(left.Mends) == 0 {
		p.head.Proposal = nil
	}
}

// reviewProposal finds out what people made of the proposal: said no, or took
// it over. Either way it is theirs, and what it was to change is left alone for
// a while.
func (p *pass) reviewProposal(ctx context.Context) error {
	ours := p.head.Proposal
	if ours == nil || ours.ID == "" && p.git.proposed == ours.Head {
		return nil
	}
	found, err := p.Proposals.Find(ctx, ours.Branch)
	if err != nil {
		return err
	}
	taken := false
	if p.git.proposed != "" && p.git.proposed != ours.Head {
		own, err := p.proposedByTick(ctx, p.git.proposed)
		if err != nil {
			return err
		}
		if taken = !own; own {
			p.notice(NoticeLanded, p.git.proposed, "an earlier tick's push to the proposal's branch had landed")
		}
	}
	again := *ours
	switch {
	case found == nil && !taken:
		// A host that can only replace a branch was left without one in between:
		// nobody said anything, and it is opened anew.
		again.ID, again.Head = "", p.git.proposed
		p.head.Proposal = &again
		return nil
	case found != nil && found.State == repo.ProposalMerged && p.git.tip == p.stored.Agreed.Tip:
		p.git.proposing = "the proposal was merged, which the branch does not show yet"
		return nil
	case found != nil && found.State == repo.ProposalMerged && !taken && p.git.proposed != "" && p.git.proposed != ours.Head:
		// An earlier tick had pushed it anew, and people merged that: what is left
		// here was not before them any more.
		p.dropProposal()
		return nil
	case found != nil && found.State == repo.ProposalOpen && p.git.proposed != "" && !taken:
		again.ID, again.URL, again.Head, again.Closing = found.ID, found.URL, p.git.proposed, ""
		p.head.Proposal = &again
		return nil
	case found != nil && found.State == repo.ProposalClosed && !taken && ours.Closing != "" && ours.Closing == found.Head:
		p.dropProposal()
		p.notice(NoticeWithdrawn, ours.URL, "an earlier tick had closed it")
		return nil
	}
	p.decline(taken)
	return nil
}

// decline leaves alone for a while what a person said no to. What is to be
// proposed instead waits for the next tick, so that nothing hides their word
// before it is kept.
func (p *pass) decline(taken bool) {
	ours, until := p.head.Proposal, p.fleet.At.Add(p.set.Guards.Yield)
	why := "a person closed the proposal"
	if taken {
		why = "a person took over the proposal's branch"
	}
	for _, c := range ours.Changes {
		l := p.latches.get(c.ID)
		p.latches.set(l.Adopted(l.Declared, until))
	}
	p.declineMends(ours.Mends, until)
	p.head.Proposal, p.git.proposing = nil, why
	p.notice(NoticeDeclined, ours.URL, fmt.Sprintf("%s: its %s left alone until %s", why, proposedIn(*ours), until.UTC().Format(timeFormat)))
}

// proposedIn counts what a proposal would change, in words.
func proposedIn(ours latch.Proposal) string {
	workloads, mends := fmt.Sprintf("%d workloads", len(ours.Changes)), fmt.Sprintf("%d stale Components", len(ours.Mends))
	switch {
	case len(ours.Mends) == 0:
		return workloads + " are"
	case len(ours.Changes) == 0:
		return mends + " are"
	}
	return workloads + " and " + mends + " are"
}

// unmerged tells people of a proposal that waits for them.
func (p *pass) unmerged() {
	if ours := p.head.Proposal; p.fleet.At.Sub(ours.Opened) >= unmergedAfter {
		p.condition(alert.Blocked, "proposal", fmt.Sprintf("proposal %s waits since %s", ours.URL, ours.Opened.UTC().Format(timeFormat)),
			"keeps it up to date", "merge it, or close it to say no")
	}
}
