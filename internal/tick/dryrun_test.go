package tick_test

import (
	"maps"
	"reflect"
	"testing"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A dry run says what a tick would commit, and has no effect: not on git, not
// on the state, not on the lease, which another may hold.
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
	if w.Effects != 0 {
		t.Errorf("a dry run has %d effects", w.Effects)
	}
	if !maps.Equal(files, w.Repository.Files()) {
		t.Error("a dry run commits")
	}
	if after := state(t, w); !reflect.DeepEqual(before, after) {
		t.Errorf("a dry run moves state:\nbefore %+v\nafter  %+v", before, after)
	}
}

type stored struct {
	head    latch.Head
	latches map[workload.ID]latch.Latch
}

func state(t *testing.T, w *world) stored {
	t.Helper()
	h, l, err := w.Store.Load(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	return stored{h, l}
}
