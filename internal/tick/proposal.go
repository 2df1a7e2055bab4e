package tick

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// unmergedAfter is how long a proposal may wait for people before they are told.
const unmergedAfter = 24 * time.Hour

// proposalBranch is the one branch from which a site proposes.
func (p *pass) proposalBranch() string { return "gitlatch/" + p.Site }

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

// mergeProposal settles what people merged of the proposal, squashed or not:
// the base holds it. It returns the workloads that it judged.
func (p *pass) mergeProposal(entries map[workload.ID]checkpoint.Entry) map[workload.ID]bool {
	judged := map[workload.ID]bool{}
	if p.head.Proposal == nil {
		return judged
	}
	left := *p.head.Proposal
	left.Changes = slices.DeleteFunc(slices.Clone(left.Changes), func(c checkpoint.Change) bool {
		merged := same(entryAt(entries, c.ID), c.To)
		if merged {
			p.settleChange(c)
			judged[c.ID] = true
		}
		return merged
	})
	if len(judged) > 0 {
		p.notice(NoticeMerged, left.URL, fmt.Sprintf("people merged %d of %d proposed changes", len(judged), len(p.head.Proposal.Changes)))
	}
	p.head.Proposal = &left
	if len(left.Changes) == 0 {
		p.head.Proposal = nil
	}
	return judged
}

// closeProposalIntent finds out whether a push to the proposal's branch landed.
func (p *pass) closeProposalIntent(ctx context.Context) error {
	intent := p.head.Intent
	if intent == nil || intent.Branch == "" {
		return nil
	}
	p.head.Intent = nil
	if p.git.proposed == "" {
		return nil
	}
	log, _, err := p.Repository.History(ctx, p.git.proposed, "", 1)
	if err != nil {
		return err
	}
	if len(log) == 0 || !strings.Contains(log[0].Message, trailerIntent+intent.ID) {
		return nil
	}
	p.notice(NoticeLanded, intent.ID, "an earlier tick's push to the proposal's branch had landed")
	p.proposed(intent.Changes, p.git.proposed, intent.At)
	return nil
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
	switch {
	case found == nil && p.git.proposed == "":
		// A host that can only replace a branch was left without one in between:
		// nobody said anything, and it is opened anew.
		again := *ours
		again.ID, again.Head = "", ""
		p.head.Proposal = &again
		return nil
	case found != nil && found.State == repo.ProposalMerged && p.git.tip == p.stored.Agreed.Tip:
		p.git.proposing = "the proposal was merged, which the branch does not show yet"
		return nil
	case found != nil && found.State == repo.ProposalOpen && p.git.proposed == ours.Head:
		return nil
	}
	until := p.fleet.At.Add(p.set.Guards.Yield)
	why := "a person closed the proposal"
	if p.git.proposed != "" && p.git.proposed != ours.Head {
		why = "a person took over the proposal's branch"
	}
	for _, c := range ours.Changes {
		l := p.latches.get(c.ID)
		p.latches.set(l.Adopted(l.Declared, until))
	}
	p.head.Proposal = nil
	p.notice(NoticeDeclined, ours.URL, fmt.Sprintf("%s: its %d workloads are left alone until %s", why, len(ours.Changes), until.UTC().Format(timeFormat)))
	return nil
}

// unmerged tells people of a proposal that waits for them.
func (p *pass) unmerged() {
	if ours := p.head.Proposal; p.fleet.At.Sub(ours.Opened) >= unmergedAfter {
		p.condition(alert.Blocked, "proposal", fmt.Sprintf("proposal %s waits since %s", ours.URL, ours.Opened.UTC().Format(timeFormat)), "merge it, or close it to say no")
	}
}
