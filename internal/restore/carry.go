package restore

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// patience is the number of consecutive tries: for a request that fails with a retryable
// error, and for a workload that others write at the same time.
const patience = 5

// A carrying is the state of a run that carries out a plan.
type carrying struct {
	*Restore
	report *Report
	course *plan.Course
	tries  map[workload.ID]int // consecutive raises without effect
	braked map[string]bool     // autoscalers that got their brake; it is not set again if someone removes it
}

// carry carries out the plan wave by wave, at the pace of the run.
func (c *carrying) carry(ctx context.Context, live map[workload.ID]plan.Workload) error {
	for failed := 0; ; {
		step := c.course.Next(live, c.Clock())
		c.say(step.Say...)
		c.raise(ctx, live, step.Ask)
		if step.Done {
			return nil
		}
		if !c.over(ctx) {
			c.Wait(ctx, c.pause())
		}
		if c.over(ctx) {
			c.report.Stopped = true
			return nil
		}
		next, err := c.Cluster.Look(ctx)
		switch {
		case err == nil:
			live, failed = next, 0
		case failed >= patience || !retryable(err):
			return err
		default:
			failed++
			c.say(fmt.Sprintf("read the cluster again: %v", err))
		}
	}
}

// pause returns the time until the next sample, which is at most the time until the end.
func (c *carrying) pause() time.Duration {
	if c.Until.IsZero() {
		return c.Every
	}
	return min(c.Every, c.Until.Sub(c.Clock()))
}

// raise carries out the raises that are due. A raise that failed, or that a change since
// the sample forbids, is tried again after the next sample. That sample shows why the
// workload is skipped.
func (c *carrying) raise(ctx context.Context, live map[workload.ID]plan.Workload, asks []plan.Raise) {
	for _, a := range asks {
		if c.over(ctx) {
			c.course.Failed(a.ID)
			continue
		}
		done, err := c.write(ctx, live[a.ID], a)
		if done.To < a.To {
			c.course.Failed(a.ID)
		}
		if done.To > done.From {
			c.tries[a.ID] = 0
			c.report.raised(done)
			c.say(fmt.Sprintf("%s: %d -> %d", a.ID, done.From, done.To))
			continue
		}
		c.tries[a.ID]++
		if c.tries[a.ID] < patience && retryable(err) {
			continue
		}
		c.course.Drop(a.ID)
		if err != nil {
			c.report.Problems = append(c.report.Problems, err)
		}
	}
}

// write raises a workload as far as the rules of the plan allow in its present state. It
// returns the raise, which is zero if nothing was written. If someone writes or deletes
// the workload between the read and the raise, write reads and judges it again.
func (c *carrying) write(ctx context.Context, looked plan.Workload, a plan.Raise) (plan.Raise, error) {
	var err error
	for range patience {
		var seen map[workload.ID]plan.Workload
		if seen, err = c.Cluster.See(ctx, looked); err != nil {
			return plan.Raise{}, err
		}
		now, _ := c.report.Plan.Judge(a, seen)
		if now.To <= now.From {
			return plan.Raise{}, nil
		}
		if set, ok := c.brake(ctx, now); !ok {
			return plan.Raise{}, nil
		} else if set { // a brake takes a while, and the maximum of the autoscaler may have changed
			continue
		}
		err = c.Cluster.Raise(ctx, seen[a.ID], now.To)
		switch {
		case err == nil:
			return now, nil
		case !apierrors.IsConflict(err) && !apierrors.IsNotFound(err):
			return plan.Raise{}, err
		}
	}
	return plan.Raise{}, err
}

// brake sets the brakes of a workload that are not set yet. If a brake fails, the
// workload is not raised, because its autoscaler would undo the raise within seconds.
func (c *carrying) brake(ctx context.Context, r plan.Raise) (set, ok bool) {
	for _, s := range r.Scalers {
		if c.braked[s.String()] {
			continue
		}
		outcome, err := c.Cluster.Brake(ctx, s, c.Clock(), c.Hold)
		if err != nil {
			c.report.Problems = append(c.report.Problems, fmt.Errorf("%w; %s is not raised", err, r.ID))
			c.course.Drop(r.ID)
			return set, false
		}
		c.braked[s.String()], set = true, true
		c.report.Braked = append(c.report.Braked, Braked{s, outcome})
	}
	return set, true
}

// settle adds the final state to the report: unfinished workloads, workloads that were
// skipped after the plan, and brakes that someone already removed.
func (c *carrying) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	live, err := c.Cluster.Look(ctx)
	if err != nil {
		return err
	}
	for _, wave := range c.report.Plan.Waves {
		for _, r := range wave.Raises {
			now, left := c.report.Plan.Judge(r, live)
			if left.Reason != "" && now.To < r.To { // at the maximum that the plan took into account, it is as planned
				c.report.Since = append(c.report.Since, left)
			}
			if w := live[r.ID]; w.Replicas < now.To || w.Ready < now.To {
				c.report.Unfinished = append(c.report.Unfinished, Unfinished{r.ID, w.Replicas, w.Ready, now.To})
			}
		}
	}
	found, err := c.Cluster.Brakes(ctx)
	if err != nil {
		return err
	}
	holds := map[string]bool{}
	for _, f := range found {
		holds[f.Scaler.String()] = f.Holds
	}
	for _, b := range c.report.Braked {
		if b.Outcome != brake.Foreign && !holds[b.Scaler.String()] {
			c.report.Notices = append(c.report.Notices, fmt.Sprintf("%s: a user removed its brake, so it may scale down", b.Scaler))
		}
	}
	return nil
}
