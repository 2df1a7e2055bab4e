package restore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// holds fails the test unless every workload is at its target and stays there after the
// scale-down window.
func (w *world) holds(t *testing.T, when string) {
	t.Helper()
	if w.now.Before(w.window) {
		w.now = w.window
	}
	for range 3 {
		live, err := w.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for id, one := range live {
			if one.Replicas != target(id) {
				t.Errorf("%s: %s is at %d", when, id, one.Replicas)
			}
		}
	}
}

func TestARestoreHoldsAgainstIdleAutoscalers(t *testing.T) {
	t.Parallel()
	w := newWorld()
	report, err := w.restore().Run(t.Context(), w.tree())
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	w.holds(t, "after")
	// The highest priority comes first, and all brakes come before the first raise.
	const want = "brake scaledobject shop/mail, brake horizontalpodautoscaler shop/web, brake horizontalpodautoscaler shop/api, raise shop/mail, raise shop/web, raise shop/api"
	if got := strings.Join(slices.Compact(w.writes), ", "); got != want { // a raise may take more than one step
		t.Errorf("wrote %s\nwant  %s", got, want)
	}
	w.writes = nil
	again, err := w.restore().Run(t.Context(), w.tree())
	if err != nil || again.Err() != nil || len(w.writes) > 0 || len(again.Plan.Braked) != 3 || again.Holding != 3 {
		t.Errorf("again: wrote %q, %+v %v", w.writes, again, err)
	}
	// A restore after the time limit extends the brakes. If it released them first, the
	// autoscalers would lower idle workloads within seconds.
	w.now = w.now.Add(4 * time.Hour)
	late, err := w.restore().Run(t.Context(), w.tree())
	if err != nil || late.Err() != nil || len(w.writes) != 3 || len(late.Released) > 0 {
		t.Errorf("late: wrote %q, %+v %v", w.writes, late, err)
	}
	w.now = w.now.Add(5 * time.Hour)
	expired, err := w.restore().Release(t.Context(), true)
	if err != nil || len(expired.Released) != 3 || !same(w.scalers, newWorld().scalers) {
		t.Errorf("after the last one: %+v %v", expired, err)
	}
}

// Autoscalers lower the idle workloads of a rebuilt cluster after their scale-down
// window, even if they were created at their levels. A restore within the window has
// nothing to raise, and its brakes keep the levels. A restore after it raises.
func TestARestoreAndTheScaleDownWindow(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		w := newWorld()
		w.window = w.now.Add(5 * time.Minute)
		for id, one := range w.live {
			one.Replicas = 100
			one.Ready = 100
			w.live[id] = one
		}
		raised := 0
		if late {
			w.now = w.window
			raised = 3
		}
		report, err := w.restore().Run(t.Context(), w.tree())
		if err != nil || report.Err() != nil || len(report.Raised) != raised || len(report.Brakes) != 3 {
			t.Errorf("late %t: wrote %q, %+v, %v", late, w.writes, report, err)
		}
		w.holds(t, fmt.Sprintf("late %t", late))
	}
}

// A restore brakes a workload at its level, above it or at its maximum, and no workload
// that it skips.
func TestARestoreBrakesEveryWorkloadWithALevel(t *testing.T) {
	t.Parallel()
	w := fullWorld()
	report, err := w.restore().Run(t.Context(), w.tree())
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	if len(report.Plan.Braked) != 3 || len(report.Brakes) != 6 || len(report.Raised) != 4 || len(report.Left) != 1 || report.Left[0].Reason != plan.AtMax {
		t.Errorf("%+v", report)
	}
	w.holds(t, "after")
	w.writes = nil
	again, err := w.restore().Run(t.Context(), w.tree())
	if err != nil || again.Err() != nil || len(w.writes) > 0 || len(again.Plan.Braked) != 7 || again.Holding != 6 {
		t.Errorf("a second restore wrote %q, %+v %v", w.writes, again, err)
	}
	w.now = w.now.Add(90 * time.Minute)
	again, err = w.restore().Run(t.Context(), w.tree())
	if err != nil || again.Err() != nil || len(w.writes) != 6 || again.Brakes[0].Outcome != brake.Extended {
		t.Errorf("a late restore wrote %q, %+v %v", w.writes, again, err)
	}

	for reason, change := range map[plan.Reason]func(*plan.Workload){
		plan.Suspended:   func(w *plan.Workload) { w.Replicas = 0 },
		plan.Terminating: func(w *plan.Workload) { w.Terminating = true },
		plan.OptedOut:    func(w *plan.Workload) { w.OptOut = true },
		plan.Unknown:     func(w *plan.Workload) { w.Unknown = "has no number" },
		plan.Fixed:       func(w *plan.Workload) { w.Scalers[0].Fixed = "paused" },
		plan.Absent:      nil,
	} {
		w := fullWorld()
		tree := w.tree()
		w.change(reachedID, change)
		report, err := w.restore().Run(t.Context(), tree)
		if err != nil || report.Err() != nil || len(report.Left) != 2 || report.Left[1].Reason != reason {
			t.Errorf("%s: %+v %v", reason, report.Left, err)
		}
		if slices.Contains(w.writes, "brake horizontalpodautoscaler shop/reached") || len(report.Brakes) != 5 {
			t.Errorf("%s: wrote %q", reason, w.writes)
		}
	}
}

// A runbook may name a namespace that has gone since.
func TestANamespaceThatGitDeclaresNothingOfStopsNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.restore()
	r.Options.Namespaces = []string{"shpo", "shop"}
	report, err := r.Run(t.Context(), w.tree())
	if want := "namespace shpo: git has no level in it. Name one of shop"; err != nil || report.Err() == nil || report.Err().Error() != want || len(report.Problems) > 0 {
		t.Errorf("%v, %v; want %s", err, report.Err(), want)
	}
	w.holds(t, "the others")
}

// A policy that cannot be read names no kinds: the other workloads are restored, and
// the report has the error.
func TestAPolicyThatCannotBeReadStopsNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.restore()
	r.Policy = errors.New("gitlatch.yaml:3: mode: unknown")
	report, err := r.Run(t.Context(), w.tree())
	if want := "gitlatch.yaml:3: mode: unknown"; err != nil || report.Err() == nil || report.Err().Error() != want {
		t.Errorf("%v, %v; want %s", err, report.Err(), want)
	}
	w.holds(t, "the others")
}

// A brake of years is a mistyped value, for any user.
func TestABrakeThatWouldBeForgottenIsNotSet(t *testing.T) {
	t.Parallel()
	for hold, ok := range map[time.Duration]bool{0: false, time.Second: false, time.Minute: true, 168 * time.Hour: true, 169 * time.Hour: false, 99999 * time.Hour: false} {
		w := newWorld()
		r := w.restore()
		r.Hold = hold
		if _, err := r.Run(t.Context(), w.tree()); (err == nil) != ok || (len(w.writes) > 0) != ok {
			t.Errorf("%s: %v, wrote %q", hold, err, w.writes)
		}
	}
}

func TestADryRunWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.restore()
	r.DryRun = true
	report, err := r.Run(t.Context(), w.tree())
	if err != nil || len(w.writes) > 0 || len(report.Plan.Waves) != 3 {
		t.Errorf("wrote %q, %+v %v", w.writes, report.Plan, err)
	}
	if _, err := w.restore().Run(t.Context(), w.tree()); err != nil {
		t.Fatal(err)
	}
	w.writes = nil
	released, err := r.Release(t.Context(), false)
	if err != nil || len(w.writes) > 0 || len(released.Released) != 3 {
		t.Errorf("wrote %q, %+v %v", w.writes, released, err)
	}
}

// A run is killed before and after each of its writes in turn, and once more while it
// releases. From any state that it leaves, the next run reaches the same end.
func TestARunThatDiesAnywhereIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			when := fmt.Sprintf("killed at write %d, after it: %t", at, after)
			w := fullWorld()
			w.killAt, w.after = at, after
			_, _ = w.restore().Run(t.Context(), w.tree())
			if !w.dead {
				_, _ = w.restore().Release(t.Context(), false)
			}
			if !w.dead {
				break
			}
			w.killAt = 0
			for name, o := range w.scalers {
				if _, noted := brake.Find(plan.Scaler{}, *o); !noted && !same(map[string]*brake.Object{name: o}, map[string]*brake.Object{name: fullWorld().scalers[name]}) {
					t.Errorf("%s: %s changed without a note", when, name)
				}
			}
			kinds[strings.Fields(w.writes[len(w.writes)-1])[0]] = true
			report, err := w.restore().Run(t.Context(), w.tree())
			if err != nil || report.Err() != nil {
				t.Errorf("%s: %v %v", when, err, report.Err())
			}
			w.holds(t, when)
			if _, err := w.restore().Release(t.Context(), false); err != nil || !same(w.scalers, fullWorld().scalers) {
				t.Errorf("%s: released to %+v, %v", when, w.scalers, err)
			}
		}
	}
	if !kinds["brake"] || !kinds["raise"] || !kinds["release"] || !kinds["killed"] {
		t.Errorf("it died only at %v", kinds)
	}
}

func TestADeadlineStopsCleanlyAndTheNextRunGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.restore()
	r.Until = w.now.Add(7 * time.Second)
	report, err := r.Run(t.Context(), w.tree())
	if err != nil || !report.Stopped || len(report.Unfinished) == 0 || report.Err() == nil || !strings.Contains(report.Err().Error(), "again to continue") {
		t.Fatalf("%+v %v", report, err)
	}
	if w.now.After(r.Until) {
		t.Errorf("it went on until %s", w.now)
	}
	var table strings.Builder
	if err := report.Table(&table, plain); err != nil || !strings.Contains(table.String(), "room for these pods, run gitlatch doctor.\n") {
		t.Errorf("%v\n%s", err, table.String())
	}
	report, err = w.restore().Run(t.Context(), w.tree())
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	w.holds(t, "after")
}

func TestWhatCannotBeBrakedIsNotRaised(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.scalers["horizontalpodautoscaler shop/web"].Annotations[brake.Annotation] = "mine"
	report, err := w.restore().Run(t.Context(), w.tree())
	if err != nil || report.Err() == nil || !strings.Contains(report.Err().Error(), "shop/deployment/web is not raised") {
		t.Errorf("%v %v", err, report.Err())
	}
	if wrote := strings.Join(w.writes, ", "); strings.Contains(wrote, "raise shop/web") || !strings.Contains(wrote, "raise shop/api") {
		t.Error(wrote)
	}
}

// A brake is tried again like a raise, also in a run without raises.
func TestABrakeThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	const brakes = "brake horizontalpodautoscaler shop/reached"
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "horizontalpodautoscalers"}, "reached", errors.New("no"))
	for name, c := range map[string]struct {
		err      error
		passes   bool
		problems int
	}{"a short outage": {errors.New("etcd timed out"), true, 0}, "a long outage": {errors.New("etcd timed out"), false, 1}, "no rights": {forbidden, false, 1}} {
		w := fullWorld()
		w.live = map[workload.ID]plan.Workload{reachedID: w.live[reachedID]}
		w.refuse = map[string]error{brakes: c.err}
		r := w.restore()
		wait := r.Wait
		r.Wait = func(ctx context.Context, d time.Duration) {
			if wait(ctx, d); c.passes {
				w.refuse = nil
			}
		}
		report, err := r.Run(t.Context(), w.tree())
		if err != nil || len(report.Problems) != c.problems || len(report.Brakes) != 1-c.problems {
			t.Errorf("%s: %v, %+v", name, err, report)
		}
		if c.problems > 0 && !strings.HasSuffix(report.Problems[0].Error(), "; its autoscaler may lower shop/deployment/reached") {
			t.Errorf("%s: %v", name, report.Problems)
		}
	}
}

func TestADeadlineStopsTheBrakes(t *testing.T) {
	t.Parallel()
	w := fullWorld()
	w.braked = func(plan.Scaler) { w.now = w.now.Add(10 * time.Second) }
	r := w.restore()
	r.Until = w.now.Add(15 * time.Second)
	report, err := r.Run(t.Context(), w.tree())
	if err != nil || len(report.Brakes) != 2 || len(report.Raised) > 0 || !report.Stopped || len(report.Problems) > 0 {
		t.Errorf("%v, %+v", err, report)
	}
}

// A user with write access to an autoscaler may write an invalid note. The report names
// it. It does not fail the release, which runs all day, or the other brakes.
func TestANoteThatIsNoneFailsNothing(t *testing.T) {
	t.Parallel()
	for name, note := range map[string]string{
		"words":              "mine",
		"no end":             `{"replaced":null}`,
		"replaced words":     `{"until":"2026-03-01T00:00:00Z","replaced":"mine"}`,
		"replaced no policy": `{"until":"2026-03-01T00:00:00Z","replaced":{"scaleDown":{"selectPolicy":"Mine"}}}`,
		"replaced a list":    `{"until":"2026-03-01T00:00:00Z","replaced":[1]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			for _, name := range []string{"horizontalpodautoscaler shop/web", "horizontalpodautoscaler shop/api"} {
				w.scalers[name].Behavior = json.RawMessage(`{"scaleDown":{"selectPolicy":"Disabled"}}`)
				w.scalers[name].Annotations[brake.Annotation] = note
			}
			w.scalers["horizontalpodautoscaler shop/api"].Annotations[brake.Annotation] = `{"until":"2026-03-01T00:00:00Z","replaced":null}`
			report, err := w.restore().Release(t.Context(), true)
			if err != nil || report.Err() != nil {
				t.Fatal(err, report.Err())
			}
			if len(report.Notices) != 1 || !strings.Contains(report.Notices[0], "shop/web: annotation gitlatch.dev/brake cannot be parsed") {
				t.Errorf("notices %q", report.Notices)
			}
			if len(report.Released) != 1 || report.Released[0].Scaler.Name != "api" {
				t.Errorf("released %+v", report.Released)
			}
		})
	}
}

func TestARefusedRaiseDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "deployments/scale"}, "web", errors.New("no"))
	for name, c := range map[string]struct {
		err  error
		said bool
	}{"forbidden": {forbidden, true}, "a quarrel": {errors.New("try again"), true}} {
		w := newWorld()
		w.refuse = map[string]error{"raise shop/web": c.err}
		report, err := w.restore().Run(t.Context(), w.tree())
		if err != nil || len(report.Problems) != 1 || len(report.Unfinished) != 1 || report.Unfinished[0].ID.Name != "web" {
			t.Errorf("%s: %v %+v", name, err, report)
		}
		if got := len(report.Raised); got != 2 {
			t.Errorf("%s: %d were raised", name, got)
		}
	}
}

// KEDA before 2.18.0 does not know the annotation of a brake.
func TestABrakeThatKEDAIgnoresIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.ignores = true
	report, err := w.restore().Run(t.Context(), w.tree())
	const want = "scaledobject shop/mail: KEDA does not apply the brake to its HPA keda-hpa-mail, so it may scale down. Use KEDA 2.18.0 or later, and check that its operator runs"
	if err != nil || report.Err() == nil || report.Err().Error() != want {
		t.Errorf("got %v, %v", err, report.Err())
	}
}

// Argo CD heals an HPA to the selectPolicy in git, and keeps the annotation. Another tool
// replaces the entire object.
func TestALostBrakeIsReportedWithItsManager(t *testing.T) {
	t.Parallel()
	const name, after = "horizontalpodautoscaler shop/web", 40 * time.Second
	for _, c := range []struct {
		owner string
		lose  func(*brake.Object)
		want  string
	}{
		{"argocd-controller", func(o *brake.Object) { o.Behavior = json.RawMessage(`{"scaleDown":{"selectPolicy":"Max"}}`) },
			name + `: argocd-controller removed the brake, so it may scale down. Suspend argocd-controller, or remove spec.behavior.scaleDown.selectPolicy from its manifest, and run "gitlatch restore" again`},
		{"", func(o *brake.Object) { *o = brake.Object{Kind: plan.HPA, Annotations: map[string]string{}} },
			name + `: something removed the brake, so it may scale down. Suspend the tool that applies it, or remove spec.behavior.scaleDown.selectPolicy from its manifest, and run "gitlatch restore" again`},
	} {
		for _, wait := range []time.Duration{0, restore.WaitFor} {
			w := fullWorld()
			start := w.now
			tree := w.later(start.Add(4 * time.Minute))
			lost := false
			r := w.restore()
			r.WaitFor = wait
			pass := r.Wait
			r.Wait = func(ctx context.Context, d time.Duration) {
				pass(ctx, d)
				if lost || w.now.Sub(start) < after {
					return
				}
				lost = true
				c.lose(w.scalers[name])
				w.change(webID, func(one *plan.Workload) { one.Scalers[0].Owner = c.owner })
			}
			var said []string
			r.Say = func(line string) { said = append(said, w.now.Sub(start).String()+" "+line) }
			report, err := r.Run(t.Context(), tree)
			if err != nil || len(report.Problems) != 1 || report.Problems[0].Error() != c.want {
				t.Errorf("%v, got %v\nwant %s", err, report.Problems, c.want)
			}
			if puts := lists.Count(w.writes, func(what string) bool { return what == "brake "+name }); puts != 1 {
				t.Errorf("it was set %d times", puts)
			}
			early := slices.ContainsFunc(said, func(line string) bool { return strings.HasPrefix(line, "1m") && strings.HasSuffix(line, c.want) })
			if took := w.now.Sub(start); wait == 0 && (took < time.Minute || took > 2*time.Minute) || early != (wait > 0) {
				t.Errorf("it took %s, said %q", took, said)
			}
			released, err := w.restore().Release(t.Context(), false)
			outcomes := map[string]brake.Outcome{}
			for _, b := range released.Released {
				outcomes[b.Scaler.Name] = b.Outcome
			}
			if err != nil || outcomes["api"] != brake.Released || c.owner != "" && outcomes["web"] != brake.Changed {
				t.Errorf("%v %v", outcomes, err)
			}
		}
	}
}

// The run does not wait to read its brakes again if it set none, and not beyond its
// deadline.
func TestTheRecheckOfBrakes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		until   time.Duration
		stopped bool
		took    time.Duration
	}{
		"a first run":         {0, false, time.Minute},
		"another run":         {0, false, 0},
		"an early deadline":   {30 * time.Second, true, 30 * time.Second},
		"a deadline after it": {2 * time.Minute, false, time.Minute},
	} {
		w := fullWorld()
		w.live = map[workload.ID]plan.Workload{reachedID: w.live[reachedID]}
		r := w.restore()
		if name == "another run" {
			if _, err := r.Run(t.Context(), w.tree()); err != nil {
				t.Fatal(err)
			}
		}
		start := w.now
		if c.until > 0 {
			r.Until = start.Add(c.until)
		}
		report, err := r.Run(t.Context(), w.tree())
		if took := w.now.Sub(start); err != nil || report.Stopped != c.stopped || len(report.Problems) > 0 || took != c.took {
			t.Errorf("%s: %v after %s, %+v", name, err, took, report)
		}
	}
	// An autoscaler that is gone needs no brake.
	w := newWorld()
	r := w.restore()
	r.Wait = func(_ context.Context, d time.Duration) {
		w.now = w.now.Add(d)
		w.change(webID, func(one *plan.Workload) { one.Scalers = nil })
		delete(w.scalers, "horizontalpodautoscaler shop/web")
	}
	if report, err := r.Run(t.Context(), w.tree()); err != nil || report.Err() != nil {
		t.Errorf("%v, %v", err, report.Err())
	}
}

func TestAReleaseChecksTheHPAOfKEDA(t *testing.T) {
	t.Parallel()
	const notice = "scaledobject shop/mail: its HPA keda-hpa-mail still does not scale down. Either the KEDA operator does not run, or it is older than 2.18.2 " +
		"and leaves selectPolicy at Disabled. Start or upgrade the operator, or run\n" +
		`kubectl patch hpa keda-hpa-mail -n shop --type=merge -p '{"spec":{"behavior":{"scaleDown":{"selectPolicy":"Max"}}}}'`
	for name, c := range map[string]struct {
		stale, until time.Duration
		change       func(*world, *restore.Restore)
		want         string
		took         time.Duration
	}{
		"KEDA 2.18.2":        {stale: 10 * time.Second, took: 10 * time.Second},
		"KEDA before 2.18.2": {stale: time.Hour, want: notice, took: 30 * time.Second},
		"until the deadline": {stale: time.Hour, until: 12 * time.Second, want: notice, took: 12 * time.Second},
		"a dry run":          {stale: time.Hour, change: func(_ *world, r *restore.Restore) { r.DryRun = true }},
		"a brake that a user released": {stale: time.Hour, change: func(w *world, _ *restore.Restore) {
			w.scalers["scaledobject shop/mail"].Annotations[brake.PausedScaleIn] = "false"
		}},
	} {
		w := newWorld()
		r := w.restore()
		if _, err := r.Run(t.Context(), w.tree()); err != nil {
			t.Fatal(err)
		}
		start := w.now
		w.stale = start.Add(c.stale)
		if c.until > 0 {
			r.Until = start.Add(c.until)
		}
		if c.change != nil {
			c.change(w, r)
		}
		report, err := r.Release(t.Context(), false)
		if err != nil || report.Err() != nil || len(report.Released) != 3 || strings.Join(report.Notices, ", ") != c.want || w.now.Sub(start) != c.took {
			t.Errorf("%s: %v after %s, %+v", name, err, w.now.Sub(start), report)
		}
	}
}

func TestWhatGitStatesIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for id, one := range w.live {
		if id.Name == "web" {
			one.Scalers = []plan.Scaler{one.Scalers[0]}
			one.Scalers[0].Owner = "flux"
			w.live[id] = one
		}
	}
	r := w.restore()
	r.DryRun = true
	report, err := r.Run(t.Context(), w.tree())
	if err != nil || len(report.Notices) != 1 || !strings.Contains(report.Notices[0], "flux sets the same fields as the brake, and may undo it") {
		t.Errorf("%v %q", err, report.Notices)
	}
}

// A restore raises the primary of a workload that Flagger promotes.
func TestAPrimaryIsRaisedForItsTarget(t *testing.T) {
	t.Parallel()
	w := newWorld()
	web := w.live[webID]
	tree := w.tree()
	web.Primary = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web-primary"}
	w.live[webID] = web
	report, err := w.restore().Run(t.Context(), tree)
	if err != nil || report.Err() != nil {
		t.Fatal(err, report.Err())
	}
	if !slices.Contains(w.writes, "raise shop/web-primary") || slices.Contains(w.writes, "raise shop/web") || !slices.Contains(w.writes, "raise shop/api") {
		t.Errorf("wrote %q", w.writes)
	}
}

var reachedID = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "reached"}

var webID = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}

var plain = term.Style{}

func TestTheTableListsBrakesAndRaises(t *testing.T) {
	t.Parallel()
	w := fullWorld()
	r := w.restore()
	r.DryRun = true
	report, err := r.Run(t.Context(), w.tree())
	var table strings.Builder
	if err := errors.Join(err, report.Table(&table, plain)); err != nil {
		t.Fatal(err)
	}
	const want = `WAVE           WORKLOAD      REPLICAS  TO            BRAKES
-              shop/above    120       120           hpa/above
-              shop/capped   50        50 (maximum)  hpa/capped
-              shop/reached  100       100           hpa/reached
1 priority 20  shop/mail     1         100           scaledobject/mail
2 priority 10  shop/web      1         100           hpa/web
3 priority 0   shop/api      1         100           hpa/api
3 priority 0   shop/manual   1         100           no autoscaler
not raised: shop/capped has 50 replicas. Its maximum is 50 and its level 100
The restore would add 396 pods to 4 workloads in 3 waves, and set 6 brakes; already at the level or above: 2 workloads.
Nothing was written. To make these changes, run the command again with --yes.
`
	if table.String() != want {
		t.Errorf("got\n%s", &table)
	}
}

// An autoscaler that appears while the run waits to read its brakes again gets a brake, and
// the run reads that one again as well. One that appears with the last sample is reported.
func TestAnAutoscalerThatAppearsAtTheEnd(t *testing.T) {
	t.Parallel()
	manual := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "manual"}
	added := plan.Scaler{Kind: plan.HPA, Namespace: "shop", Name: "manual"}
	for name, c := range map[string]struct {
		at   func(w *world, r *restore.Restore, appear func())
		took time.Duration // from its appearance, or from its brake
		want string
	}{
		"while it waits": {func(w *world, r *restore.Restore, appear func()) {
			r.Say = func(line string) {
				if strings.Contains(line, "to check whether something removes the brakes") {
					appear()
				}
			}
		}, restore.Recheck, ""},
		"with the last sample": {func(w *world, r *restore.Restore, appear func()) {
			if _, err := r.Run(t.Context(), w.tree()); err != nil {
				t.Fatal(err)
			}
			left := 2 // a run without writes takes two samples
			w.look = func() {
				if left--; left == 0 {
					appear()
				}
			}
		}, 0, `horizontalpodautoscaler shop/manual appeared after the restore set its brakes, so it may scale down. Run "gitlatch restore" again`},
	} {
		w := fullWorld()
		r := w.restore()
		var since time.Time
		w.braked = func(s plan.Scaler) {
			if s == added {
				since = w.now
			}
		}
		c.at(w, r, sync.OnceFunc(func() {
			since = w.now
			w.scalers[added.String()] = &brake.Object{Kind: plan.HPA, Annotations: map[string]string{}}
			w.change(manual, func(one *plan.Workload) { one.Scalers = []plan.Scaler{added} })
		}))
		report, err := r.Run(t.Context(), w.tree())
		got := ""
		if report.Err() != nil {
			got = report.Err().Error()
		}
		if err != nil || since.IsZero() || got != c.want || w.now.Sub(since) != c.took {
			t.Errorf("%s: %v, %q after %s", name, err, got, w.now.Sub(since))
		}
		if c.want == "" {
			w.holds(t, name)
		}
	}
}
