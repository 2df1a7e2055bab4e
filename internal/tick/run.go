// Package tick is one pass over one site. Run is a row of steps over values:
//
//	sample     the cluster
//	read       read git and judge it; this changes nothing (package read)
//	follow     the head and the latches follow git (pure)
//	round      every decision about the site (package policy, pure)
//	publish    one commit on the base, then one proposal (package publish); after each, the
//	           head and the latches get what it published (pure)
//	check      compare the levels in git with the cluster, at most once an hour
//	alerts     the alerts that follow (pure)
//	save       the latches, then the head; then send the alerts
//
// A step returns a changed copy, and only Run replaces the state between steps.
//
// The effects of a tick are, in this order: acquire the lease, load the state, extend the lease,
// push, save, release. Dying between any two of them leaves work to resume, never a git tree that
// disagrees with a saved latch. Running a tick twice equals running it once.
package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/tick/publish"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Tick is the input of one pass over a site. The fields Turn, Levels, Proposals, Propose,
// Alerts, Wait, Flush, SkipCI and DryRun are optional. The others are required.
type Tick struct {
	Site   string
	Base   string        // the name of the site's branch, for texts
	Owner  string        // the owner of the lease; unique for each run
	Period time.Duration // the scheduled time from one tick to the next
	Lease  time.Duration // the duration of the lease; below Period
	// Turn is the scheduled instant of this tick. If a tick was saved at Turn or later, Run
	// ends quietly: an event that is delivered twice makes one sample, not two in a row. The
	// zero value is a tick on demand.
	Turn time.Time

	Sampler Sampler
	// Levels reads the levels in the cluster. Nil checks nothing.
	Levels     Levels
	Store      latch.Store
	Repository repo.Repository
	Clock      func() time.Time
	// Proposals opens pull requests. Nil is a host without pull requests, for which
	// ParsePolicy returns sets with NoReview. If Propose is true, gitlatch proposes every
	// level change. If it is false, gitlatch proposes those that a policy wants reviewed.
	Proposals repo.Proposals
	Propose   bool
	// Alerts sends the alerts. Nil sends nothing.
	Alerts Alerts
	// Wait sleeps for about d before the next attempt after a lost race, or until ctx ends.
	// Nil does not wait.
	Wait func(ctx context.Context, d time.Duration)

	// PolicyFile is the path of the site's policy on the branch. ParsePolicy parses the
	// content of the file; nil is the content of a file that never existed.
	PolicyFile  string
	ParsePolicy func(file string, data []byte) (policy.Set, error)

	// Flush raises each level to the present need, without the stabilization window of a raise
	// and without the budget. It lowers no level.
	Flush  bool
	SkipCI bool // asks the CI of the branch to skip checkpoint commits
	DryRun bool // writes nothing, and takes no lease
}

// A Sampler samples the workloads of the given kinds in a cluster. If the sample is
// partial, Sample returns no error and sets Unread.
type Sampler interface {
	Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error)
}

// Alerts sends alerts to users. After an error, the alert may or may not have arrived: the
// next tick sends it again, with the same id and before later alerts. After an
// alert.RefusedError, gitlatch drops the alert and sends the next one.
type Alerts interface {
	Send(ctx context.Context, n alert.Notice) error
}

// Run makes one pass. With an error, the report contains the steps before it. If another
// tick has the lease or took the turn, Run ends without an error, and the report has the
// reason.
func (t *Tick) Run(ctx context.Context) (Report, error) {
	report := Report{Site: t.Site, DryRun: t.DryRun, Fleet: workload.Fleet{At: t.Clock().UTC()}}
	err := t.run(ctx, &report)
	if held, is := errors.AsType[*latch.HeldError](err); is {
		report.NotRun = held.Error()
		return report, nil
	}
	return report, err
}

// run takes the lease, loads the state, samples the cluster and runs the steps. It loads
// the latches after the sample, to save memory: by then the responses of the API server
// are garbage, and the latches of a large site have a similar size.
func (t *Tick) run(ctx context.Context, report *Report) (err error) {
	tenancy := &tenancy{Tick: t}
	err = tenancy.take(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tenancy.end(ctx)) }()
	head, err := t.Store.Head(ctx, t.Site)
	if err != nil {
		return fmt.Errorf("load the state: %w", err)
	}
	tenancy.loaded = head
	report.NotRun = t.taken(head)
	if report.NotRun != "" {
		return nil
	}
	if r, ok := t.Repository.(repo.Recaller); ok {
		r.Recall(head.Agreed.Sites) // if git still has this tree, the tick does not fetch it
	}
	kinds, agreed, err := read.Kinds(ctx, t.source(), head)
	if err != nil {
		return fmt.Errorf("reconcile with git: %w", err)
	}
	fleet, err := t.Sampler.Sample(ctx, kinds)
	if err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	report.Fleet = fleet
	report.At = fleet.At.UTC()
	latches, err := t.Store.Latches(ctx, t.Site)
	if err != nil {
		return fmt.Errorf("load the state: %w", err)
	}
	loaded := read.Loaded{
		State:  latch.State{Head: head, Latches: latch.LatchesOf(latches)},
		Agreed: agreed,
		Fleet:  fleet,
	}
	return t.fold(ctx, tenancy, loaded, report)
}

// source returns where the tick reads git.
func (t *Tick) source() read.Source {
	return read.Source{
		Site: t.Site, Repository: t.Repository, Proposals: t.Proposals, Propose: t.Propose,
		PolicyFile: t.PolicyFile, ParsePolicy: t.ParsePolicy, DryRun: t.DryRun,
	}
}

// target returns where the tick publishes, with the lease.
func (t *Tick) target(lease publish.Lease) publish.Target {
	return publish.Target{
		Site: t.Site, Repository: t.Repository, Proposals: t.Proposals, Propose: t.Propose,
		SkipCI: t.SkipCI, DryRun: t.DryRun, Wait: t.Wait, Lease: lease,
	}
}

// fold runs the steps. With an error, the report contains the steps before it.
func (t *Tick) fold(ctx context.Context, tenancy *tenancy, loaded read.Loaded, report *Report) error {
	state := loaded.State
	var found notes.Notes
	defer func() {
		report.State = state
		report.Notes = found
	}()

	git, more, err := read.Git(ctx, t.source(), loaded)
	found = found.And(more)
	if err != nil {
		return fmt.Errorf("reconcile with git: %w", err)
	}
	state, more = t.follow(state, git)
	found = found.And(more)

	decided := policy.Round(t.site(state, git))
	state = decided.State
	report.Observe = !git.Set.Latch
	report.Set = git.Set
	report.Decided = decided

	plan := publish.Plan{Found: git, Decided: decided}
	target := t.target(tenancy)
	committed, more, err := publish.ToBase(ctx, target, plan)
	found = found.And(more)
	report.Decisions = committed.Decisions
	report.Commit = committed.Commit
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	state = committed.Enter(state, plan)

	proposed, more, err := publish.ToReview(ctx, target, plan, committed, state)
	found = found.And(more)
	report.Decisions = proposed.Decisions
	report.Proposal = proposed.Asked
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	state = proposed.Enter(state, plan)

	// The cluster cannot have the commit of this tick yet, so the check compares the cluster with
	// the levels before it.
	state.Head.Applied = t.check(ctx, decided.State, git, decided.Stop)
	state, more, alerts := t.alerts(state, git, *report, found.Conditions)
	found = found.And(more)
	report.Alerts = alerts

	state.Head.At = git.Fleet.At
	state.Head, err = tenancy.save(ctx, state, decided.Stop)
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	more, err = tenancy.send(ctx, state.Head)
	found = found.And(more)
	if err != nil {
		return fmt.Errorf("alert: %w", err)
	}
	return nil
}

// site returns the input of the decisions.
func (t *Tick) site(state latch.State, git read.Found) policy.Site {
	site := policy.Site{State: state, Set: git.Set, Fleet: git.Fleet, Period: t.Period, Flush: t.Flush}
	if git.Tree != nil {
		site.Broken = git.Tree.Broken
	}
	return site
}

// taken returns the reason if another tick took the turn; "" otherwise.
func (t *Tick) taken(head latch.Head) string {
	// A head from more than a period in the future comes from a clock that was ahead. Its
	// tick took no turn.
	ahead := head.At.After(t.Clock().Add(t.Period))
	if t.Turn.IsZero() || head.At.Before(t.Turn) || ahead {
		return ""
	}
	return fmt.Sprintf("site %s: turn of %s was taken at %s", t.Site, notes.Time(t.Turn), notes.Time(head.At))
}
