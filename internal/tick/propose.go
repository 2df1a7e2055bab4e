package tick

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
)

// unmergedAfter is how long a proposal may wait for people before they are told.
const unmergedAfter = 24 * time.Hour

// propose brings the site's one proposal to what the decisions want: opened,
// rebuilt, or closed when nothing is left of it.
func (p *pass) propose(ctx context.Context) error {
	if p.Proposals == nil || p.git.proposalStop != "" || p.git.moved {
		return nil
	}
	ours, before := p.head.Proposal, []latch.Repair(nil)
	wanted := proposal.Want(p.latches.now(), p.report.Decisions, p.Propose, p.fleet.At)
	moved := len(wanted) > 0
	if ours != nil {
		before = ours.Repairs
		moved = !upToDate(*ours, p.git, p.files) || !slices.Equal(wanted, proposal.Changes(p.latches.now()))
	}
	var repairs []latch.Repair
	if p.Propose {
		repairs = p.repairs(moved, before)
	}
	switch {
	case len(wanted)+len(repairs) == 0 && ours == nil:
		return nil
	case len(wanted)+len(repairs) == 0:
		return p.withdraw(ctx, "nothing is left to change")
	case moved || !slices.Equal(repairs, before):
		if proposed, err := p.pushProposal(ctx, wanted, repairs); err != nil || !proposed {
			return err
		}
	}
	if p.head.Proposal == ours && (ours.ID != "" || p.DryRun) { // nothing was pushed
		if p.fleet.At.Sub(ours.Opened) >= unmergedAfter {
			p.condition(alert.Blocked, "proposal", fmt.Sprintf("proposal %s waits since %s", ours.URL, ours.Opened.UTC().Format(timeFormat)),
				"keeps it up to date", "merge it, or close it to say no")
		}
		return nil
	}
	return p.openProposal(ctx)
}

// upToDate reports whether the proposal's branch has gitlatch's commit, on the base as
// it is.
func upToDate(ours latch.Proposal, git gitState, files inplace.Files) bool {
	return ours.Head == git.proposed && !rebased(ours, files, git.directory)
}

// rebased reports whether the proposal must be made on the base anew: the site's
// directory moved, or a file that the proposal edits in place.
func rebased(ours latch.Proposal, files inplace.Files, directory string) bool {
	for file, on := range ours.Files {
		if id := files.Now[file].ID; id != "" && id != on {
			return true
		}
	}
	return directory != "" && directory != ours.Directory
}

// pushProposal makes the proposal's branch one commit on the base. A host may not take
// all of it as one commit. Then a part waits, and nothing is pushed if the branch
// already has the rest. proposed is false if the branch has a user's commits, the push
// was refused or the run is dry.
func (p *pass) pushProposal(ctx context.Context, wanted []checkpoint.Change, repairs []latch.Repair) (proposed bool, err error) {
	to := repo.Commit{Branch: ledger.ProposalBranch(p.Site), Expect: p.git.proposed}
	var made *proposal.Made
	if ours := p.head.Proposal; to.Expect != "" && (ours == nil || ours.Head != to.Expect) {
		if made, err = p.made(ctx, to.Expect); err != nil {
			return false, err
		}
		if made == nil {
			text := fmt.Sprintf("branch %s holds commits that are not gitlatch's", to.Branch)
			p.problem(errors.New(text))
			p.condition(alert.Blocked, "proposal", text, "leaves the branch alone", "merge or delete the branch")
			return false, nil
		}
	}
	w, skipped, err := p.write(ctx, wanted, namespaces(repairs))
	if err != nil || len(w.files) == 0 {
		return false, err
	}
	wanted = slices.DeleteFunc(w.changes, func(c checkpoint.Change) bool { return slices.Contains(skipped, c.ID) })
	edits := edits(p.head.Edited, w.records)
	by, changes, err := trailers(p.Site, p.git.tip, *p.git.tree, w, edits)
	if err != nil {
		return false, err
	}
	by.Base = p.git.tip
	crossings := proposal.Crossings(wanted, p.report.Decisions)
	to.Message = ledger.Message(by, false, slices.Concat(crossings, edits), w.beside(p.Site))
	if p.DryRun {
		p.report.Proposal = &Proposed{Message: to.Message, Changes: crossings}
		return false, nil
	}
	head := to.Expect
	if made == nil || made.Base != p.git.tip || !slices.Equal(made.Changes, changes) {
		head, err = p.push(ctx, w, to)
	}
	if tooLarge(err) {
		ours, now := p.head.Proposal, proposal.Changes(p.latches.now())
		fewer, mends := part(ours, now, wanted, repairs)
		switch {
		case len(fewer) == len(wanted) && len(mends) == len(repairs): // one namespace is too much
		case ours != nil && upToDate(*ours, p.git, p.files) && slices.Equal(fewer, now) && slices.Equal(mends, ours.Repairs):
			return true, nil
		default:
			return p.pushProposal(ctx, fewer, mends)
		}
	}
	switch {
	case p.refused(err, "propose: %w", "proposal", "let gitlatch's identity push to branch "+to.Branch):
		return false, nil
	case errors.Is(err, repo.ErrMoved):
		p.notice(NoticeMoved, to.Branch, "the proposal's branch moved while it was to be pushed: looked at again on the next tick")
		return false, nil
	case err != nil:
		return false, err
	}
	p.head.Budget = policy.Spend(p.set.Guards, p.head.Budget, p.fleet.At)
	p.proposed(wanted, repairs, w, head)
	return true, nil
}

// part returns a part of a proposal: without half of the namespaces that it does not
// have yet, or without half of all if it has all. now is what it has.
func part(ours *latch.Proposal, now, wanted []checkpoint.Change, repairs []latch.Repair) (fewer []checkpoint.Change, mends []latch.Repair) {
	var has []string
	for _, c := range now {
		has = append(has, c.ID.Namespace)
	}
	if ours != nil {
		has = append(has, namespaces(ours.Repairs)...)
	}
	all := namespaces(repairs)
	for _, c := range wanted {
		all = append(all, c.ID.Namespace)
	}
	later := later(all, has)
	fewer = slices.DeleteFunc(slices.Clone(wanted), func(c checkpoint.Change) bool { return slices.Contains(later, c.ID.Namespace) })
	mends = slices.DeleteFunc(slices.Clone(repairs), func(m latch.Repair) bool { return slices.Contains(later, m.Namespace) })
	return fewer, mends
}

// proposed notes what the proposal's branch holds.
func (p *pass) proposed(changes []checkpoint.Change, repairs []latch.Repair, w writing, head string) {
	next := latch.Proposal{Branch: ledger.ProposalBranch(p.Site), Opened: p.fleet.At}
	if p.head.Proposal != nil {
		next = *p.head.Proposal
	}
	next.Head, next.Repairs, next.Directory, next.Files = head, repairs, p.git.directory, nil
	for file := range w.marks {
		if next.Files == nil {
			next.Files = map[string]string{}
		}
		next.Files[file] = p.files.Now[file].ID
	}
	p.head.Proposal = &next
	p.latches.unpropose(changes)
	for _, c := range changes {
		if l := p.latches.get(c.ID); l.Proposed() != c.To || c.To.IsZero() {
			p.latches.set(l.Proposing(c.To, !p.Propose || c.To.IsZero()))
		}
	}
}

// openProposal tells the host of the proposal, and keeps where it is.
func (p *pass) openProposal(ctx context.Context) error {
	ours := *p.head.Proposal
	crossings := proposal.Crossings(proposal.Changes(p.latches.now()), p.report.Decisions)
	beside := ledger.Beside{Components: components(p.git.tree, namespaces(ours.Repairs)), Files: slices.Sorted(maps.Keys(ours.Files))}
	all := slices.Concat(crossings, edits(p.head.Edited, namespaces(ours.Repairs)))
	message := ledger.Message(ledger.Trailers{Site: p.Site}, false, all, beside)
	title, _, _ := strings.Cut(message, "\n")
	on, err := p.Proposals.Ensure(ctx, repo.Draft{Branch: ours.Branch, Title: title, Body: proposal.Body(p.Site, all, beside)})
	if p.refused(err, "propose: %w", "proposal", "let gitlatch's identity open pull requests") {
		return nil
	}
	if err != nil {
		return err
	}
	ours.ID, ours.URL = on.ID, on.URL
	p.head.Proposal = &ours
	p.report.Proposal = &Proposed{URL: on.URL, Message: message, Changes: crossings}
	return nil
}

// withdraw closes the proposal. It first saves in Closing that gitlatch closes the
// proposal. That save writes nothing else that this pass found.
func (p *pass) withdraw(ctx context.Context, why string) error {
	ours := p.head.Proposal
	if p.DryRun {
		return nil
	}
	if ours.ID != "" {
		head, closing := p.stored, *p.stored.Proposal
		closing.Head, closing.Closing = p.git.proposed, p.git.proposed
		head.Proposal = &closing
		if _, err := p.Store.Save(ctx, p.lease, head, nil, nil); err != nil {
			return fmt.Errorf("note that proposal %s is to be closed: %w", closing.URL, err)
		}
		err := p.Proposals.Close(ctx, repo.Proposal{ID: ours.ID, URL: ours.URL, Branch: ours.Branch, Head: p.git.proposed}, why)
		if errors.Is(err, repo.ErrMoved) {
			return nil // taken over meanwhile: the next tick sees it
		}
		if err != nil {
			return fmt.Errorf("close proposal %s: %w", ours.URL, err)
		}
	}
	p.forget()
	p.notice(NoticeWithdrawn, ours.URL, why)
	return nil
}
