package restore_test

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// change changes a workload as another user would. If by is nil, it deletes the workload.
func (w *world) change(id workload.ID, by func(*plan.Workload)) {
	if by == nil {
		delete(w.live, id)
		return
	}
	one := w.live[id]
	before := one
	one.Scalers = slices.Clone(one.Scalers)
	by(&one)
	if before.Scalers = one.Scalers; !reflect.DeepEqual(one, before) { // autoscalers are separate objects
		one.Version += "'"
	}
	w.live[id] = one
}

// moments are the times after the plan at which someone changes web.
var moments = map[string]func(w *world, r *restore.Restore, change func()){
	"while a wave before it is under way": func(_ *world, r *restore.Restore, change func()) {
		wait := r.Wait
		r.Wait = func(ctx context.Context, d time.Duration) { change(); wait(ctx, d) }
	},
	"as its autoscaler gets the brake": func(w *world, _ *restore.Restore, change func()) {
		w.braked = func(s plan.Scaler) {
			if s.Name == "web" {
				change()
			}
		}
	},
	justRead: func(w *world, _ *restore.Restore, change func()) {
		braked := false
		w.braked = func(s plan.Scaler) { braked = braked || s.Name == "web" }
		w.seen = func(id workload.ID) {
			if braked && id == webID {
				change()
			}
		}
	},
}

const justRead = "after it was read for its raise"

// A user's change to a workload counts until the moment of its raise, exactly as it
// counts for the plan.
func TestWhatAPersonSaysAfterThePlanCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by     func(*plan.Workload) // nil deletes it
		reason plan.Reason          // deletes it if nil
		at     int32                // pods in the end; 0 if the workload is removed
		beside bool                 // the change is in its autoscaler, so no raise can be conditional on it
	}{
		"suspended":        {func(w *plan.Workload) { w.Replicas = 0 }, plan.Suspended, 0, false},
		"opted out":        {func(w *plan.Workload) { w.OptOut = true }, plan.OptedOut, 1, false},
		"capped":           {func(w *plan.Workload) { w.Scalers[0].Max = 7 }, plan.AtMax, 7, true},
		"paused":           {func(w *plan.Workload) { w.Scalers[0].Fixed = "paused" }, plan.Fixed, 1, true},
		"being deleted":    {func(w *plan.Workload) { w.Terminating = true }, plan.Terminating, 1, false},
		"gone":             {nil, plan.Absent, 0, false},
		"of no count":      {func(w *plan.Workload) { w.Unknown = "has no number" }, plan.Unknown, 1, false},
		"raised by others": {func(w *plan.Workload) { w.Replicas, w.Scalers = 120, nil }, "", 120, false},
	} {
		for moment, at := range moments {
			if c.beside && moment == justRead {
				continue
			}
			w := newWorld()
			r, tree := w.restore(), w.tree()
			r.Say = func(line string) {
				if strings.Contains(line, "something else lowered them") {
					t.Errorf("%s %s: %s", name, moment, line)
				}
			}
			at(w, r, sync.OnceFunc(func() { w.change(webID, c.by) }))
			report, err := r.Run(t.Context(), tree)
			if err != nil || report.Err() != nil {
				t.Errorf("%s %s: %v, %v", name, moment, err, report.Err())
			}
			if got := w.live[webID].Replicas; got != c.at {
				t.Errorf("%s %s: it is at %d, want %d; wrote %q", name, moment, got, c.at, w.writes)
			}
			if got := reasons(report); got != c.reason {
				t.Errorf("%s %s: skipped after the plan: %+v, want %q", name, moment, report.Since, c.reason)
			}
			if n := len(report.Raised); n != 2 && c.at != 7 {
				t.Errorf("%s %s: said to be raised: %+v", name, moment, report.Raised)
			}
			for id, other := range w.live {
				if id != webID && other.Replicas != 100 {
					t.Errorf("%s %s: %s is at %d", name, moment, id, other.Replicas)
				}
			}
		}
	}
}

// reasons returns the reasons of the workloads that were left out since the plan.
func reasons(r restore.Report) (all plan.Reason) {
	for _, left := range r.Since {
		all += left.Reason
	}
	return all
}

// A brake is also a write: a workload that a user opted out gets no brake.
func TestWhatAPersonWithdrewGetsNoBrake(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.restore()
	w.braked = func(plan.Scaler) { // the first brake is of another workload, and is slow
		w.now = w.now.Add(restore.Every)
		w.change(webID, func(one *plan.Workload) { one.OptOut = true })
	}
	report, err := r.Run(t.Context(), w.tree())
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := report.Table(&table, term.Style{}); err != nil || !strings.Contains(table.String(), "skipped after the plan: shop/web is opted out by its annotation\n") {
		t.Errorf("%v, said\n%s", err, &table)
	}
	if text, err := json.Marshal(report); err != nil || !strings.Contains(string(text), `"since":[{"workload":"shop/deployment/web","reason":"opted-out","text":"is opted out by its annotation"}]`) {
		t.Errorf("%v, document %s", err, text)
	}
	if wrote := strings.Join(w.writes, ", "); strings.Contains(wrote, "shop/web") || !strings.Contains(wrote, "raise shop/api") {
		t.Error(wrote)
	}
}

// A quarrel is a cluster in which each read for a raise opts a workload out, and each
// sample opts it in again.
type quarrel struct{ *world }

func (q quarrel) See(context.Context, plan.Workload) (map[workload.ID]plan.Workload, error) {
	return map[workload.ID]plan.Workload{webID: {ID: webID, Replicas: 1, OptOut: true}}, nil
}

func TestARunEndsWhereALookAndTheMomentOfARaiseDisagree(t *testing.T) {
	t.Parallel()
	w := newWorld()
	r := w.restore()
	r.Cluster, r.Options.Workloads, r.Until = quarrel{w}, []workload.ID{webID}, w.now.Add(time.Hour)
	report, err := r.Run(t.Context(), w.tree())
	if err != nil || report.Stopped || slices.Contains(w.writes, "raise shop/web") || len(report.Unfinished) != 1 {
		t.Errorf("%+v %v, wrote %q", report, err, w.writes)
	}
}
