// Package tick is one pass over one site. Run is a row of steps over values:
//
//	sample     the cluster
//	reconcile  read git and judge it; this changes nothing
//	follow     the head and the latches follow git (pure)
//	round      every decision about the site (package policy, pure)
//	publish    one commit or one proposal
//	apply      enter what was published into the head and the latches (pure)
//	raise      the alerts that follow (pure)
//	save       the latches, then the head; then send the alerts
//
// A step returns a changed copy, and only Run replaces the state between steps.
//
// Dying between any two of its effects leaves work to resume, never a git tree that
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
	"github.com/gitlatch/gitlatch/internal/workload"
)

// timeFormat is how texts for users have an instant.
const timeFormat = time.RFC3339

// A Tick is what one pass needs. All fields must be set but Turn, Proposals and
// Propose, Alerts, Wait, Flush, SkipCI and DryRun.
type Tick struct {
	Site   string
	Owner  string        // of the lease; unlike that of any other run
	Period time.Duration // from one tick to the next, as scheduled
	Lease  time.Duration // how long the lease is taken for; below Period
	// Turn is the instant at which this tick was due. If a tick was settled at Turn or
	// later, Run ends quietly: a turn that is delivered twice is one sample, not two
	// in a row. Zero is a tick that no schedule asked for.
	Turn time.Time

	Sampler    Sampler
	Store      latch.Store
	Repository repo.Repository
	Clock      func() time.Time
	// Proposals opens pull requests; nil is a host without them, for which ParsePolicy
	// returns sets with NoReview. With Propose all crossings are proposed. Without
	// Propose only the crossings that a policy wants reviewed are.
	Proposals repo.Proposals
	Propose   bool
	// Alerts sends what people should know. Nil sends nothing.
	Alerts Alerts
	// Wait sleeps for about d before a lost race is run again, or until ctx
	// ends. Nil does not wait.
	Wait func(ctx context.Context, d time.Duration)

	// PolicyFile is the path of the site's policy on the branch, and ParsePolicy
	// reads it; nil is the content of a file that was never there.
	PolicyFile  string
	ParsePolicy func(file string, data []byte) (policy.Set, error)

	// Flush declares what is needed now, whatever the holds and the budget say.
	Flush  policy.Flush
	SkipCI bool // asks the branch's CI to leave checkpoint commits alone
	DryRun bool // writes nothing anywhere, and takes no lease
}

// Sampler looks at a cluster, for workloads of the kinds. An error means that nothing
// could be read at all. A partial reading comes without an error, with Unread set.
type Sampler interface {
	Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error)
}

// Alerts sends messages to people. An error means that it is not known to have
// arrived; it is sent again then, under the same id, and before others. An
// alert.RefusedError means that it never will: it is dropped, and others are sent.
type Alerts interface {
	Send(ctx context.Context, a alert.Alert) error
}

// Run makes one pass. The report is valid as far as the pass came, with an
// error too. A lease that another holds, or a turn that another took, is a quiet
// end: the report says which.
func (t *Tick) Run(ctx context.Context) (Report, error) {
	report := Report{Site: t.Site, DryRun: t.DryRun, At: t.Clock().UTC()}
	err := t.run(ctx, &report)
	if held, is := errors.AsType[*latch.HeldError](err); is {
		report.NotRun = held.Error()
		return report, nil
	}
	if taken, is := errors.AsType[*takenError](err); is {
		report.NotRun = taken.Error()
		return report, nil
	}
	return report, err
}

// run takes the lease, loads the state, samples the cluster and runs the steps on them. The
// latches are loaded after the sample: the answers that the sample was read from are garbage
// by then, and the latches of a large fleet take as much memory again.
func (t *Tick) run(ctx context.Context, report *Report) (err error) {
	tenancy := &tenancy{Tick: t}
	err = tenancy.take(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tenancy.end(ctx)) }()
	head, err := t.loadHead(ctx)
	if err != nil {
		return fmt.Errorf("load the state: %w", err)
	}
	recallSites(t.Repository, head.Agreed)
	named, agreed, err := t.readNamed(ctx, head)
	if err != nil {
		return fmt.Errorf("reconcile with git: %w", err)
	}
	fleet, err := t.Sampler.Sample(ctx, named.Kinds)
	if err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	report.sampled(fleet)
	latches, err := t.Store.Latches(ctx, t.Site)
	if err != nil {
		return fmt.Errorf("load the state: %w", err)
	}
	loaded := Loaded{
		State:  latch.State{Head: head, Latches: latch.LatchesOf(latches)},
		Agreed: agreed,
		Named:  named,
		Fleet:  fleet,
	}
	return t.fold(ctx, tenancy, loaded, report)
}

// Loaded is what a tick has before it reads git.
type Loaded struct {
	latch.State
	Agreed latch.Agreed // as loaded, for the path of the policy
	Named  policy.Set   // the agreed policy: the kinds and files that it names are read
	Fleet  workload.Fleet
}

// fold runs the steps. The report is valid as far as they came.
func (t *Tick) fold(ctx context.Context, tenancy *tenancy, loaded Loaded, report *Report) error {
	state := loaded.State
	var found notes
	defer func() {
		report.Latches = state.Latches
		report.Notices = found.Notices
		report.Problems = found.Problems
		report.Conditions = found.Conditions
	}()

	git, more, err := t.reconcile(ctx, loaded)
	found = found.and(more)
	if err != nil {
		return fmt.Errorf("reconcile with git: %w", err)
	}
	state, more = t.follow(state, git)
	found = found.and(more)

	decided := policy.Round(t.site(state, git))
	state = decided.State
	report.decided(git.Set, decided)

	published, more, err := t.publish(ctx, tenancy, Plan{Found: git, Decided: decided, Stored: loaded.Head})
	found = found.and(more)
	report.published(published)
	if err != nil {
		return fmt.Errorf("publish: %w", err)
	}
	state = t.apply(state, git, published)

	state, more, alerts := t.raise(state, git, published, *report, found.Conditions)
	found = found.and(more)
	report.raised(state.Head, alerts)

	state.Head.At = git.Fleet.At
	state.Head, err = tenancy.save(ctx, loaded.Head, state, decided.Stop)
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	more, err = tenancy.send(ctx, state.Head)
	found = found.and(more)
	if err != nil {
		return fmt.Errorf("alert: %w", err)
	}
	return nil
}

// site is the input of the decisions.
func (t *Tick) site(state latch.State, git Found) policy.Site {
	site := policy.Site{State: state, Set: git.Set, Fleet: git.Fleet, Period: t.Period, Flush: t.Flush}
	if git.Tree != nil {
		site.Broken = git.Tree.Broken
	}
	return site
}

// A takenError says that a turn was taken by another tick.
type takenError struct {
	site     string
	turn, at time.Time
}

func (e *takenError) Error() string {
	return fmt.Sprintf("site %s: turn of %s was taken at %s", e.site, e.turn.UTC().Format(timeFormat), e.at.UTC().Format(timeFormat))
}

// loadHead loads the head. An error may be that another tick took the turn.
func (t *Tick) loadHead(ctx context.Context) (latch.Head, error) {
	head, err := t.Store.Head(ctx, t.Site)
	// A tick that was settled more than a period from now had a clock that was ahead,
	// and took no turn.
	ahead := head.At.After(t.Clock().Add(t.Period))
	if err == nil && !t.Turn.IsZero() && !head.At.Before(t.Turn) && !ahead {
		err = &takenError{t.Site, t.Turn, head.At}
	}
	return head, err
}
