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
	"github.com/gitlatch/gitlatch/internal/workload"
)

// propose brings the site's one proposal to what the decisions want: opened,
// rebuilt, or closed when nothing is left of it.
func (p *pass) propose(ctx context.Context) error {
	if p.Proposals == nil || p.git.stop != "" || p.git.proposing != "" || p.git.moved || !p.set.Latch || p.report.Stop.All {
		return nil
	}
	ours, wanted := p.head.Proposal, p.wanted()
	moved := ours == nil && len(wanted) > 0 ||
		ours != nil && (ours.Head == "" || p.anew() || ours.Head != p.git.proposed || !slices.Equal(wanted, ours.Changes) || p.rebased())
	mends := p.wantedMends(moved)
	switch {
	case len(wanted)+len(mends) == 0 && ours == nil:
		return nil
	case len(wanted)+len(mends) == 0:
		return p.withdraw(ctx, "nothing is left to change")
	case moved || ours == nil || !slices.Equal(mends, ours.Mends):
		if pushed, err := p.pushProposal(ctx, wanted, mends); err != nil || !pushed {
			return err
		}
	case ours.ID != "" || p.DryRun:
		p.unmerged()
		return nil
	}
	return p.ensure(ctx)
}

// anew reports whether the branch holds what a tick pushed to it unheard.
func (p *pass) anew() bool { return p.git.unheard != nil && p.git.unheard.head == p.git.proposed }

// rebased reports whether the site's directory, or a file that it edits in place,
// moved below the proposal.
func (p *pass) rebased() bool {
	for file, on := range p.head.Proposal.Files {
		if id := p.files.Now[file].ID; id != "" && id != on {
			return true
		}
	}
	return p.git.directory != "" && p.git.directory != p.head.Proposal.On
}

// wanted are the changes that people should be asked for: those proposed before
// that still hold, and those of this tick.
func (p *pass) wanted() []checkpoint.Change {
	byID := map[workload.ID]checkpoint.Change{}
	review := map[workload.ID]bool{}
	var asking []policy.Decision
	for _, d := range p.report.Decisions {
		reviewed := d.Verdict == policy.Review
		if reviewed || p.Propose && d.Crosses() {
			l := p.latches.get(d.ID)
			review[d.ID] = review[d.ID] || reviewed
			d.From = l.Effective().Declared
			asking = append(asking, d)
		}
	}
	for _, c := range policy.Changes(asking) {
		c.From = p.latches.get(c.ID).Declared
		byID[c.ID] = c
	}
	if ours := p.head.Proposal; ours != nil {
		for _, c := range ours.Changes {
			now, asked := byID[c.ID]
			l := p.latches.get(c.ID)
			switch {
			case l.OptedOut || p.fleet.At.Before(l.YieldUntil) && !(l.YieldScale && asked):
				delete(byID, c.ID)
			case asked && review[c.ID] && !now.To.IsZero() && c.To.Replicas > now.To.Replicas:
				now.To = now.To.WithScale(c.To) // a review is not reopened for less
				byID[c.ID] = now
			case !asked && p.Propose:
				c.From = l.Declared
				byID[c.ID] = c
			}
		}
	}
	var wanted []checkpoint.Change
	for _, c := range byID {
		if c.From != c.To {
			wanted = append(wanted, c)
		}
	}
	slices.SortFunc(wanted, func(a, b checkpoint.Change) int { return workload.Compare(a.ID, b.ID) })
	return wanted
}

// pushProposal makes the proposal's branch one commit on the base. pushed is
// false where the branch is not ours to move.
func (p *pass) pushProposal(ctx context.Context, wanted []checkpoint.Change, mends []latch.Mend) (pushed bool, err error) {
	expect, err := p.ownBranch(ctx)
	if err != nil {
		return false, err
	}
	if expect != p.git.proposed {
		text := fmt.Sprintf("branch %s holds commits that are not gitlatch's", p.proposalBranch())
		p.problem(errors.New(text))
		p.condition(alert.Blocked, "proposal", text, "leaves the branch alone", "merge or delete the branch")
		return false, nil
	}
	w, skipped, err := p.write(ctx, wanted, namespaces(mends))
	if err != nil {
		return false, err
	}
	wanted = slices.DeleteFunc(wanted, func(c checkpoint.Change) bool { return slices.Contains(skipped, c.ID) })
	if len(w.files) == 0 {
		return false, nil
	}
	by, changes, err := p.trailers(w, p.git.tip)
	if err != nil {
		return false, err
	}
	message := ledger.Message(by, false, slices.Concat(p.proposing(wanted), edits(p.head.Edited, w.records)), p.beside(w))
	if p.DryRun {
		p.report.Proposal = &Proposed{Message: message, Changes: p.proposing(wanted)}
		return false, nil
	}
	if err := p.takeLease(ctx); err != nil {
		return false, err
	}
	branch, id := p.proposalBranch(), expect
	if !p.stands(changes) {
		id, err = p.Repository.Commit(ctx, repo.Commit{
			Branch: branch, Expect: expect, Parent: p.git.tip, Files: w.files, Message: message, When: p.fleet.At,
		})
	}
	var refused *repo.RefusedError
	switch {
	case errors.As(err, &refused):
		p.problem(fmt.Errorf("propose: %w", err))
		p.condition(alert.Blocked, "proposal", err.Error(), triesAgain, "let gitlatch's identity push to branch "+branch)
		return false, nil
	case errors.Is(err, repo.ErrMoved):
		p.notice(NoticeMoved, branch, "the proposal's branch moved while it was to be pushed: looked at again on the next tick")
		return false, nil
	case err != nil:
		return false, err
	}
	p.head.Budget = policy.Spend(p.set.Guards, p.head.Budget, p.fleet.At)
	p.proposed(wanted, mends, w.marks, id, p.fleet.At)
	return true, nil
}

// ownBranch returns what the proposal's branch holds if that is ours, by what
// we remember or by its own word; "" where there is no such branch.
func (p *pass) ownBranch(ctx context.Context) (string, error) {
	if p.git.proposed == "" || p.head.Proposal != nil && p.head.Proposal.Head == p.git.proposed {
		return p.git.proposed, nil
	}
	ours, err := p.proposedByTick(ctx, p.git.proposed)
	if err == nil && !ours {
		return "not ours", nil
	}
	return p.git.proposed, err
}

// An unheard proposal is what a tick pushed to the proposal's branch, and did not
// live to keep.
type unheard struct {
	head    string
	base    string // the commit of the base that it was made on
	changes []checkpoint.Change
}

// proposedByTick reports whether the head of a proposal is what a tick pushed, as
// it was pushed: nobody amended it or moved it elsewhere.
func (p *pass) proposedByTick(ctx context.Context, head string) (bool, error) {
	if u := p.git.unheard; u != nil && u.head == head {
		return true, nil
	}
	log, _, err := p.Repository.History(ctx, head, "", 1)
	if err != nil || len(log) == 0 {
		return false, err
	}
	c := ledger.Pushed{LogEntry: log[0], Trailers: ledger.ReadTrailers(log[0].Message)}
	if !c.Pushed(p.Site) || c.Committer != c.Author || len(c.Parents) != 1 {
		return false, nil
	}
	if c.Base == "" {
		c.Base = c.Parents[0]
	}
	before, after, says, err := p.past.commits.Says(ctx, c, c.Base, c.Base)
	if err == nil && says {
		p.git.unheard = &unheard{head, c.Base, ledger.Changes(before.Holding, after.Holding)}
	}
	return says, err
}

// stands reports whether the proposal's branch holds already what would be pushed
// to it.
func (p *pass) stands(changes []checkpoint.Change) bool {
	return p.anew() && p.git.unheard.base == p.git.tip && slices.Equal(p.git.unheard.changes, changes)
}

// proposed notes what the proposal's branch holds.
func (p *pass) proposed(changes []checkpoint.Change, mends []latch.Mend, marks map[string]latch.Marks, head string, at time.Time) {
	next := latch.Proposal{Branch: p.proposalBranch(), Opened: at}
	if p.head.Proposal != nil {
		next = *p.head.Proposal
		for _, c := range next.Changes {
			if !slices.ContainsFunc(changes, func(n checkpoint.Change) bool { return n.ID == c.ID }) {
				l := p.latches.get(c.ID)
				l.Proposed = checkpoint.Entry{}
				p.latches.set(l)
			}
		}
	}
	next.Head, next.Changes, next.Mends, next.On = head, changes, mends, p.git.directory
	next.Files = nil
	for file := range marks {
		if next.Files == nil {
			next.Files = map[string]string{}
		}
		next.Files[file] = p.files.Now[file].ID
	}
	p.head.Proposal = &next
	if !p.Propose {
		return
	}
	for _, c := range changes {
		if l := p.latches.get(c.ID); !c.To.IsZero() && l.Proposed != c.To {
			p.latches.set(l.Proposing(c.To))
		}
	}
}

// ensure tells the host of the proposal, and keeps where it is.
func (p *pass) ensure(ctx context.Context) error {
	ours := *p.head.Proposal
	crossings := p.proposing(ours.Changes)
	beside := ledger.Beside{Components: p.components(namespaces(ours.Mends)), Files: slices.Sorted(maps.Keys(ours.Files))}
	told := slices.Concat(crossings, edits(p.head.Edited, namespaces(ours.Mends)))
	message := ledger.Message(ledger.Trailers{Site: p.Site}, false, told, beside)
	title, _, _ := strings.Cut(message, "\n")
	on, err := p.Proposals.Ensure(ctx, repo.Draft{Branch: ours.Branch, Title: title, Body: Body(p.Site, told, beside)})
	var refused *repo.RefusedError
	if errors.As(err, &refused) {
		p.problem(fmt.Errorf("propose: %w", err))
		p.condition(alert.Blocked, "proposal", err.Error(), triesAgain, "let gitlatch's identity open pull requests")
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

// withdraw closes the proposal.
func (p *pass) withdraw(ctx context.Context, why string) error {
	ours := p.head.Proposal
	if p.DryRun {
		return nil
	}
	if ours.ID != "" {
		if err := p.markClosing(ctx); err != nil {
			return err
		}
		err := p.Proposals.Close(ctx, repo.Proposal{ID: ours.ID, URL: ours.URL, Branch: ours.Branch, Head: ours.Head}, why)
		if errors.Is(err, repo.ErrMoved) {
			return nil // taken over meanwhile: the next tick sees it
		}
		if err != nil {
			return fmt.Errorf("close proposal %s: %w", ours.URL, err)
		}
	}
	p.dropProposal()
	p.notice(NoticeWithdrawn, ours.URL, why)
	return nil
}

// dropProposal forgets the proposal, and what it would have had declared.
func (p *pass) dropProposal() {
	p.proposed(nil, nil, nil, "", p.fleet.At)
	p.head.Proposal = nil
}

// markClosing notes that it is gitlatch that closes its proposal, by the head that
// the proposal has. Of what this pass found it writes nothing else.
func (p *pass) markClosing(ctx context.Context) error {
	head, closing := p.stored, *p.stored.Proposal
	closing.Head, closing.Closing = p.head.Proposal.Head, p.head.Proposal.Head
	head.Proposal = &closing
	if _, err := p.Store.Save(ctx, p.lease, head, nil, nil); err != nil {
		return fmt.Errorf("note that proposal %s is to be closed: %w", closing.URL, err)
	}
	return nil
}

// proposing are changes as crossings, with the reasons of this tick where it
// has any.
func (p *pass) proposing(changes []checkpoint.Change) []policy.Decision {
	type about struct {
		id      workload.ID
		reading policy.Reading
	}
	reasons := map[about]policy.Decision{}
	for _, d := range p.report.Decisions {
		reasons[about{d.ID, d.Reading}] = d
	}
	var crossings []policy.Decision
	add := func(c checkpoint.Change, of policy.Reading) {
		d := reasons[about{c.ID, of}]
		d.ID, d.Reading, d.From, d.To = c.ID, of, c.From, c.To
		crossings = append(crossings, d)
	}
	for _, c := range changes {
		rolls := c.From.Rollout != c.To.Rollout && (!c.To.IsZero() || c.From.Replicas == 0)
		if c.From.WithRollout(c.To.Rollout) != c.To || !rolls {
			add(c, policy.ReadingScale)
		}
		if rolls {
			add(c, policy.ReadingRollout)
		}
	}
	return crossings
}
