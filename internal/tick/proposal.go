package tick

import (
	"context"
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
)

// made reads what a tick pushed as the head of a proposal; nil where no tick did.
func (p *pass) made(ctx context.Context, head string) (*proposal.Made, error) {
	if m := p.git.made; m != nil && m.Head == head {
		return m, nil
	}
	m, err := proposal.Read(ctx, p.Repository, &p.past.commits, head)
	if m != nil {
		p.git.made = m
	}
	return m, err
}

// mergeProposal takes out of the proposal what people merged of it. The latches
// follow when the base is judged.
func (p *pass) mergeProposal(found ledger.Past) {
	if p.head.Proposal == nil {
		return
	}
	ours, changes := *p.head.Proposal, proposal.Changes(p.latches.now())
	merged := proposal.Merged(changes, found.Merged, found.Tip.Entries)
	repaired := repaired(*p.git.tree, p.files.Following(p.cover(), p.git.tree.Entries()), ours.Repairs, merged > 0)
	all, done := len(changes)+len(ours.Repairs), merged+len(repaired)
	if done > 0 {
		p.notice(NoticeMerged, ours.URL, fmt.Sprintf("people merged %d of %d proposed changes", done, all))
	}
	ours.Repairs = slices.DeleteFunc(slices.Clone(ours.Repairs), func(m latch.Repair) bool { return slices.Contains(repaired, m) })
	if p.head.Proposal = &ours; done == all {
		p.head.Proposal = nil
	}
}

// reviewProposal finds out what became of the proposal. If people closed the proposal
// or took over its branch, what it was to change is left alone for a while.
func (p *pass) reviewProposal(ctx context.Context) error {
	ours := p.head.Proposal
	if ours == nil || ours.ID == "" && p.git.proposed == ours.Head {
		return nil
	}
	host, err := p.Proposals.Find(ctx, ours.Branch)
	if err != nil {
		return err
	}
	seen := proposal.Seen{Branch: p.git.proposed, Host: host, BaseMoved: p.git.tip != p.stored.Agreed.Tip}
	if seen.Branch != "" && seen.Branch != ours.Head {
		made, err := p.made(ctx, seen.Branch)
		if err != nil {
			return err
		}
		if seen.Ours = made != nil; seen.Ours {
			p.notice(NoticeLanded, seen.Branch, "an earlier tick's push to the proposal's branch had landed")
		}
	}
	again := *ours
	switch outcome := proposal.Judge(*ours, seen); outcome {
	case proposal.Open:
		again.ID, again.URL, again.Closing = host.ID, host.URL, ""
		p.head.Proposal = &again
	case proposal.Unopened:
		again.ID = ""
		p.head.Proposal = &again
	case proposal.Unseen:
		p.git.proposalStop = "the proposal was merged, which the branch does not show yet"
	case proposal.Overtaken:
		p.forget()
	case proposal.Withdrawn:
		p.forget()
		p.notice(NoticeWithdrawn, ours.URL, "an earlier tick had closed it")
	case proposal.Closed:
		p.decline("a person closed the proposal")
	case proposal.Taken:
		p.decline("a person took over the proposal's branch")
	}
	return nil
}

// decline leaves alone for a while what a person said no to. A new proposal waits for
// the next tick, so that the decline is saved first.
func (p *pass) decline(why string) {
	ours, until := p.head.Proposal, p.fleet.At.Add(p.set.Guards.Yield)
	changes := proposal.Changes(p.latches.now())
	for _, c := range changes {
		p.latches.set(p.latches.get(c.ID).Adopted(c.From, until))
	}
	p.head.Declined = declined(p.head.Declined, ours.Repairs, until)
	p.head.Proposal, p.git.proposalStop = nil, why
	p.notice(NoticeDeclined, ours.URL, fmt.Sprintf("%s: its %s left alone until %s", why, proposedIn(len(changes), len(ours.Repairs)), until.UTC().Format(timeFormat)))
}

// proposedIn counts what a proposal would change, in words.
func proposedIn(changes, repairs int) string {
	workloads, components := fmt.Sprintf("%d workloads", changes), fmt.Sprintf("%d stale Components", repairs)
	switch {
	case repairs == 0:
		return workloads + " are"
	case changes == 0:
		return components + " are"
	}
	return workloads + " and " + components + " are"
}

// forget forgets the proposal, and what it would have had declared.
func (p *pass) forget() {
	p.head.Proposal = nil
	p.latches.unpropose(nil)
}
