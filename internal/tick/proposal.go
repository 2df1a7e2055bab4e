package tick

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// unmergedAfter is how long a proposal may wait for people before they are told.
const unmergedAfter = 24 * time.Hour

// ProposalBranch is the one branch from which a site proposes.
func ProposalBranch(site string) string { return "gitlatch/" + site }

func (p *pass) proposalBranch() string { return ProposalBranch(p.Site) }

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
		merged := entries[c.ID] == c.To
		if merged {
			p.settleChange(c)
			judged[c.ID] = true
		}
		return merged
	})
	left.Mends = slices.DeleteFunc(slices.Clone(left.Mends), func(m latch.Mend) bool { return p.mended(m, len(judged) > 0) })
	all := len(p.head.Proposal.Changes) + len(p.head.Proposal.Mends)
	if still := len(left.Changes) + len(left.Mends); still < all {
		p.notice(NoticeMerged, left.URL, fmt.Sprintf("people merged %d of %d proposed changes", all-still, all))
	}
	p.head.Proposal = &left
	if len(left.Changes)+len(left.Mends) == 0 {
		p.head.Proposal = nil
	}
	return judged
}

// closeProposalIntent finds out whether a push to the proposal's branch landed,
// and leaves the intent of the push to the base before it, if there was one.
func (p *pass) closeProposalIntent(ctx context.Context) error {
	intent := p.head.Intent
	if intent == nil || intent.Branch == "" {
		return nil
	}
	p.head.Intent, p.head.Pushed = p.head.Pushed, nil
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
	p.proposed(intent.Changes, intent.Mends, intent.Marks, p.git.proposed, intent.At)
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
	p.declineMends(ours.Mends, until)
	p.head.Proposal, p.declined = nil, ours
	p.notice(NoticeDeclined, ours.URL, fmt.Sprintf("%s: its %s left alone until %s", why, proposedIn(*ours), until.UTC().Format(timeFormat)))
	return nil
}

// withDeclined returns a head as it was stored with what people said no to since,
// and the latches that yield to them. The next push to the proposal's branch
// hides that they did.
func (p *pass) withDeclined(head latch.Head) (latch.Head, []latch.Latch) {
	if p.declined == nil {
		return head, nil
	}
	head.Declined = p.head.Declined
	head.Proposal = merged(head.Proposal, p.declined)
	var put []latch.Latch
	for _, c := range p.declined.Changes {
		l := p.latches.loaded[c.ID]
		l.ID = c.ID
		put = append(put, l.Adopted(l.Declared, p.latches.get(c.ID).YieldUntil))
	}
	return head, put
}

// merged is what people merged of a proposal before they declined the rest, so
// that the next pass settles it; nil is nothing.
func merged(stored, declined *latch.Proposal) *latch.Proposal {
	if stored == nil {
		return nil
	}
	left := *stored
	left.Mends, left.Changes = nil, slices.DeleteFunc(slices.Clone(stored.Changes), func(c checkpoint.Change) bool {
		return slices.ContainsFunc(declined.Changes, func(d checkpoint.Change) bool { return d.ID == c.ID })
	})
	if len(left.Changes) == 0 {
		return nil
	}
	return &left
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
