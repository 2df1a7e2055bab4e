// Package publish brings the level changes of a tick into git: as one commit on the base, and as
// the one open proposal of the site.
package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/tick/read"
)

// attempts is the number of attempts for a push that keeps losing the race.
const attempts = 6

// A Target is where a tick publishes. See tick.Tick for the fields.
type Target struct {
	Site       string
	Repository repo.Repository
	Proposals  repo.Proposals // nil is a host without pull requests
	Propose    bool
	SkipCI     bool
	DryRun     bool
	Wait       func(ctx context.Context, d time.Duration)
	Lease      Lease
}

// A Lease is the lease of the tick that publishes.
type Lease interface {
	// Extend extends the lease before a push. It fails if another tick has the lease.
	Extend(ctx context.Context) error
	// NoteClosing saves that gitlatch closes its proposal, whose branch is at a commit.
	NoteClosing(ctx context.Context, commit string) error
}

// A Plan is what a tick decided on what it found.
type Plan struct {
	read.Found
	Decided policy.Decided
}

// publishes reports whether the site's files may be written.
func (p Plan) publishes() bool { return p.Blocked == "" && p.Set.Latch && !p.Decided.Stop.All }

// A Commit is one that a tick made. In a dry run it has no ID.
type Commit struct {
	ID      string
	Message string
	Changes []policy.Decision
}

// Committed is the effect of a tick on the base. Its zero value changed nothing.
type Committed struct {
	// Decisions are the decisions of the plan, with the removals of entries under the old
	// name of a kind.
	Decisions []policy.Decision
	// Commit is nil if the tick made no commit. Agrees is true if its parent is the judged tip,
	// and the commit makes no other entry readable. If it is false, the next tick judges the
	// entries and the commits in between, enters this commit into the latches and charges it to
	// the budget.
	Commit *Commit
	Agrees bool
	// Dropped is true if an entry changed before the push: git has a level that the latch
	// does not have.
	Dropped bool
	tip     tip // of the base after the commit
}

// Enter returns the state with the commit. After a lost race it does not enter the commit: the
// next tick judges it together with the commits before it.
func (c Committed) Enter(s latch.State, p Plan) latch.State {
	switch {
	case c.Agrees:
		s.Head.Agreed.Tip = c.Commit.ID
		s.Head.Agreed.Directory = ""
		s = policy.Settled(p.Set.Guards, s, c.Commit.Changes, p.Fleet.At)
	case c.Dropped:
		s.Head.Agreed = s.Head.Agreed.ReadAgain()
	}
	return s
}

// A tip is a commit of the base, with its content if it was read.
type tip struct {
	commit, directory string
	tree              *checkpoint.Tree // nil: not read
	unjudged          bool             // it has changes that this tick did not judge
}

// A publisher publishes one plan, and collects its notes.
type publisher struct {
	Target
	Plan
	notes.Notes
}

// ToBase pushes the level changes that need no review as one commit to the base. If an entry
// changed since its decision, the next tick decides again.
func ToBase(ctx context.Context, to Target, plan Plan) (Committed, notes.Notes, error) {
	p := &publisher{Target: to, Plan: plan}
	made := Committed{
		Decisions: plan.Decided.Decisions,
		tip:       tip{commit: plan.Tip, directory: plan.Directory, tree: plan.Tree},
	}
	if !plan.publishes() || to.Propose {
		return made, p.Notes, nil
	}
	made, err := p.commit(ctx, made)
	return made, p.Notes, err
}

// A try is one attempt at a commit on the base: the level changes and the repairs to make.
type try struct {
	changes []policy.Decision
	repairs []latch.Repair
}

// nothing reports whether no change is left that causes a commit. A level change that rides
// causes none.
func (t try) nothing() bool { return !policy.Commits(t.changes) && len(t.repairs) == 0 }

func (t try) size() int { return len(t.changes) + len(t.repairs) }

func (t try) empty() bool { return t.size() == 0 }

// smaller returns a smaller try after the host refused the size: without the repairs, or
// without the level changes if all of them ride, or else a part. It returns the try itself if it
// has no parts.
func (t try) smaller() try {
	switch {
	case len(t.changes) == 0:
		return try{repairs: t.repairs[:(len(t.repairs)+1)/2]}
	case len(t.repairs) == 0:
		return try{changes: halve(t.changes)}
	case policy.Commits(t.changes):
		return try{changes: t.changes}
	}
	return try{repairs: t.repairs}
}

// commit pushes one commit to the base. After a lost race it tries again on the new tip, up to
// attempts times, and without the repairs: the next tick judges this tip, and repairs its files.
func (p *publisher) commit(ctx context.Context, done Committed) (Committed, error) {
	now := try{changes: lists.Filter(done.Decisions, policy.Decision.Crosses)}
	now.repairs = p.due(done.tip, len(now.changes) > 0)
	for attempt := 1; ; attempt++ {
		var err error
		done, now, err = p.pushTry(ctx, done, now)
		lost := errors.Is(err, repo.ErrMoved)
		if !lost {
			return done, err
		}
		if attempt == attempts {
			p.Problem(fmt.Errorf("publish: the branch moved %d times in a row; the next tick tries again", attempts))
			return done, nil
		}
		if p.Wait != nil {
			p.Wait(ctx, time.Duration(attempt)*200*time.Millisecond)
		}
		commit, _, err := p.Repository.Heads(ctx)
		if err != nil {
			return done, err
		}
		done.tip = tip{commit: commit, directory: done.tip.directory, unjudged: true}
		now.repairs = nil
	}
}

// pushTry composes a try on the tip and pushes it. It composes again with fewer changes in two
// cases: the host refused the size, or the budget has no commit for the repairs that are left
// alone. It ends without an error if the push lands, if no change is left, or if the host refuses
// the push. It returns the effects, and what is left of the try. After a lost race, the error is
// repo.ErrMoved.
func (p *publisher) pushTry(ctx context.Context, done Committed, now try) (Committed, try, error) {
	for !now.empty() {
		at, err := p.withTree(ctx, done.tip)
		if err != nil {
			return done, now, err
		}
		done.tip = at
		w := p.compose(at, policy.Changes(now.changes), now.repairs)
		done.Decisions = replaced(done.Decisions, w.renamed)
		done.Dropped = done.Dropped || len(w.skipped) > 0
		now.changes = w.left(now.changes)
		for _, id := range w.skipped {
			p.Notice(notes.Moved, id.String(), "its entry changed before the push; the next tick decides again")
		}
		if len(w.skipped) > 0 && p.unaffordable(at, now) {
			now.repairs = nil
			continue
		}
		if len(w.files) == 0 || now.nothing() {
			return done, now, nil
		}
		pushed, err := p.pushBase(ctx, done, w, now.changes)
		if tooLarge(err) && now.smaller().size() < now.size() {
			now = now.smaller()
			continue
		}
		if p.NoteRefusal(err, "publish: %w; the levels in git do not change until the branch accepts a push", "") {
			return done, now, nil
		}
		return pushed, now, err
	}
	return done, now, nil
}

// due returns the repairs to commit to the base; nil if the tick did not judge the tip. rides is
// true if a commit is made anyway: otherwise a repair waits for the budget.
func (p *publisher) due(at tip, rides bool) []latch.Repair {
	affords := rides || policy.Affords(p.Set.Guards, p.Decided.Head.Budget, p.Fleet.At)
	if at.unjudged || !affords {
		return nil
	}
	return read.Repairs(at.tree, p.Decided.Head.Declined)
}

// unaffordable reports whether the budget has no commit for the repairs of a try. Repairs ride
// with a level change, which has its own commit, but the last one may be skipped.
func (p *publisher) unaffordable(at tip, t try) bool {
	return len(p.due(at, policy.Commits(t.changes))) < len(t.repairs)
}

// withTree returns a tip with its content.
func (p *publisher) withTree(ctx context.Context, at tip) (tip, error) {
	if at.tree != nil {
		return at, nil
	}
	tree, directory, err := ledger.TreeAt(ctx, p.Repository, at.commit, p.Site)
	at.tree = &tree
	at.directory = directory
	return at, err
}

// pushBase pushes to the base. It returns the effects with the commit.
func (p *publisher) pushBase(ctx context.Context, done Committed, w writing, changes []policy.Decision) (Committed, error) {
	does, err := w.effect(p.Site, done.tip)
	if err != nil {
		return done, err
	}
	surges := lists.Filter(changes, func(d policy.Decision) bool { return d.Surge })
	does.Surges = lists.Map(surges, func(d policy.Decision) ledger.Surge { return ledger.Surge{ID: d.ID, Need: d.Count} })
	made := Commit{Changes: changes, Message: ledger.Message(p.Set.Subject, does.Trailers, p.SkipCI, lists.Map(changes, line), w.restored)}
	if p.DryRun {
		done.Commit = &made
		return done, nil
	}
	made.ID, err = p.push(ctx, done.tip, w, repo.Commit{Message: made.Message})
	if err != nil {
		return done, err
	}
	done.Commit = &made
	done.Agrees = !done.tip.unjudged && !does.opens
	done.tip = tip{commit: made.ID, unjudged: !done.Agrees}
	if !done.Agrees {
		return done, nil
	}
	entries := policy.Changes(changes)
	for _, s := range does.Surges {
		i := slices.IndexFunc(entries, func(c checkpoint.Change) bool { return c.ID == s.ID })
		p.Surge(p.Site, s, entries[i].From.Replicas, entries[i].To.Replicas)
	}
	return done, nil
}

// push makes one commit on a tip. gitlatch stores nothing before a push. The commit may have
// landed despite an error, and then the next tick finds it in git.
func (p *publisher) push(ctx context.Context, on tip, w writing, c repo.Commit) (id string, err error) {
	err = p.Lease.Extend(ctx)
	if err != nil {
		return "", err
	}
	c.Parent = on.commit
	c.Files = w.files
	c.When = p.Fleet.At
	return p.Repository.Commit(ctx, c)
}

// tooLarge reports whether the host refused the size, and may accept a part.
func tooLarge(err error) bool {
	refused, is := errors.AsType[*repo.RefusedError](err)
	return is && refused.TooLarge
}
