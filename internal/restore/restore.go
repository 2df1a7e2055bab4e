// Package restore raises the workloads of a cluster that came up small to their levels in
// git. It only raises, in waves. First it stops the autoscalers of all workloads with a
// level from lowering them for a while.
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
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Cluster lists all workloads at once, and raises one at a time in its present state.
type Cluster interface {
	// UID identifies the cluster.
	UID(ctx context.Context) (string, error)
	// Look returns every workload that has a scale. It returns an error if a part of the
	// cluster cannot be read.
	Look(ctx context.Context) (map[workload.ID]plan.Workload, error)
	// See returns the present state of a workload of the last Look, by ID. The map is
	// empty if the workload is gone.
	See(ctx context.Context, w plan.Workload) (map[workload.ID]plan.Workload, error)
	// Raise sets the replicas of a workload if the workload has not changed since seen.
	// If it has, the error is a conflict. Raise never lowers.
	Raise(ctx context.Context, seen plan.Workload, to int32) error

	// Brakes returns the brakes of the autoscalers. Brake and Release only write an
	// autoscaler that has not changed since they read it.
	Brakes(ctx context.Context) ([]brake.Found, error)
	Brake(ctx context.Context, s plan.Scaler, now time.Time, span time.Duration) (brake.Outcome, error)
	Release(ctx context.Context, s plan.Scaler) (brake.Outcome, error)
	// Stale returns the HPAs of KEDA that do not scale down although their ScaledObject
	// allows it: the name of each one, by the String of its ScaledObject.
	Stale(ctx context.Context) (map[string]string, error)
}

// A Restore is one run over one site. All fields are required except Policy, WaitFor,
// Until and Say.
type Restore struct {
	Site    string
	Cluster Cluster
	Clock   func() time.Time
	Wait    func(context.Context, time.Duration) // or until the context ends
	Say     func(string)                         // prints a line of progress; may be nil
	// WaitFor is the maximum time to wait until every workload with a level is braked and
	// at its level, and its pods are ready, even if it does not exist yet. If it is zero,
	// the run does not wait.
	WaitFor time.Duration
	// Until is the time at which the run stops and reports the rest. If it is zero, the
	// run has no time limit.
	Until time.Time

	Kinds   workload.Kinds // custom kinds of workloads to read
	Policy  error          // error of the policy that defines Kinds; may be nil
	Options plan.Options
	Pace    plan.Pace
	// Hold is the time until a brake expires; see CheckHold.
	Hold  time.Duration
	Every time.Duration // time from one sample of the cluster to the next
	// Recheck is the time after the last brake at which the run reads all brakes again: a
	// GitOps tool takes a while to undo one.
	Recheck time.Duration
	DryRun  bool // write nothing
}

// Pace is the pace of a run: 10,000 pods within five minutes, if the nodes come as
// quickly. A smaller pace only delays the traffic: the scheduler queues the pods, and
// namespaces as targets, or a factor, restore a cluster in parts. A wave that makes no
// progress for the time in which a Deployment has failed (progressDeadlineSeconds, 600)
// waits for something that a restore cannot bring.
func Pace() plan.Pace {
	return plan.Pace{PerMinute: 2000, Unready: 2000, Patience: 10 * time.Minute}
}

// Defaults of a run.
const (
	Hold    = 4 * time.Hour
	WaitFor = 30 * time.Minute // if a user asks to wait and gives no time
	Every   = 5 * time.Second
	Recheck = time.Minute
)

// The limits of Hold. While a brake is active, its autoscaler only scales up. A brake
// must last for hours after a restore, but a forgotten brake must end.
const (
	leastHold = time.Minute
	mostHold  = 7 * 24 * time.Hour
)

// CheckHold returns an error if a brake would expire too early or too late.
func CheckHold(hold time.Duration) error {
	if hold < leastHold || hold > mostHold {
		return fmt.Errorf("must be from 1m to 168h, got %s: a brake blocks each scale-down of its autoscaler", hold)
	}
	return nil
}

// Run brakes the workloads of a site that have a level in tree, and raises them to it. If
// it returns an error, the run ended early; the report lists the writes until then. A
// later run continues from there.
func (r *Restore) Run(ctx context.Context, tree checkpoint.Tree) (Report, error) {
	report := Report{Site: r.Site, At: r.Clock().UTC(), DryRun: r.DryRun, Declared: tree.Site.Cluster}
	if err := CheckHold(r.Hold); err != nil {
		return report, fmt.Errorf("brake: %w", err)
	}
	report.Problems = unreadable(tree, r.Options.Namespaces)
	report.Undeclared = undeclared(tree, r.Options.Namespaces)
	if r.Policy != nil {
		report.Problems = append(report.Problems, r.Policy)
	}
	var err error
	if report.Cluster, err = r.Cluster.UID(ctx); err != nil {
		return report, err
	}
	live, err := r.Cluster.Look(ctx)
	if err != nil {
		return report, err
	}
	o := r.Options
	o.Kinds = r.Kinds
	entries := tree.Entries()
	of := func(live map[workload.ID]plan.Workload) plan.Plan { return plan.Make(entries, live, o) }
	report.Plan = of(live)
	report.owned()
	if err := r.release(ctx, &report, true); err != nil {
		return report, err
	}
	if r.DryRun {
		return report, nil
	}
	c := &carrying{
		Restore: r,
		report:  &report,
		make:    of,
		until:   r.Clock().Add(r.WaitFor),
		course:  plan.NewCourse(report.Plan, r.Pace, r.Clock()),
		tries:   map[workload.ID]int{},
		braked:  map[string]bool{},
		refused: map[workload.ID]error{},
	}
	err = c.carry(ctx, live)
	return report, errors.Join(err, c.settle(ctx))
}

// unreadable returns an error for each checkpoint file that cannot be read, in the named
// namespaces or, without names, in all of them.
func unreadable(tree checkpoint.Tree, named []string) (problems Problems) {
	for namespace, why := range tree.Broken {
		if len(named) == 0 || slices.Contains(named, namespace) {
			problems = append(problems, fmt.Errorf("read the checkpoint file of namespace %s: %w", namespace, why))
		}
	}
	return problems
}

// undeclared returns an error for each named namespace without a level in git. The run
// restores the other namespaces: an old name in a runbook must not stop it.
func undeclared(tree checkpoint.Tree, named []string) (problems Problems) {
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

// Release undoes all brakes, or only those that expired.
func (r *Restore) Release(ctx context.Context, expired bool) (Report, error) {
	report := Report{Site: r.Site, At: r.Clock().UTC(), DryRun: r.DryRun, Releasing: true}
	var err error
	if report.Cluster, err = r.Cluster.UID(ctx); err != nil {
		return report, err
	}
	err = r.release(ctx, &report, expired)
	return report, errors.Join(err, r.undone(ctx, &report))
}

// release undoes brakes, except expired ones of the plan: the restore sets them again, and
// an autoscaler needs only seconds without a brake to scale down. If one brake fails,
// release continues with the others. An unreadable annotation is a notice and not a failure, because anyone with write access to an
// autoscaler can write it.
func (r *Restore) release(ctx context.Context, report *Report, expired bool) error {
	found, err := r.Cluster.Brakes(ctx)
	if err != nil {
		return err
	}
	planned := map[string]bool{}
	for _, raise := range report.All() {
		for _, s := range raise.Scalers {
			planned[s.String()] = true
		}
	}
	for _, f := range found {
		due := !expired || !f.Until.After(r.Clock())
		switch {
		case planned[f.Scaler.String()] && f.Err == nil && due:
			continue
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

// kedaTime is the time in which KEDA changes the HPA of a ScaledObject.
const kedaTime = 30 * time.Second

// undone waits until KEDA undoes the released brakes in its HPAs. A KEDA whose operator does
// not run never does. KEDA before 2.18.2 never does if the ScaledObject states no
// selectPolicy (kedacore/keda#7291).
func (r *Restore) undone(ctx context.Context, report *Report) error {
	released := lists.Filter(report.Released, func(b Braked) bool {
		return b.Scaler.Kind == plan.ScaledObject && b.Outcome == brake.Released && !r.DryRun
	})
	for end := r.Clock().Add(kedaTime); len(released) > 0; {
		stale, err := r.Cluster.Stale(ctx)
		if err != nil {
			return err
		}
		released = lists.Filter(released, func(b Braked) bool { return stale[b.Scaler.String()] != "" })
		if len(released) > 0 && !r.over(ctx) && r.Clock().Before(end) {
			r.Wait(ctx, r.pause(r.Every))
			continue
		}
		for _, b := range released {
			report.Notices = append(report.Notices, fmt.Sprintf("%s: its HPA %s still does not scale down. Either the KEDA operator "+
				"does not run, or it is older than 2.18.2 and leaves selectPolicy at Disabled. Start or upgrade the operator, or run\n"+
				`kubectl patch hpa %[2]s -n %[3]s --type=merge -p '{"spec":{"behavior":{"scaleDown":{"selectPolicy":"Max"}}}}'`,
				b.Scaler, stale[b.Scaler.String()], b.Scaler.Namespace))
		}
		return nil
	}
	return nil
}

// pause limits a time to wait to the time until the end.
func (r *Restore) pause(d time.Duration) time.Duration {
	if r.Until.IsZero() {
		return d
	}
	return min(d, r.Until.Sub(r.Clock()))
}

// over reports whether the run must stop now.
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

// lasting are the checks for errors of an API server that another try does not fix.
var lasting = []func(error) bool{
	apierrors.IsForbidden, apierrors.IsNotFound, apierrors.IsInvalid,
	apierrors.IsBadRequest, apierrors.IsMethodNotSupported,
}

// retryable reports whether another try may succeed after this error.
func retryable(err error) bool {
	refused := slices.ContainsFunc(lasting, func(is func(error) bool) bool { return is(err) })
	return !refused && !errors.Is(err, kube.ErrUnauthorized) && !errors.Is(err, context.Canceled)
}
