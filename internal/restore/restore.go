// Package restore replays a checkpoint onto a cluster that came up small: it
// raises only, in waves, and keeps autoscalers from undoing it for a while.
package restore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Cluster is read whole, and raised workload by workload, each as it is then.
type Cluster interface {
	// UID tells one cluster from another.
	UID(ctx context.Context) (string, error)
	// Look returns all workloads that have a scale. A part that cannot be read is
	// an error.
	Look(ctx context.Context) (map[workload.ID]plan.Workload, error)
	// See returns a workload of the last look as it is now, by its ID, or nothing
	// if it is gone.
	See(ctx context.Context, w plan.Workload) (map[workload.ID]plan.Workload, error)
	// Raise takes a workload to a count if it is still as it was seen; else the
	// error is a conflict. It never lowers.
	Raise(ctx context.Context, seen plan.Workload, to int32) error

	// Brakes returns the brakes of the autoscalers. Each write of a brake is on the
	// condition that nobody else wrote in between.
	Brakes(ctx context.Context) ([]brake.Found, error)
	Brake(ctx context.Context, s plan.Scaler, now time.Time, span time.Duration) (brake.Outcome, error)
	Release(ctx context.Context, s plan.Scaler) (brake.Outcome, error)
}

// A Restore is one run over one site. All fields are required but Until and Say.
type Restore struct {
	Site    string
	Cluster Cluster
	Clock   func() time.Time
	Wait    func(context.Context, time.Duration) // or until the context ends
	Say     func(string)                         // takes a line of progress; nil is nobody
	// Until is when the run stops, and says what is left; zero is never.
	Until time.Time

	Kinds   workload.Kinds // of workloads, those that the cluster is looked at for
	Policy  error          // what is wrong with the policy that names Kinds; nil is nothing
	Options plan.Options
	Pace    plan.Pace
	// Hold is how long a brake holds; see CheckHold.
	Hold   time.Duration
	Every  time.Duration // from one look to the next
	DryRun bool          // writes nothing
}

// Defaults of a run: 10,000 pods are asked for within five minutes, if nodes
// come as quickly.
const (
	PerMinute = 2000
	Unready   = 2000
	Patience  = 10 * time.Minute
	Hold      = 4 * time.Hour
	Every     = 5 * time.Second
)

// The bounds of how long a brake holds. Its autoscaler scales up alone meanwhile:
// it is to outlive a restore by hours, and not to be forgotten.
const (
	leastHold = time.Minute
	mostHold  = 7 * 24 * time.Hour
)

// CheckHold says what is wrong with how long a brake is to hold; nil where nothing
// is.
func CheckHold(hold time.Duration) error {
	if hold < leastHold || hold > mostHold {
		return fmt.Errorf("must be from 1m to 168h, got %s: a brake blocks each scale-down of its autoscaler", hold)
	}
	return nil
}

// Run restores what git declares of a site. An error means that it did not come
// to its end; what the report says was done, was done. A run after it goes on
// from there.
func (r *Restore) Run(ctx context.Context, tree checkpoint.Tree) (Report, error) {
	report := Report{Site: r.Site, At: r.Clock().UTC(), DryRun: r.DryRun, Declared: tree.Site.Cluster}
	if err := CheckHold(r.Hold); err != nil {
		return report, fmt.Errorf("brake: %w", err)
	}
	report.Problems = append(unreadable(tree, r.Options.Namespaces), undeclared(tree, r.Options.Named())...)
	if r.Policy != nil {
		report.Problems = append(report.Problems, r.Policy)
	}
	var err error
	if report.Cluster, err = r.Cluster.UID(ctx); err != nil {
		return report, err
	}
	// A brake that expired is undone before what it replaced is looked at.
	if err := r.release(ctx, &report, true); err != nil {
		return report, err
	}
	live, err := r.Cluster.Look(ctx)
	if err != nil {
		return report, err
	}
	o := r.Options
	o.Kinds = r.Kinds
	report.Plan = plan.Make(tree.Entries(), live, o)
	report.owned()
	if r.DryRun || len(report.Plan.Waves) == 0 {
		return report, nil
	}
	c := &carrying{
		Restore: r,
		report:  &report,
		course:  plan.NewCourse(report.Plan, r.Pace, r.Clock()),
		tries:   map[workload.ID]int{},
		braked:  map[string]bool{},
	}
	err = c.carry(ctx, live)
	return report, errors.Join(err, c.settle(ctx))
}

// unreadable are the records of the namespaces that cannot be read; no names are
// all of them.
func unreadable(tree checkpoint.Tree, named []string) (problems Problems) {
	for namespace, why := range tree.Broken {
		if len(named) == 0 || slices.Contains(named, namespace) {
			problems = append(problems, fmt.Errorf("read the checkpoint file of namespace %s: %w", namespace, why))
		}
	}
	return problems
}

// undeclared are the namespaces that were named and of which git says nothing. The
// others are restored: a name of old in a runbook must not stop them.
func undeclared(tree checkpoint.Tree, named []string) (problems []error) {
	declares := map[string]bool{}
	for id := range tree.Entries() {
		declares[id.Namespace] = true
	}
	for _, namespace := range named {
		if tree.Broken[namespace] == nil && !declares[namespace] {
			all := strings.Join(slices.Sorted(maps.Keys(declares)), ", ")
			problems = append(problems, fmt.Errorf("namespace %s: git has no level in it. Name one of %s", namespace, all))
		}
	}
	return problems
}

// Release undoes brakes: all, or those that expired.
func (r *Restore) Release(ctx context.Context, expired bool) (Report, error) {
	report := Report{Site: r.Site, At: r.Clock().UTC(), DryRun: r.DryRun, Releasing: true}
	var err error
	if report.Cluster, err = r.Cluster.UID(ctx); err != nil {
		return report, err
	}
	return report, r.release(ctx, &report, expired)
}

// release undoes brakes. One that fails does not stop the others. A note that cannot
// be read is said, and is no failure: whoever may write an autoscaler may write it.
func (r *Restore) release(ctx context.Context, report *Report, expired bool) error {
	found, err := r.Cluster.Brakes(ctx)
	if err != nil {
		return err
	}
	for _, f := range found {
		due := !expired || !f.Until.After(r.Clock())
		switch {
		case f.Err != nil:
			report.Notices = append(report.Notices, fmt.Sprintf("%s: %s", f.Scaler, f.Err))
			continue
		case !due:
			report.Holding++
			continue
		case r.over(ctx):
			report.Stopped = true
			return nil
		}
		outcome := brake.Released
		if !f.Holds {
			outcome = brake.Changed
		}
		if !r.DryRun {
			if outcome, err = r.Cluster.Release(ctx, f.Scaler); err != nil {
				report.Problems = append(report.Problems, err)
				continue
			}
		}
		report.Released = append(report.Released, Braked{f.Scaler, outcome})
	}
	return nil
}

// over reports whether the run is to stop now.
func (r *Restore) over(ctx context.Context) bool {
	return ctx.Err() != nil || !r.Until.IsZero() && !r.Clock().Before(r.Until)
}

func (r *Restore) say(lines ...string) {
	for _, line := range lines {
		if r.Say != nil {
			r.Say(line)
		}
	}
}

// lasting recognize the answers of an API server that another try does not change.
var lasting = []func(error) bool{
	apierrors.IsForbidden, apierrors.IsNotFound, apierrors.IsInvalid,
	apierrors.IsBadRequest, apierrors.IsMethodNotSupported,
}

// retryable reports whether another try may succeed where this one did not.
func retryable(err error) bool {
	refused := slices.ContainsFunc(lasting, func(is func(error) bool) bool { return is(err) })
	return !refused && !errors.Is(err, kube.ErrUnauthorized) && !errors.Is(err, context.Canceled)
}
