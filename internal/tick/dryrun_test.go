package tick_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	latchmem "github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A dry run reports the commit that a tick would make. It does not change git, the
// state, or the lease, which another tick may have.
func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"})
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

// A dry run without state, for example on a laptop, uses the last version of a policy that
// users removed, if the site has checkpoint files.
func TestDryRunWithoutStateUsesTheLastPolicy(t *testing.T) {
	t.Parallel()
	for name, ticks := range map[string]int{"checkpoint files": 2, "no checkpoint files": 0} {
		w := newWorld(map[string]string{"gitlatch.yaml": latching, "app.yaml": "a: b\n"})
		w.scale("shop/web", 87)
		w.ticks(ticks)
		w.Repository.Edit("remove the policy", w.Now, map[string][]byte{"gitlatch.yaml": nil})
		w.Store = latchmem.New()
		report, err := w.Tick(func(t *tick.Tick) { t.DryRun = true })
		if latched := report.Set.Latch; err != nil || latched != (ticks > 0) {
			t.Errorf("%s: its policy latches: %v, error %v", name, latched, err)
		}
	}
}

// A dry run reports the proposal that a tick would open, update or close, and changes none.
func TestDryRunOfAProposal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		before func(w *world)
		want   int32 // the proposed level; 0 without one
	}{
		{"opened", func(*world) {}, 100},
		{"updated", func(w *world) {
			w.ticks(1)
			w.scale("shop/web", 180)
			w.ticks(1)
		}, 200},
		{"closed", func(w *world) {
			w.ticks(1)
			pause := tick.Amendment{PauseUntil: w.Now.Add(time.Hour), Workloads: []workload.ID{id("shop/web")}}
			if err := tick.Amend(context.Background(), w.Store, site, "person", w.Now, period, pause); err != nil {
				panic(err)
			}
		}, 0},
		{"up to date", func(w *world) { w.ticks(1) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(map[string]string{"gitlatch.yaml": latching})
			w.Host, w.Propose = true, true
			w.scale("shop/web", 87)
			w.ticks(1)
			c.before(w)
			open, before := w.openProposal(), state(t, w)
			w.Now = w.Now.Add(period)
			report, err := w.Tick(func(t *tick.Tick) { t.DryRun = true })
			if err != nil {
				t.Fatal(err)
			}
			var got int32
			if p := report.Proposal; p != nil {
				if p.URL != "" || p.Message == "" || len(p.Changes) != 1 {
					t.Errorf("it reports %+v", p)
				}
				got = p.Changes[0].To.Replicas
			}
			if got != c.want {
				t.Errorf("it would propose %d, want %d", got, c.want)
			}
			if after := w.openProposal(); !reflect.DeepEqual(open, after) || !reflect.DeepEqual(before, state(t, w)) {
				t.Errorf("it changed the proposal or the state: %+v, %+v", open, after)
			}
		})
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
