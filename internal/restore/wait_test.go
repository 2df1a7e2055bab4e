package restore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var lateID = workload.ID{Namespace: "late", Kind: workload.Deployment, Name: "web"}

// later adds a namespace to git, whose workload a GitOps tool creates at a time with 1
// replica.
func (w *world) later(at time.Time) checkpoint.Tree { return w.laterAt(at, 1, 500) }

func (w *world) laterAt(at time.Time, replicas, most int32) checkpoint.Tree {
	tree := w.tree()
	tree.Records["late"] = checkpoint.Record{Namespace: "late", Entries: map[workload.ID]checkpoint.Entry{lateID: {Replicas: 100}}}
	s := plan.Scaler{Kind: plan.HPA, Namespace: "late", Name: "web", Max: most}
	w.look = func() {
		if _, lives := w.live[lateID]; !lives && !w.now.Before(at) {
			w.scalers[s.String()] = &brake.Object{Kind: plan.HPA, Annotations: map[string]string{}}
			w.live[lateID] = plan.Workload{ID: lateID, Replicas: replicas, Scalers: []plan.Scaler{s}}
		}
	}
	return tree
}

func TestANamespaceThatAppearsLaterIsBrakedAndRaised(t *testing.T) {
	t.Parallel()
	w := newWorld()
	start := w.now
	tree := w.later(start.Add(4 * time.Minute))
	r := w.restore()
	r.WaitFor = restore.WaitFor
	var said []string
	r.Say = func(line string) { said = append(said, line) }
	report, err := r.Run(t.Context(), tree)
	if err != nil || report.Err() != nil || report.TimedOut || len(report.Left)+len(report.Since) > 0 || len(report.Raised) != 4 || len(report.Brakes) != 4 {
		t.Errorf("%+v, %v, %v", report, err, report.Err())
	}
	if took := w.now.Sub(start); took < 4*time.Minute || took > 6*time.Minute {
		t.Errorf("it took %s", took)
	}
	w.holds(t, "after")
	brakes, raises := slices.Index(w.writes, "brake horizontalpodautoscaler late/web"), slices.Index(w.writes, "raise late/web")
	if brakes < 0 || raises < brakes {
		t.Errorf("wrote %q", w.writes)
	}
	if n := strings.Count(strings.Join(said, "\n"), "wait for late/web"); n != 1 {
		t.Errorf("said it %d times: %q", n, said)
	}
}

func TestAWorkloadAtItsLevelIsReadyWhenItsPodsAre(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{0, restore.WaitFor} {
		w := fullWorld()
		start := w.now
		w.ready = start.Add(5 * time.Minute)
		r := w.restore()
		r.WaitFor = wait
		report, err := r.Run(t.Context(), w.tree())
		unfinished := slices.Equal(report.Unfinished, []restore.Unfinished{{ID: reachedID, Replicas: 100, Ready: 7, To: 100}})
		if err != nil || unfinished != (wait == 0) || (report.Err() == nil) != (wait > 0) || w.now.Before(w.ready) != (wait == 0) {
			t.Errorf("wait %s: %v, %+v at %s", wait, err, report, w.now)
		}
	}
}

// The workload appears at its level, as an admission policy creates it, or at a maximum.
func TestAWorkloadThatAppearsAtItsLevelIsBraked(t *testing.T) {
	t.Parallel()
	for replicas, since := range map[int32]plan.Reason{100: "", 50: plan.AtMax} {
		w := newWorld()
		w.window = w.now.Add(10 * time.Minute)
		tree := w.laterAt(w.now.Add(4*time.Minute), replicas, replicas)
		r := w.restore()
		r.WaitFor = restore.WaitFor
		report, err := r.Run(t.Context(), tree)
		if err != nil || report.Err() != nil || len(report.Raised) != 3 || len(report.Brakes) != 4 {
			t.Errorf("at %d: %+v, %v", replicas, report, err)
		}
		if braked := report.Plan.Braked; len(braked) != 1 || braked[0].ID != lateID || reasons(report) != since {
			t.Errorf("at %d: braked %+v, since %+v", replicas, braked, report.Since)
		}
		w.now = w.window
		if live, err := w.Look(t.Context()); err != nil || live[lateID].Replicas != replicas {
			t.Errorf("at %d: it went to %d, %v", replicas, live[lateID].Replicas, err)
		}
	}
}

// The workload appears while the run raises the first wave.
func TestARunWithoutWaitAlsoRaisesWorkloadsThatAppearMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld()
	tree := w.later(w.now.Add(time.Second))
	report, err := w.restore().Run(t.Context(), tree)
	if err != nil || report.Err() != nil || len(report.Left) > 0 || len(report.Raised) != 4 {
		t.Errorf("%+v, %v, %v", report, err, report.Err())
	}
	w.holds(t, "after")

	w = newWorld()
	tree = w.later(w.now.Add(time.Hour))
	report, err = w.restore().Run(t.Context(), tree)
	if err != nil || report.Err() != nil || len(report.Left) != 1 || report.Left[0].Reason != plan.Absent {
		t.Errorf("it does not exist: %+v, %v, %v", report, err, report.Err())
	}
}

func TestOnlyAReasonThatLastsEndsTheWait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*plan.Workload)
		lasts  bool
	}{
		"as planned":    {func(*plan.Workload) {}, true},
		"suspended":     {func(w *plan.Workload) { w.Replicas = 0 }, true},
		"terminating":   {func(w *plan.Workload) { w.Terminating = true }, true},
		"opted out":     {func(w *plan.Workload) { w.OptOut = true }, true},
		"fixed":         {func(w *plan.Workload) { w.Scalers[0].Fixed = "paused" }, true},
		"at its max":    {func(w *plan.Workload) { w.Scalers[0].Max = 50; w.Replicas = 50 }, true},
		"no autoscaler": {func(w *plan.Workload) { w.Scalers = nil }, true},
		"of no count":   {func(w *plan.Workload) { w.Unknown = "has no number" }, false},
		"absent":        {nil, false},
	} {
		w := fullWorld()
		tree := w.tree()
		tree.Records["shop"].Entries[workload.ID{Namespace: "shop", Kind: "worker", Name: "unread"}] = checkpoint.Entry{Replicas: 100}
		w.change(reachedID, c.change)
		start := w.now
		r := w.restore()
		r.WaitFor = restore.WaitFor
		report, err := r.Run(t.Context(), tree)
		took := w.now.Sub(start)
		if err != nil || report.TimedOut == c.lasts || (report.Err() == nil) != c.lasts {
			t.Errorf("%s: %v %v, %+v", name, err, report.Err(), report)
		}
		if c.lasts && took > 5*time.Minute || !c.lasts && (took < restore.WaitFor || took > restore.WaitFor+2*time.Minute) {
			t.Errorf("%s: it took %s", name, took)
		}
	}
}

// A GitOps tool applies the replicas of a manifest again and again.
func TestAWorkloadThatIsLoweredEachTimeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.look = func() { w.change(webID, func(one *plan.Workload) { one.Replicas = 3 }) }
	r := w.restore()
	start := w.now
	r.WaitFor = restore.WaitFor
	report, err := r.Run(t.Context(), w.tree())
	raises := len(slices.DeleteFunc(slices.Clone(w.writes), func(what string) bool { return what != "raise shop/web" }))
	if err != nil || report.TimedOut || len(report.Unfinished) != 1 || report.Unfinished[0].ID != webID || raises > 5 || w.now.Sub(start) > 5*time.Minute {
		t.Errorf("%+v %v: %d raises in %s", report, err, raises, w.now.Sub(start))
	}
}

// Someone scales a workload down once, after its wave.
func TestAWorkloadThatIsLoweredAfterItsWaveIsRaisedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld()
	tree := w.later(w.now.Add(4 * time.Minute))
	lowered := false
	r := w.restore()
	wait := r.Wait
	start := w.now
	r.Wait = func(ctx context.Context, d time.Duration) {
		if wait(ctx, d); !lowered && w.now.Sub(start) > 2*time.Minute {
			lowered = true
			w.change(webID, func(one *plan.Workload) { one.Replicas = 3 })
		}
	}
	r.WaitFor = restore.WaitFor
	report, err := r.Run(t.Context(), tree)
	if err != nil || report.Err() != nil || !lowered || report.TimedOut {
		t.Errorf("%+v %v", report, err)
	}
	w.holds(t, "after")
	var summary strings.Builder
	if err := report.Table(&summary, plain); err != nil || !strings.Contains(summary.String(), "raised 4 of 4 workloads") {
		t.Errorf("%v:\n%s", err, &summary)
	}
}

func TestTheDeadlineEndsTheWait(t *testing.T) {
	t.Parallel()
	w := newWorld()
	tree := w.later(w.now.Add(time.Hour))
	r := w.restore()
	r.WaitFor = restore.WaitFor
	r.Until = w.now.Add(10 * time.Minute)
	report, err := r.Run(t.Context(), tree)
	if err != nil || !report.Stopped || report.TimedOut || report.Err() == nil || w.now.After(r.Until) {
		t.Errorf("%+v %v at %s", report, err, w.now)
	}
}

// With --wait, a brake is tried again until the end: its autoscaler may be replaced, and
// a webhook may refuse it for a while. Other workloads do not wait for it.
func TestABrakeThatIsRefusedIsTriedAgainWhileTheRunWaits(t *testing.T) {
	t.Parallel()
	webhook := apierrors.NewInternalError(errors.New("failed calling webhook"))
	absent := apierrors.NewNotFound(schema.GroupResource{Resource: "horizontalpodautoscalers"}, "web")
	for _, refused := range []struct {
		name string
		id   workload.ID
	}{{"web", webID}, {"reached", reachedID}} {
		for _, c := range []struct {
			err   error
			lasts time.Duration
		}{{webhook, 2 * time.Minute}, {absent, 2 * time.Minute}, {webhook, time.Hour}, {absent, time.Hour}} {
			w := fullWorld()
			start := w.now
			w.refuse = map[string]error{"brake horizontalpodautoscaler shop/" + refused.name: c.err}
			r := w.restore()
			r.WaitFor = restore.WaitFor
			var said []string
			r.Say = func(line string) { said = append(said, line) }
			pass := r.Wait
			r.Wait = func(ctx context.Context, d time.Duration) {
				pass(ctx, d)
				switch after := w.now.Sub(start) - c.lasts; {
				case after >= restore.Every:
					w.refuse = nil
				case after >= 0: // the tries of its brake are not tries of its raise
					w.refuse = map[string]error{"raise shop/web": errors.New("etcd timed out")}
				}
			}
			report, err := r.Run(t.Context(), w.tree())
			ends := c.lasts < restore.WaitFor
			if err != nil || (report.Err() == nil) != ends || report.TimedOut == ends || len(report.Problems) > 0 == ends {
				t.Errorf("%s, %v for %s: %v, %+v", refused.name, c.err, c.lasts, err, report)
			}
			if took := w.now.Sub(start); ends && took > 5*time.Minute || !ends && (took < restore.WaitFor || took > restore.WaitFor+2*time.Minute) {
				t.Errorf("%s, %v for %s: it took %s", refused.name, c.err, c.lasts, took)
			}
			if other := slices.Index(w.writes, "raise shop/api"); other < 0 || ends && other > slices.Index(w.writes, "brake horizontalpodautoscaler shop/"+refused.name) {
				t.Errorf("%s, %v for %s: wrote %q", refused.name, c.err, c.lasts, w.writes)
			}
			if n := strings.Count(strings.Join(said, "\n"), "wait for shop/"+refused.name+" ("+c.err.Error()+"; "); n != 1 {
				t.Errorf("%s, %v for %s: said it %d times: %q", refused.name, c.err, c.lasts, n, said)
			}
			if ends {
				w.holds(t, "after")
			}
		}
	}
}

// With --wait, a raise is tried again until the end: an admission policy may refuse it for a
// while. The later waves do not wait for it.
func TestARaiseThatIsRefusedIsTriedAgainWhileTheRunWaits(t *testing.T) {
	t.Parallel()
	webhook := apierrors.NewInternalError(errors.New("failed calling webhook"))
	denied := apierrors.NewForbidden(deployments, "web", errors.New("admission webhook denied the request: a change freeze"))
	for _, c := range []struct {
		err   error
		lasts time.Duration
	}{{webhook, 2 * time.Minute}, {denied, 2 * time.Minute}, {webhook, time.Hour}, {denied, time.Hour}} {
		w := newWorld()
		start := w.now
		w.refuse = map[string]error{"raise shop/web": c.err}
		tries := 0
		w.seen = func(id workload.ID) {
			if id == webID {
				tries++
			}
		}
		r := w.restore()
		r.WaitFor = restore.WaitFor
		var said []string
		r.Say = func(line string) { said = append(said, line) }
		pass := r.Wait
		r.Wait = func(ctx context.Context, d time.Duration) {
			if pass(ctx, d); w.now.Sub(start) >= c.lasts {
				w.refuse = nil
			}
		}
		report, err := r.Run(t.Context(), w.tree())
		ends := c.lasts < restore.WaitFor
		if err != nil || (report.Err() == nil) != ends || report.TimedOut == ends {
			t.Errorf("%v for %s: %v, %+v", c.err, c.lasts, err, report)
		}
		if !ends && (len(report.Problems) != 1 || report.Problems[0].Error() != c.err.Error() || tries < 300) {
			t.Errorf("%v for %s: %q after %d tries", c.err, c.lasts, report.Problems, tries)
		}
		if took := w.now.Sub(start); ends && took > 5*time.Minute || !ends && (took < restore.WaitFor || took > restore.WaitFor+2*time.Minute) {
			t.Errorf("%v for %s: it took %s", c.err, c.lasts, took)
		}
		if other := slices.Index(w.writes, "raise shop/api"); other < 0 || ends && other > slices.Index(w.writes, "raise shop/web") {
			t.Errorf("%v for %s: wrote %q", c.err, c.lasts, w.writes)
		}
		if n := strings.Count(strings.Join(said, "\n"), "wait for shop/web ("+c.err.Error()+")"); n != 1 {
			t.Errorf("%v for %s: said it %d times: %q", c.err, c.lasts, n, said)
		}
		if ends {
			w.holds(t, "after")
		}
	}
}

// Without --wait, the run ends after the last wave. If the last try of a refused raise has an
// effect, the run continues with the rest of the raise.
func TestARaiseThatIsAcceptedAtTheEndIsFinished(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.live = map[workload.ID]plan.Workload{webID: {ID: webID, Replicas: 1}} // a brake would prolong the run
	w.refuse = map[string]error{"raise shop/web": apierrors.NewForbidden(deployments, "web", errors.New("a change freeze"))}
	r := w.restore()
	r.Pace.PerMinute = 60
	pass := r.Wait
	r.Wait = func(ctx context.Context, d time.Duration) {
		pass(ctx, d)
		w.refuse = nil
	}
	report, err := r.Run(t.Context(), w.tree())
	if err != nil || report.Err() != nil || w.live[webID].Replicas != 100 {
		t.Errorf("%v, %v: %+v", err, report.Err(), w.live)
	}
}
