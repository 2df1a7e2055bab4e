package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
)

// unmergedAfter is the time that a proposal may wait for users before an alert.
const unmergedAfter = 24 * time.Hour

// wants are the changes and repairs that a proposal contains.
type wants struct {
	changes []checkpoint.Change
	repairs []latch.Repair
}

func (w wants) nothing() bool { return len(w.changes)+len(w.repairs) == 0 }

func (w wants) equal(o wants) bool {
	return slices.Equal(w.changes, o.changes) && slices.Equal(w.repairs, o.repairs)
}

// namespaces returns the namespaces of the changes and repairs.
func (w wants) namespaces() []string {
	return slices.Concat(namespaces(w.repairs), lists.Map(w.changes, func(c checkpoint.Change) string { return c.ID.Namespace }))
}

// part returns the part of a proposal that does not wait (see later).
func (w wants) part(has wants) wants {
	later := later(w.namespaces(), has.namespaces())
	return wants{
		changes: slices.DeleteFunc(slices.Clone(w.changes), func(c checkpoint.Change) bool { return slices.Contains(later, c.ID.Namespace) }),
		repairs: slices.DeleteFunc(slices.Clone(w.repairs), func(m latch.Repair) bool { return slices.Contains(later, m.Namespace) }),
	}
}

// has returns the content of the open proposal.
func has(s latch.State) wants {
	w := wants{changes: proposal.Changes(s.Latches)}
	if s.Head.Proposal != nil {
		w.repairs = s.Head.Proposal.Repairs
	}
	return w
}

// propose opens, updates or closes the site's one proposal, so that it contains the level
// changes that the decisions want.
func (p *publisher) propose(ctx context.Context) error {
	if p.Proposals == nil || p.Fate.Stop != "" || p.tip.unjudged {
		return nil
	}
	s := p.apply(p.Decided.State, p.Found, p.Published)
	ours := s.Head.Proposal
	has := has(s)
	want := wants{changes: proposal.Want(s.Latches, p.Published.Decisions, p.Propose, p.Fleet.At)}
	var moved bool // the branch must get a new commit
	if ours == nil {
		moved = len(want.changes) > 0
	} else {
		moved = !p.upToDate(*ours) || !slices.Equal(want.changes, has.changes)
	}
	if p.Propose {
		want.repairs = p.repairs(s, moved, has.repairs)
	}
	switch {
	case want.nothing() && ours == nil:
		return nil
	case want.nothing():
		return p.withdraw(ctx, *ours, "no change is left")
	case moved || !slices.Equal(want.repairs, has.repairs):
		proposed, err := p.pushProposal(ctx, s, want)
		if err != nil || !proposed {
			return err
		}
	}
	if !p.Pushed && (ours.ID != "" || p.DryRun) { // the proposal is open and up to date
		if p.Fleet.At.Sub(ours.Opened) >= unmergedAfter {
			text := fmt.Sprintf("pull request %s has waited for a merge since %s", ours.URL, ours.Opened.UTC().Format(timeFormat))
			p.condition(alert.Blocked, "proposal", text, oldLevels+". gitlatch keeps the pull request up to date",
				"merge the pull request. To decline its level changes, close it. gitlatch then does not change its workloads for 24 hours")
		}
		return nil
	}
	return p.openProposal(ctx)
}

// upToDate reports whether the proposal's branch has gitlatch's commit on the present base.
func (p *publisher) upToDate(ours latch.Proposal) bool {
	rebased := p.tip.directory != "" && p.tip.directory != ours.Directory
	return ours.Head == p.Branch && !rebased
}

// pushProposal makes the proposal's branch one commit on the base. If the host refuses the
// size of the commit, a part of the changes waits. It pushes nothing if the branch already
// has the other part. proposed is false if the branch has a user's commits, if the host
// refused the push, or in a dry run.
func (p *publisher) pushProposal(ctx context.Context, s latch.State, want wants) (proposed bool, err error) {
	ours := s.Head.Proposal
	to := repo.Commit{Branch: ledger.ProposalBranch(p.Site), Expect: p.Branch}
	var made *proposal.Made
	if to.Expect != "" && (ours == nil || ours.Head != to.Expect) {
		made, err = p.commits.made(ctx, to.Expect)
		if err != nil {
			return false, err
		}
		if made == nil {
			text := fmt.Sprintf("branch %s has commits of other authors", to.Branch)
			p.problem(errors.New(text))
			p.condition(alert.Blocked, "proposal", text, oldLevels+". gitlatch does not change the branch",
				fmt.Sprintf("merge branch %s, or delete it. gitlatch then creates it again", to.Branch))
			return false, nil
		}
	}
	asked := want
	w, err := p.write(ctx, want.changes, namespaces(want.repairs))
	if err != nil || len(w.files) == 0 {
		return false, err
	}
	want.changes = slices.DeleteFunc(w.changes, func(c checkpoint.Change) bool { return slices.Contains(w.skipped, c.ID) })
	by, changes, _, err := trailers(p.Site, p.tip.commit, *p.tip.tree, w)
	if err != nil {
		return false, err
	}
	by.Base = p.tip.commit
	crossings := proposal.Crossings(want.changes, p.Published.Decisions)
	to.Message = ledger.Message(p.Set.Subject, by, false, lists.Map(crossings, proposal.Line), w.restored)
	if p.DryRun {
		p.Asked = &Proposed{Message: to.Message, Changes: crossings}
		return false, nil
	}
	head := to.Expect
	if made == nil || made.Base != p.tip.commit || !slices.Equal(made.Changes, changes) {
		head, err = p.push(ctx, w, to)
	}
	if tooLarge(err) {
		has := has(s)
		fewer := asked.part(has) // write adds the removals of renamed entries to each part
		switch {
		case fewer.equal(asked): // one namespace is too much
		case ours != nil && p.upToDate(*ours) && fewer.equal(has):
			return true, nil
		default:
			return p.pushProposal(ctx, s, fewer)
		}
	}
	switch {
	case p.refused(err, "propose: %w", "proposal"):
		return false, nil
	case errors.Is(err, repo.ErrMoved):
		p.notice(NoticeMoved, to.Branch, "the proposal's branch moved before the push; the next tick tries again")
		return false, nil
	case err != nil:
		return false, err
	}
	next := latch.Proposal{Branch: to.Branch, Opened: p.Fleet.At}
	if ours != nil {
		next = *ours
	}
	next.Head = head
	next.Repairs = want.repairs
	next.Directory = p.tip.directory
	p.Open = &next
	p.Pushed = true
	p.Proposed = want.changes
	return true, nil
}

// openProposal opens or updates the pull request on the host.
func (p *publisher) openProposal(ctx context.Context) error {
	s := p.apply(p.Decided.State, p.Found, p.Published)
	ours := *s.Head.Proposal
	crossings := proposal.Crossings(proposal.Changes(s.Latches), p.Published.Decisions)
	restored := namespaces(ours.Repairs)
	message := ledger.Message(p.Set.Subject, ledger.Trailers{Site: p.Site}, false, lists.Map(crossings, proposal.Line), restored)
	title, _, _ := strings.Cut(message, "\n")
	on, err := p.Proposals.Ensure(ctx, repo.Draft{Branch: ours.Branch, Title: title, Body: proposal.Body(p.Site, crossings, restored)})
	if p.refused(err, "propose: %w", "proposal") {
		return nil
	}
	if err != nil {
		return err
	}
	ours.ID = on.ID
	ours.URL = on.URL
	p.Open = &ours
	p.Asked = &Proposed{URL: on.URL, Message: message, Changes: crossings}
	return nil
}

// withdraw closes the proposal. It first saves that gitlatch closes it.
func (p *publisher) withdraw(ctx context.Context, ours latch.Proposal, why string) error {
	if p.DryRun {
		return nil
	}
	if ours.ID != "" {
		err := p.noteClosing(ctx, p.Stored, p.Branch)
		if err != nil {
			return err
		}
		err = p.Proposals.Close(ctx, repo.Proposal{ID: ours.ID, URL: ours.URL, Branch: ours.Branch, Head: p.Branch}, why)
		if errors.Is(err, repo.ErrMoved) {
			return nil // a user took over the branch: the next tick handles that
		}
		if err != nil {
			return fmt.Errorf("close proposal %s: %w", ours.URL, err)
		}
	}
	p.Withdrawn = true
	p.notice(NoticeWithdrawn, ours.URL, "%s", why)
	return nil
}
