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

// patience is how often in a row a request may fail that another try may mend.
const patience = 5

// A carrying is a plan that is carried out.
type carrying struct {
	*Restore
	report *Report
	course *plan.Course
	tries  map[workload.ID]int // raises that failed in a row
}

// carry goes through the plan: of each wave the brakes come first, then its
// raises, as the pace lets.
func (c *carrying) carry(ctx context.Context, live map[workload.ID]plan.Workload) error {
	for failed := 0; ; {
		step := c.course.Next(live, c.Clock())
		c.say(step.Say...)
		if step.Begin != nil {
			c.brake(ctx, *step.Begin)
		}
		c.raise(ctx, live, step.Ask)
		switch {
		case step.Done:
			return nil
		case c.over(ctx):
			c.report.Stopped = true
			return nil
		case step.Begin != nil:
			continue
		}
		c.Wait(ctx, c.pause())
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
			c.say(fmt.Sprintf("look again: %v", err))
		}
	}
}

// pause is the time to the next look, which is not after the end.
func (c *carrying) pause() time.Duration {
	if c.Until.IsZero() {
		return c.Every
	}
	return min(c.Every, c.Until.Sub(c.Clock()))
}

// brake sets the brakes of a wave. What cannot be braked is not raised: its
// autoscaler would undo it within seconds.
func (c *carrying) brake(ctx context.Context, wave plan.Wave) {
	for _, r := range wave.Raises {
		for _, s := range r.Scalers {
			if c.over(ctx) {
				return
			}
			outcome, err := c.Brakes.Brake(ctx, s, c.Clock(), c.Hold)
			if err != nil {
				c.report.Problems = append(c.report.Problems, fmt.Errorf("%w; %s is not raised", err, r.ID))
				c.course.Drop(r.ID)
				break
			}
			c.report.Braked = append(c.report.Braked, Braked{s, outcome})
		}
	}
}

// raise writes scales. One that fails is tried again with the next look.
func (c *carrying) raise(ctx context.Context, live map[workload.ID]plan.Workload, asks []plan.Ask) {
	for _, a := range asks {
		if c.over(ctx) {
			c.course.Failed(a.ID)
			continue
		}
		from, err := c.Cluster.Raise(ctx, live[a.ID].Runs(), a.To)
		if err == nil {
			c.tries[a.ID] = 0
			c.report.raised(a.ID, from, a.To)
			c.say(fmt.Sprintf("%s: %d -> %d", a.ID, from, max(from, a.To)))
			continue
		}
		c.course.Failed(a.ID)
		if c.tries[a.ID]++; c.tries[a.ID] >= patience || !retryable(err) {
			c.report.Problems = append(c.report.Problems, err)
			c.course.Drop(a.ID)
		}
	}
}

// settle says how things stand at the end: what was not reached, and which
// brakes somebody undid already.
func (c *carrying) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	live, err := c.Cluster.Look(ctx)
	if err != nil {
		return err
	}
	for _, wave := range c.report.Plan.Waves {
		for _, r := range wave.Raises {
			if w := live[r.ID]; w.Replicas < r.To || w.Ready < r.To {
				c.report.Unfinished = append(c.report.Unfinished, Unfinished{r.ID, w.Replicas, w.Ready, r.To})
			}
		}
	}
	found, err := c.Brakes.Brakes(ctx)
	if err != nil {
		return err
	}
	holds := map[string]bool{}
	for _, f := range found {
		holds[f.Scaler.String()] = f.Holds
	}
	for _, b := range c.report.Braked {
		if b.Outcome != brake.Foreign && !holds[b.Scaler.String()] {
			c.report.Notices = append(c.report.Notices, fmt.Sprintf("%s: somebody undid its brake already, and it may scale down", b.Scaler))
		}
	}
	return nil
}

// refused reports whether the API server will not do what was asked, however
// often.
func refused(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsMethodNotSupported(err)
}
