package restore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// holds fails the test unless every workload is at its level, braked, and stays there.
func (w *world) holds(t *testing.T, when string) {
	t.Helper()
	for range 3 {
		live, err := w.Look(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for id, one := range live {
			if one.Replicas != 100 {
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
	// The highest priority comes first, and each brake comes before its raise.
	const want = "brake scaledobject shop/mail, raise shop/mail, brake horizontalpodautoscaler shop/web, raise shop/web, brake horizontalpodautoscaler shop/api, raise shop/api"
	if got := strings.Join(slices.Compact(w.writes), ", "); got != want { // a raise may take more than one step
		t.Errorf("wrote %s\nwant  %s", got, want)
	}
	w.writes = nil
	again, err := w.restore().Run(t.Context(), w.tree())
	if err != nil || again.Err() != nil || len(w.writes) > 0 || again.Plan.Reached != 3 || again.Holding != 3 {
		t.Errorf("again: wrote %q, %+v %v", w.writes, again, err)
	}
	w.now = w.now.Add(4 * time.Hour)
	expired, err := w.restore().Release(t.Context(), true)
	if err != nil || len(expired.Released) != 3 || !same(w.scalers, newWorld().scalers) {
		t.Errorf("after 4 h: %+v %v", expired, err)
	}
}

// Autoscalers lower the idle workloads of a rebuilt cluster after their scale-down
// window, even if they were created at their levels. A restore within the window has
// nothing to raise and sets no brake. A restore after it raises, and its brakes stay.
func TestARestoreAfterTheScaleDownWindow(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.window = w.now.Add(5 * time.Minute)
	for id, one := range w.live {
		one.Replicas = 100
		one.Ready = 100
		w.live[id] = one
	}
	early, err := w.restore().Run(t.Context(), w.tree())
	if err != nil || early.Err() != nil || early.Plan.Reached != 3 || len(w.writes) > 0 {
		t.Errorf("within the window: wrote %q, %+v, %v", w.writes, early, err)
	}
	w.now = w.window
	late, err := w.restore().Run(t.Context(), w.tree())
	if err != nil || late.Err() != nil || len(late.Raised) != 3 || len(late.Braked) != 3 {
		t.Errorf("after the window: %+v, %v", late, err)
	}
	w.holds(t, "after the window")
}

// A runbook may name a namespace that has gone since.
func TestANamespaceThatGitDeclaresNothingOfStopsNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.restore()
	r.Options.Namespaces, r.Options.Order = []string{"shpo", "shop"}, []string{"shpo", "shop"}
	report, err := r.Run(t.Context(), w.tree())
	if want := "namespace shpo: git has no level in it. Name one of shop"; err != nil || report.Err() == nil || report.Err().Error() != want {
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
			w := newWorld()
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
				if _, noted := brake.Find(plan.Scaler{}, *o); !noted && !same(map[string]*brake.Object{name: o}, map[string]*brake.Object{name: newWorld().scalers[name]}) {
					t.Errorf("%s: %s changed without a note", when, name)
				}
			}
			kinds[strings.Fields(w.writes[len(w.writes)-1])[0]] = true
			report, err := w.restore().Run(t.Context(), w.tree())
			if err != nil || report.Err() != nil {
				t.Errorf("%s: %v %v", when, err, report.Err())
			}
			w.holds(t, when)
			if _, err := w.restore().Release(t.Context(), false); err != nil || !same(w.scalers, newWorld().scalers) {
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

func TestAPersonWhoUndoesABrakeIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.restore()
	wait := r.Wait
	r.Wait = func(ctx context.Context, d time.Duration) {
		wait(ctx, d)
		o := w.scalers["horizontalpodautoscaler shop/web"]
		if f, _ := brake.Find(plan.Scaler{}, *o); f.Holds {
			o.Behavior = json.RawMessage(`{"scaleDown":{"selectPolicy":"Max"}}`)
		}
	}
	report, err := r.Run(t.Context(), w.tree())
	if err != nil || len(report.Notices) != 1 || !strings.Contains(report.Notices[0], "shop/web: a user removed its brake") {
		t.Errorf("%v %q", err, report.Notices)
	}
	released, err := w.restore().Release(t.Context(), false)
	outcomes := map[string]brake.Outcome{}
	for _, b := range released.Released {
		outcomes[b.Scaler.Name] = b.Outcome
	}
	if err != nil || outcomes["web"] != brake.Changed || outcomes["api"] != brake.Released {
		t.Errorf("%v %v", outcomes, err)
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

var webID = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
