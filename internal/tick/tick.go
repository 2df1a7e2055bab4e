// Package tick is one pass over one site: take the lease, load the head, sample the
// cluster, load the latches, reconcile with git, decide, publish, settle, and send the
// alerts that follow. The package owns that order and nothing else. What is decided is
// in package policy; clusters, repositories and state are behind ports.
//
// Dying between any two of its effects leaves work to resume, never a git tree
// that disagrees with a settled latch. Running a tick twice equals running it
// once.
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
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

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

// pass is a tick under way: each step reads what the steps before it found.
type pass struct {
	*Tick
	lease   latch.Lease
	stored  latch.Head // as it was loaded
	head    latch.Head // as it will be saved
	latches latches
	named   policy.Set // as the tick before agreed to it: what it names is looked at
	fleet   workload.Fleet
	set     policy.Set
	git     gitState
	files   inplace.Files
	changes []policy.Decision // the crossings to publish
	past    past
	findings
}

// Run makes one pass. The report is valid as far as the pass came, with an
// error too. A lease that another holds, or a turn that another took, is a quiet
// end: the report says which.
func (t *Tick) Run(ctx context.Context) (Report, error) {
	p := &pass{Tick: t, findings: findings{report: Report{Site: t.Site, DryRun: t.DryRun, At: t.Clock().UTC()}}}
	err := p.run(ctx)
	p.report.Latches = p.latches.now()
	if held, is := errors.AsType[*latch.HeldError](err); is {
		p.report.NotRun, err = held.Error(), nil
	} else if taken, is := errors.AsType[*takenError](err); is {
		p.report.NotRun, err = taken.Error(), nil
	}
	return p.report, err
}

// A takenError says that a turn was taken by another tick.
type takenError struct {
	site     string
	turn, at time.Time
}

func (e *takenError) Error() string {
	return fmt.Sprintf("site %s: turn of %s was taken at %s", e.site, e.turn.UTC().Format(timeFormat), e.at.UTC().Format(timeFormat))
}

func (p *pass) run(ctx context.Context) (err error) {
	if err := p.takeLease(ctx); err != nil {
		return err
	}
	if !p.DryRun {
		defer func() { err = errors.Join(err, giveBack(ctx, p.Store, p.lease)) }()
	}
	if p.stored, err = p.loadHead(ctx); err != nil {
		return fmt.Errorf("load the state: %w", err)
	}
	p.head = p.stored
	recallSites(p.Repository, p.stored.Agreed)
	p.named, p.head.Agreed, err = p.readNamed(ctx, p.stored)
	if err != nil {
		return fmt.Errorf("reconcile with git: %w", err)
	}

	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"sample", p.sample},
		{"load the state", p.loadLatches},
		{"reconcile with git", p.reconcile},
		{"decide", p.decide},
		{"publish", p.publish},
		{"find what people should know", p.notify},
		{"settle", p.settle},
		{"alert", p.alert},
	} {
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

// takeLease takes the site's lease, or extends the one that is held.
func (p *pass) takeLease(ctx context.Context) error {
	if p.DryRun {
		return nil
	}
	now := p.Clock()
	lease, err := p.Store.Acquire(ctx, p.Site, p.Owner, now, now.Add(p.Lease))
	if err != nil {
		return fmt.Errorf("take the lease of site %s: %w", p.Site, err)
	}
	held := p.lease
	p.lease = lease // the pass gives this lease back in the end, even if it is not the one before
	if held.Fence != 0 && lease.Fence != held.Fence {
		return fmt.Errorf("extend the lease of site %s: %w", p.Site, latch.ErrLost)
	}
	return nil
}

// giveBackWithin is how long giving back the lease may take, beyond the end of the
// pass. A lease that is not given back expires.
const giveBackWithin = 2 * time.Second

// giveBack returns a lease even where the pass was cut short, so that the
// next one need not wait for it to expire.
func giveBack(ctx context.Context, store latch.Store, lease latch.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBackWithin)
	defer cancel()
	if err := store.Release(ctx, lease); err != nil {
		return fmt.Errorf("give back the lease of site %s: %w", lease.Site, err)
	}
	return nil
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

func (p *pass) sample(ctx context.Context) error {
	fleet, err := p.Sampler.Sample(ctx, p.named.Kinds)
	if err != nil {
		return err
	}
	p.fleet = fleet
	p.report.At, p.report.Cluster = fleet.At.UTC(), fleet.Cluster
	p.report.Samples, p.report.Unread, p.report.Kinds = fleet.Samples, fleet.Unread, fleet.Kinds
	return nil
}

// loadLatches loads the latches after the sample. The answers that the sample was read
// from are garbage by then, and the latches of a large fleet take as much memory again.
func (p *pass) loadLatches(ctx context.Context) error {
	all, err := p.Store.Latches(ctx, p.Site)
	p.latches = newLatches(all)
	return err
}
