package restore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// patience is the number of consecutive tries: for a request that fails with a retryable
// error, and for a workload that others write at the same time.
const patience = 5

// A carrying is the state of a run that carries out a plan.
type carrying struct {
	*Restore
	report *Report
	make   func(live map[workload.ID]plan.Workload) plan.Plan
	course *plan.Course
	tries  map[workload.ID]int // consecutive writes without effect
	braked map[string]bool     // autoscalers that got their brake; it is not set again if someone removes it
	set    time.Time           // when the run set its last brake; zero if it set none, or if it read or awaited its brakes since
	// refused are the errors of the brakes that failed in the last round. The run tries
	// them again in the next round, and does not raise their workloads until then. The
	// course has the errors of the raises that failed.
	refused map[workload.ID]error
	until   time.Time // the end of --wait
	waits   string    // the workloads that the run last said it waits for
}

// carry carries out the plan at the pace of the run: first all brakes, then the raises,
// wave by wave. It makes the plan again from each sample, so that it also brakes and
// raises workloads that appear later. If the run set a brake, its last sample is late
// enough to show whether something removed the brake.
func (c *carrying) carry(ctx context.Context, live map[workload.ID]plan.Workload) error {
	for failed := 0; ; {
		p := c.make(live)
		braked := c.brakeAll(ctx, p, live)
		c.report.add(p, c.course.Add(p))
		step := c.course.Next(live, c.Clock())
		c.say(step.Say...)
		raised := c.raise(ctx, live, step.Ask)
		pause := c.Every
		if step.Done && !raised && braked && !c.waiting(p, live) {
			pause = c.unchecked()
			if pause <= 0 {
				return nil
			}
			c.say(fmt.Sprintf("wait %s to check whether something removes the brakes", pause.Round(time.Second)))
			c.set = time.Time{} // only a later brake needs another wait
		}
		c.warn(ctx, live)
		if !c.over(ctx) {
			c.Wait(ctx, c.pause(pause))
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

// unchecked returns the time until the brakes can be read again. It is negative if the
// run set no brake.
func (c *carrying) unchecked() time.Duration { return c.set.Add(c.Recheck).Sub(c.Clock()) }

// warn prints lost brakes when they can be read again. A run with --wait may continue for
// long after that.
func (c *carrying) warn(ctx context.Context, live map[workload.ID]plan.Workload) {
	if c.set.IsZero() || c.unchecked() > 0 {
		return
	}
	if found, err := c.Cluster.Brakes(ctx); err == nil { // the end of the run reports an error
		c.set = time.Time{}
		c.say(lists.Map(c.lost(found, live), error.Error)...)
	}
}

// lost returns an error for each brake of the run that is gone or has no effect. An autoscaler that is
// gone needs no brake.
func (c *carrying) lost(found []brake.Found, live map[workload.ID]plan.Workload) (all []error) {
	brakes := lists.Index(found, func(f brake.Found) string { return f.Scaler.String() })
	now := map[string]plan.Scaler{}
	for _, w := range live {
		for _, s := range w.Scalers {
			now[s.String()] = s
		}
	}
	for _, b := range c.report.Brakes {
		s, lives := now[b.Scaler.String()]
		is := brakes[s.String()]
		switch {
		case b.Outcome == brake.Foreign || !lives || is.Holds && is.Ignored == "":
			continue
		case is.Holds:
			all = append(all, fmt.Errorf("%s: KEDA does not apply the brake to its HPA %s, so it may scale down. "+
				"Use KEDA 2.18.0 or later, and check that its operator runs", s, is.Ignored))
			continue
		}
		all = append(all, fmt.Errorf("%s: %s removed the brake, so it may scale down. "+
			"Suspend %s, or remove %s from its manifest, and run \"gitlatch restore\" again",
			s, cmp.Or(s.Owner, "something"), cmp.Or(s.Owner, "the tool that applies it"), brake.Field(s.Kind)))
	}
	return all
}

// waiting reports whether the run waits for a workload. It does not wait for workloads
// that it dropped, and for those that only a user can change.
func (c *carrying) waiting(p plan.Plan, live map[workload.ID]plan.Workload) bool {
	var names []string
	refused := c.refusals()
	for _, u := range unfinished(p, live) {
		if !c.course.Dropped(u.ID) && refused[u.ID] == nil {
			names = append(names, u.ID.Short())
		}
	}
	for _, left := range p.Left {
		if left.Reason.Passes() {
			names = append(names, left.ID.Short())
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(refused), workload.Compare) {
		names = append(names, fmt.Sprintf("%s (%v)", id.Short(), refused[id]))
	}
	if c.WaitFor == 0 || len(names) == 0 {
		return false
	}
	if !c.Clock().Before(c.until) {
		c.report.TimedOut = true
		return false
	}
	if text := "wait for " + term.Among(names); text != c.waits {
		c.waits = text
		c.say(text)
	}
	return true
}

// brakeAll sets the brakes of a plan that are not set yet. Many brakes take minutes, so it
// samples the cluster again on the way: a workload that a user opted out gets no brake. It
// reports whether it is finished. If not, or if the run waits, it tries again after the next
// sample.
func (c *carrying) brakeAll(ctx context.Context, p plan.Plan, live map[workload.ID]plan.Workload) (finished bool) {
	finished = true
	sampled := c.Clock()
	for id := range c.refused {
		c.course.Resume(id)
	}
	clear(c.refused)
	for _, r := range p.All() {
		if c.course.Dropped(r.ID) || !slices.ContainsFunc(live[r.ID].Scalers, c.unbraked) {
			continue
		}
		if c.over(ctx) {
			return false
		}
		if c.Clock().Sub(sampled) >= c.Every {
			if next, err := c.Cluster.Look(ctx); err == nil { // the next sample of the run reports an error
				live = next
			}
			sampled = c.Clock()
		}
		now, _ := p.Judge(r, live) // without autoscalers, if the workload is skipped now
		_, err := c.brake(ctx, now)
		if err == nil {
			c.tries[r.ID] = 0
			continue
		}
		if r.To > r.From {
			err = fmt.Errorf("%w; %s is not raised", err, r.ID)
		} else {
			err = fmt.Errorf("%w; its autoscaler may lower %s", err, r.ID)
		}
		c.refused[r.ID] = err
		c.course.Drop(r.ID)
		c.tries[r.ID]++
		finished = finished && (c.tries[r.ID] >= patience || !retryable(err))
	}
	return finished
}

// refusals returns the errors of the brakes and the raises whose last try failed.
func (c *carrying) refusals() map[workload.ID]error {
	all := c.course.Refused()
	maps.Copy(all, c.refused)
	return all
}

// failed counts a write that failed or had no effect. After several of them, or an error
// that another try does not fix at once, the waves continue without the workload. The run
// tries a raise that failed again until it ends. It drops a workload that others write each
// time.
func (c *carrying) failed(id workload.ID, err error) {
	c.tries[id]++
	often := c.tries[id] >= patience
	switch {
	case err != nil && (often || !retryable(err) || c.course.Refused()[id] != nil):
		c.course.Refuse(id, err)
		c.tries[id] = 0
	case often:
		c.course.Drop(id)
	}
}

// raise carries out the raises that are due, and reports whether it raised a workload. A
// raise that failed, or that a change since the sample forbids, is tried again after the
// next sample. That sample shows why the workload is skipped.
func (c *carrying) raise(ctx context.Context, live map[workload.ID]plan.Workload, asks []plan.Raise) (raised bool) {
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
			raised = true
			c.tries[a.ID] = 0
			c.course.Accept(a.ID)
			c.report.raised(done)
			c.say(fmt.Sprintf("%s: %d -> %d", a.ID, done.From, done.To))
			continue
		}
		c.failed(a.ID, err)
	}
	return raised
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
		set, unbraked := c.brake(ctx, now)
		if unbraked != nil {
			return plan.Raise{}, fmt.Errorf("%w; %s is not raised", unbraked, a.ID)
		}
		if set { // a brake takes a while, and the maximum of the autoscaler may have changed
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
func (c *carrying) brake(ctx context.Context, r plan.Raise) (set bool, err error) {
	for _, s := range lists.Filter(r.Scalers, c.unbraked) {
		outcome, err := c.Cluster.Brake(ctx, s, c.Clock(), c.Hold)
		if err != nil {
			return set, err
		}
		c.braked[s.String()] = true
		set = true
		if outcome == brake.Set || outcome == brake.Extended {
			c.set = c.Clock()
		}
		c.report.Brakes = append(c.report.Brakes, Braked{s, outcome})
	}
	return set, nil
}

func (c *carrying) unbraked(s plan.Scaler) bool { return !c.braked[s.String()] }

// late returns an error for each autoscaler that appeared after the last brake. A stopped
// run reports that it stopped instead.
func (c *carrying) late(end plan.Plan) (all []error) {
	for _, r := range end.All() {
		if c.report.Stopped || c.course.Dropped(r.ID) {
			continue
		}
		for _, s := range lists.Filter(r.Scalers, c.unbraked) {
			all = append(all, fmt.Errorf("%s appeared after the restore set its brakes, so it may scale down. Run \"gitlatch restore\" again", s))
		}
	}
	return all
}

// settle adds the final state to the report: unfinished workloads, workloads that were
// skipped after the plan, autoscalers without a brake, and lost brakes.
func (c *carrying) settle(ctx context.Context) error {
	limit := lastLook
	if c.report.Stopped {
		limit = lastLookStopped
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	refused := c.refusals()
	for _, id := range slices.SortedFunc(maps.Keys(refused), workload.Compare) {
		c.report.Problems = append(c.report.Problems, refused[id])
	}
	live, err := c.Cluster.Look(ctx)
	if err != nil {
		return err
	}
	end := c.make(live)
	c.report.compare(end, live)
	c.report.Problems = append(c.report.Problems, c.late(end)...)
	found, err := c.Cluster.Brakes(ctx)
	if err != nil {
		return err
	}
	c.report.Problems = append(c.report.Problems, c.lost(found, live)...)
	return nil
}
