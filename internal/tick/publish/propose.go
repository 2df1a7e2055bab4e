package publish

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
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// unmergedAfter is the time that a proposal may wait for users before an alert.
const unmergedAfter = 24 * time.Hour

// An Asked is the proposal that users see after a tick.
type Asked struct {
	URL     string
	Message string
	Changes []policy.Decision
}

// Proposed is the effect of a tick on the proposal.
type Proposed struct {
	// Decisions are the decisions of Committed, with the removals of entries under the old
	// name of a kind.
	Decisions []policy.Decision
	// Pushed is true if the proposal's branch has a commit with exactly these Changes.
	Pushed  bool
	Changes []checkpoint.Change
	// Open is the open proposal, if it was pushed or opened, and Withdrawn is true if it was
	// closed.
	Open      *latch.Proposal
	Withdrawn bool
	// Asked is nil if this tick did not change what users see.
	Asked *Asked
	// reviewed is true if only the changes that a policy wants reviewed are proposed.
	reviewed bool
}

// Enter returns the state with the proposal.
func (o Proposed) Enter(s latch.State, p Plan) latch.State {
	if o.Pushed {
		s.Head.Budget = policy.Spend(p.Set.Guards, s.Head.Budget, p.Fleet.At)
		s.Latches = o.proposing(s.Latches)
	}
	if o.Open != nil {
		s.Head.Proposal = o.Open
	}
	if o.Withdrawn {
		s = s.WithoutProposal()
	}
	return s
}

// proposing returns the latches whose proposed entries are exactly the changes.
func (o Proposed) proposing(l latch.Latches) latch.Latches {
	changed := map[workload.ID]latch.Latch{}
	for _, c := range o.Changes {
		one := l.Get(c.ID)
		if one.Proposed() != c.To || c.To.IsZero() {
			one = one.Proposing(c.To, o.reviewed || c.To.IsZero())
		}
		changed[c.ID] = one
	}
	return l.Each(latch.Latch.Unproposed).With(changed)
}

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
	wait := later(w.namespaces(), has.namespaces())
	return wants{
		changes: lists.Filter(w.changes, func(c checkpoint.Change) bool { return !slices.Contains(wait, c.ID.Namespace) }),
		repairs: lists.Filter(w.repairs, func(m latch.Repair) bool { return !slices.Contains(wait, m.Namespace) }),
	}
}

// inProposal returns the content of the open proposal.
func inProposal(s latch.State) wants {
	w := wants{changes: read.Proposed(s.Latches)}
	if s.Head.Proposal != nil {
		w.repairs = s.Head.Proposal.Repairs
	}
	return w
}

// ToReview opens, updates or closes the site's one proposal, so that it contains the level
// changes that users review. s is the state with the commit on the base.
func ToReview(ctx context.Context, to Target, plan Plan, made Committed, s latch.State) (Proposed, notes.Notes, error) {
	p := &proposer{publisher: publisher{Target: to, Plan: plan}, tip: made.tip}
	done := Proposed{Decisions: made.Decisions}
	if !plan.publishes() || to.Proposals == nil || plan.Fate.Wait != "" || made.tip.unjudged {
		return done, p.Notes, nil
	}
	done, err := p.propose(ctx, done, s)
	return done, p.Notes, err
}

// A proposer publishes a proposal on the tip of the base.
type proposer struct {
	publisher
	tip tip
}

// propose compares the wanted proposal with the open one, and pushes, opens or closes it.
func (p *proposer) propose(ctx context.Context, done Proposed, s latch.State) (Proposed, error) {
	ours := s.Head.Proposal
	has := inProposal(s)
	want := wants{changes: wanted(s.Latches, done.Decisions, p.Propose, p.Fleet.At)}
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
		return done, nil
	case want.nothing():
		return p.withdraw(ctx, done, *ours, "no change is left")
	case moved || !slices.Equal(want.repairs, has.repairs):
		next, result, err := p.pushProposal(ctx, done, s, want)
		switch {
		case err != nil, result == notPushed:
			return next, err
		case result == pushed:
			return p.open(ctx, next, next.proposing(s.Latches), *next.Open)
		}
		done = next
	}
	// Nothing was pushed, so a proposal is open, or its branch waits to be opened.
	if ours.ID == "" && !p.DryRun {
		return p.open(ctx, done, s.Latches, *ours)
	}
	if p.Fleet.At.Sub(ours.Opened) >= unmergedAfter {
		text := fmt.Sprintf("pull request %s has waited for a merge since %s", ours.URL, notes.Time(ours.Opened))
		p.Condition(alert.Blocked, "proposal", text, notes.OldLevels+". gitlatch keeps the pull request up to date",
			"merge the pull request. To decline its level changes, close it. gitlatch then does not change its workloads for 24 hours")
	}
	return done, nil
}

// repairs returns the repairs to propose. moved is true if the branch gets a new commit in any
// case: otherwise only the open repairs stay until the budget has a commit. If the tick did not
// read the directory, the open repairs do not change.
func (p *proposer) repairs(s latch.State, moved bool, open []latch.Repair) []latch.Repair {
	if p.tip.tree == nil {
		return open
	}
	due := read.Repairs(p.tip.tree, s.Head.Declined)
	if moved || policy.Affords(p.Set.Guards, s.Head.Budget, p.Fleet.At) {
		return due
	}
	return lists.Filter(due, func(m latch.Repair) bool { return slices.Contains(open, m) })
}

// upToDate reports whether the proposal's branch has gitlatch's commit on the present base.
func (p *proposer) upToDate(ours latch.Proposal) bool {
	rebased := p.tip.directory != "" && p.tip.directory != ours.Directory
	return ours.Head == p.Branch && !rebased
}

// A result is the result of a push to the proposal's branch.
type result int

const (
	notPushed result = iota // a user's commits, no change to write, a dry run, a refusal or a lost race
	fits                    // nothing pushed: the branch already has the part that the host accepts
	pushed
)

// pushProposal makes the proposal's branch one commit on the base. While the host refuses the
// size of the commit, a part of the changes waits.
func (p *proposer) pushProposal(ctx context.Context, done Proposed, s latch.State, want wants) (Proposed, result, error) {
	ours := s.Head.Proposal
	last, free, err := p.onBranch(ctx, ours)
	if err != nil || !free {
		return done, notPushed, err
	}
	on, err := p.withTree(ctx, p.tip)
	if err != nil {
		return done, notPushed, err
	}
	has := inProposal(s)
	for {
		next, result, err := p.pushOnce(ctx, done, on, last, ours, want)
		fewer := want.part(has) // compose adds the removals of renamed entries to each part
		switch {
		case tooLarge(err) && !fewer.equal(want):
			if ours != nil && p.upToDate(*ours) && fewer.equal(has) {
				return next, fits, nil
			}
			want = fewer
			continue
		case p.NoteRefusal(err, "propose: %w", "proposal"):
			return next, notPushed, nil
		case errors.Is(err, repo.ErrMoved):
			p.Notice(notes.Moved, ledger.ProposalBranch(p.Site), "the proposal's branch moved before the push; the next tick tries again")
			return next, notPushed, nil
		}
		return next, result, err
	}
}

// onBranch returns the commit on the proposal's branch if an earlier tick pushed it, but did not
// save it; nil if the branch is as saved, or does not exist. free is false if the branch has a
// user's commits.
func (p *proposer) onBranch(ctx context.Context, ours *latch.Proposal) (last *read.Made, free bool, err error) {
	if p.Branch == "" || ours != nil && ours.Head == p.Branch {
		return nil, true, nil
	}
	last, err = p.Commits.Made(ctx, p.Branch)
	if err == nil && last == nil {
		p.takenOver(ledger.ProposalBranch(p.Site))
	}
	return last, last != nil, err
}

// pushOnce pushes the wanted content, unless the branch has it.
func (p *proposer) pushOnce(
	ctx context.Context, done Proposed, on tip, last *read.Made, ours *latch.Proposal, want wants,
) (Proposed, result, error) {
	w := p.compose(on, want.changes, want.repairs)
	done.Decisions = replaced(done.Decisions, w.renamed)
	if len(w.files) == 0 {
		return done, notPushed, nil
	}
	does, err := w.effect(p.Site, on)
	if err != nil {
		return done, notPushed, err
	}
	does.Base = on.commit
	changes := lists.Filter(w.changes, func(c checkpoint.Change) bool { return !slices.Contains(w.skipped, c.ID) })
	shown := crossings(changes, done.Decisions)
	to := repo.Commit{
		Branch: ledger.ProposalBranch(p.Site), Expect: p.Branch,
		Message: ledger.Message(p.Set.Subject, does.Trailers, false, lists.Map(shown, line), w.restored),
	}
	if p.DryRun {
		done.Asked = &Asked{Message: to.Message, Changes: shown}
		return done, notPushed, nil
	}
	head := p.Branch
	landed := last != nil && last.Base == on.commit && slices.Equal(last.Changes, does.changes)
	if !landed {
		head, err = p.push(ctx, on, w, to)
		if err != nil {
			return done, notPushed, err
		}
	}
	next := latch.Proposal{Branch: to.Branch, Opened: p.Fleet.At}
	if ours != nil {
		next = *ours
	}
	next.Head = head
	next.Repairs = want.repairs
	next.Directory = on.directory
	done.Pushed = true
	done.Changes = changes
	done.Open = &next
	done.reviewed = !p.Propose
	return done, pushed, nil
}

// takenOver adds that the proposal's branch has a user's commits.
func (p *proposer) takenOver(branch string) {
	text := fmt.Sprintf("branch %s has commits of other authors", branch)
	p.Problem(errors.New(text))
	p.Condition(alert.Blocked, "proposal", text, notes.OldLevels+". gitlatch does not change the branch",
		fmt.Sprintf("merge branch %s, or delete it. gitlatch then creates it again", branch))
}

// open opens or updates the pull request on the host for a proposal whose branch is pushed. The
// latches contain the proposed entries.
func (p *proposer) open(ctx context.Context, done Proposed, latches latch.Latches, ours latch.Proposal) (Proposed, error) {
	shown := crossings(read.Proposed(latches), done.Decisions)
	restored := namespaces(ours.Repairs)
	message := ledger.Message(p.Set.Subject, ledger.Trailers{Site: p.Site}, false, lists.Map(shown, line), restored)
	title, _, _ := strings.Cut(message, "\n")
	on, err := p.Proposals.Ensure(ctx, repo.Draft{Branch: ours.Branch, Title: title, Body: body(p.Site, shown, restored)})
	if p.NoteRefusal(err, "propose: %w", "proposal") {
		return done, nil
	}
	if err != nil {
		return done, err
	}
	ours.ID = on.ID
	ours.URL = on.URL
	done.Open = &ours
	done.Asked = &Asked{URL: on.URL, Message: message, Changes: shown}
	return done, nil
}

// withdraw closes the proposal. It first saves that gitlatch closes it.
func (p *proposer) withdraw(ctx context.Context, done Proposed, ours latch.Proposal, why string) (Proposed, error) {
	if p.DryRun {
		return done, nil
	}
	if ours.ID != "" {
		err := p.Lease.NoteClosing(ctx, p.Branch)
		if err != nil {
			return done, err
		}
		err = p.Proposals.Close(ctx, repo.Proposal{ID: ours.ID, URL: ours.URL, Branch: ours.Branch, Head: p.Branch}, why)
		if errors.Is(err, repo.ErrMoved) {
			return done, nil // a user took over the branch: the next tick handles that
		}
		if err != nil {
			return done, fmt.Errorf("close proposal %s: %w", ours.URL, err)
		}
	}
	p.Notice(notes.Withdrawn, ours.URL, "%s", why)
	done.Withdrawn = true
	return done, nil
}
