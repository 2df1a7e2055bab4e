package tick_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A dry run reports the commit that a tick would make. It does not change git, the
// state, or the lease, which another tick may have.
func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\ndefault: {acceptRisk: true}\n"})
	id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	w.Fleet[id] = workload.Sample{ID: id, Scale: &workload.Scale{Desired: 87, Ready: 87, Driver: workload.DrivenByHPA}, Rollout: &workload.Rollout{}}
	if _, err := w.Tick(); err != nil {
		t.Fatal(err)
	}
	w.Now = w.Now.Add(period)
	if _, err := w.Store.Acquire(t.Context(), site, "another", w.Now, w.Now.Add(period)); err != nil {
		t.Fatal(err)
	}
	files := maps.Clone(w.Repository.Files())
	before := state(t, w)

	report, err := w.Tick(func(t *tick.Tick) { t.DryRun = true })
	if err != nil {
		t.Fatal(err)
	}
	if c := report.Commit; !report.DryRun || c == nil || c.ID != "" || c.Message == "" || len(c.Changes) != 1 || c.Changes[0].ID != id {
		t.Errorf("does not say what it would commit: %+v", report.Commit)
	}
	if w.Effects != 1 { // the latches are read
		t.Errorf("a dry run has %d effects", w.Effects-1)
	}
	if !maps.Equal(files, w.Repository.Files()) {
		t.Error("a dry run commits")
	}
	if after := state(t, w); !reflect.DeepEqual(before, after) {
		t.Errorf("a dry run moves state:\nbefore %+v\nafter  %+v", before, after)
	}
}

// A tick may save while a dry run samples. The head of the dry run is then older than
// its latches, and its report does not repeat changes that are in git by now.
func TestDryRunBesideATickSaysNothingTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	w.scale("shop/web", 87)
	w.ticks(1)
	report, err := w.Tick(func(t *tick.Tick) { t.DryRun, t.Sampler = true, overtaken{w} })
	if e := w.entries(t)[id("shop/web")]; err != nil || e.Replicas != 100 {
		t.Fatalf("the tick beside it left git at %d, error %v", e.Replicas, err)
	}
	if report.Commit != nil || report.Latches.Get(id("shop/web")).Declared.Replicas != 100 {
		t.Errorf("it would commit %+v, with latches %+v", report.Commit, report.Latches)
	}
}

// overtaken is a sampler that samples after another tick has ended.
type overtaken struct{ *world }

func (o overtaken) Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	_, ticked := o.Tick()
	o.Now = o.Now.Add(time.Second)
	fleet, err := story.Sampler{World: o.World}.Sample(ctx, kinds)
	return fleet, errors.Join(ticked, err)
}

type stored struct {
	head    latch.Head
	latches map[workload.ID]latch.Latch
}

func state(t *testing.T, w *world) stored {
	t.Helper()
	h, l, err := latch.Load(t.Context(), w.Store, site)
	if err != nil {
		t.Fatal(err)
	}
	return stored{h, l}
}
