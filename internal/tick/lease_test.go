package tick_test

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A tick sleeps until its lease expires. Another tick acquires it, works and releases
// it. The lease is free again, but it is another lease: the first tick must not push
// the result of its earlier reads under it.
func TestALeaseThatAnotherHadInBetween(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	w.scale("shop/web", 87)
	w.ticks(1)
	files, before := maps.Clone(w.Repository.Files()), state(t, w)

	_, err := w.Tick(func(t *tick.Tick) { t.Sampler = sleeper{w} })
	if !errors.Is(err, latch.ErrLost) {
		t.Errorf("the tick ended with %v, want %v", err, latch.ErrLost)
	}
	if got := w.Repository.Files(); !maps.Equal(got, files) {
		t.Errorf("it pushed: %v", got)
	}
	if after := state(t, w); !reflect.DeepEqual(before, after) {
		t.Errorf("it moved state:\nbefore %+v\nafter  %+v", before, after)
	}
	w.ticks(1)
	if e := w.entries(t)[id("shop/web")]; e.Replicas != 100 {
		t.Errorf("the next tick left git at %d", e.Replicas)
	}
}

// sleeper samples, and sleeps until another tick had the lease.
type sleeper struct{ *world }

func (s sleeper) Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	fleet, err := story.Sampler{World: s.World}.Sample(ctx, kinds)
	s.Now = s.Now.Add(period)
	lease, held := s.Store.Acquire(ctx, site, "another", s.Now, s.Now.Add(time.Minute))
	return fleet, errors.Join(err, held, s.Store.Release(ctx, lease))
}

// A queue may deliver a turn twice in a row. Two samples within seconds do not count as a
// sustained need.
func TestATurnThatIsGivenTwiceIsOneSample(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	w.scale("shop/web", 87)
	for n, want := range []string{"", "turn of 2026-03-02T08:05:00Z was taken at 2026-03-02T08:05:01Z", "turn of 2026-03-02T08:05:00Z was taken"} {
		w.Now = morning.Add(period + time.Duration(3*n+1)*time.Second)
		r, err := w.Tick(func(t *tick.Tick) { t.Turn = morning.Add(period) })
		if err != nil || r.Commit != nil || (want == "") != (r.NotRun == "") || !strings.Contains(r.NotRun, want) {
			t.Errorf("try %d: held %q, commit %+v, error %v", n, r.NotRun, r.Commit, err)
		}
	}
	w.Now = morning.Add(2*period + time.Second)
	if r, err := w.Tick(func(t *tick.Tick) { t.Turn = morning.Add(2 * period) }); err != nil || r.Commit == nil {
		t.Errorf("the next turn: commit %+v, error %v", r.Commit, err)
	}
}

// Commits have the instant of their sample: the same tick makes the same commit, and a
// user can compare the log with the live state.
func TestCommitsCarryTheInstantOfTheSample(t *testing.T) {
	t.Parallel()
	for name, propose := range map[string]bool{"": false, "gitlatch/" + site: true} {
		w := newWorld(map[string]string{"gitlatch.yaml": latching})
		w.Host, w.Propose = propose, propose
		w.scale("shop/web", 87)
		w.ticks(1)
		at := w.Now
		w.ticks(3)
		tip, others, err := w.Repository.Heads(t.Context(), "gitlatch/"+site)
		if err != nil {
			t.Fatal(err)
		}
		if propose {
			tip = others[0]
		}
		log, _, err := w.Repository.History(t.Context(), tip, "", 1)
		if err != nil || len(log) != 1 || !log[0].When.Equal(at) {
			t.Errorf("branch %q: %+v, %v, want one of %s", name, log, err, at)
		}
	}
}
