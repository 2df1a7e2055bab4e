package tick_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A head stores a limited number of differences, the oldest ones, and the number of others.
func TestTheHeadIsSmallForAnyNumberOfDifferences(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"})
	s := &story.Story{World: w.World}
	long := strings.Repeat("a-long-name-", 18)
	run := func(name string, i int) {
		line := fmt.Sprintf("workload shop/%s-%03d 87", name, i)
		must(t, s.Do(line))
	}
	ticks := func(n int) {
		for range n {
			_, err := w.Tick()
			must(t, err)
			w.Now = w.Now.Add(period)
		}
	}
	run("first", 1)
	ticks(3)
	w.Levels.Stopped = true
	w.Levels.Lost["shop/deployment/first-001"] = true
	ticks(12)
	for i := range 500 {
		run(long, i)
	}
	ticks(40)
	head := w.head(t)
	if len(head.Applied.Oldest) != latch.MostDifferences || head.Applied.More != 501-latch.MostDifferences || head.Applied.Oldest[0].Name != "shop/deployment/first-001" {
		t.Errorf("%d differences and %d more, the first is %s", len(head.Applied.Oldest), head.Applied.More, head.Applied.Oldest[0])
	}
	encoded, err := latch.Encode(head)
	if err != nil || len(encoded) > 4<<10 {
		t.Errorf("the head has %d bytes: %v", len(encoded), err)
	}
	if len(head.Open) != 1 || head.Open[0].Title != "levels not applied, at least 20 of 501 differences" || len(head.Open[0].Text) > 4<<10 {
		t.Errorf("%+v", head.Open)
	}
}

// The alert lasts until the cluster has all levels, also those that the memory has no room for.
func TestTheAlertLastsUntilAllIsApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"})
	s := &story.Story{World: w.World}
	ticks := func(n int) {
		for range n {
			_, err := w.Tick()
			must(t, err)
			w.Now = w.Now.Add(period)
		}
	}
	name := func(i int) string { return fmt.Sprintf("shop/web-%03d", i) }
	for i := range 3 * latch.MostDifferences {
		must(t, s.Do("workload "+name(i)+" 87"))
	}
	ticks(3)
	for i := range 3 * latch.MostDifferences {
		w.Levels.Lost["shop/deployment"+strings.TrimPrefix(name(i), "shop")] = true
	}
	ticks(40)
	for _, l := range w.head(t).Applied.Oldest {
		delete(w.Levels.Lost, l.Name)
	}
	ticks(14)
	if head := w.head(t); len(head.Open) != 1 || head.Applied.More != latch.MostDifferences {
		t.Errorf("%d alerts, and %d more differences", len(head.Open), head.Applied.More)
	}
	clear(w.Levels.Lost)
	ticks(14)
	if head := w.head(t); len(head.Open) != 0 || len(head.Applied.Oldest) != 0 {
		t.Errorf("%d alerts, and %d differences", len(head.Open), len(head.Applied.Oldest))
	}
}

// A hanging cluster does not answer until the request is cancelled.
type hanging struct{}

func (hanging) ReadLevels(ctx context.Context) admission.Levels {
	<-ctx.Done()
	return admission.UnreadLevels(admission.Unread[int](ctx.Err().Error()), ctx.Err().Error())
}

// A check that gets no answer is unknown. The tick ends well, and the next check is in an hour.
func TestACheckWithoutAnAnswerDelaysOneTick(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"})
		w.Fleet[id("shop/web")] = workload.Sample{ID: id("shop/web")}
		for i, want := range []time.Duration{20 * time.Second, 0} {
			started := time.Now()
			_, err := w.Tick(func(t *tick.Tick) { t.Levels = hanging{} })
			must(t, err)
			if took := time.Since(started); took != want {
				t.Errorf("tick %d took %s, want %s", i, took, want)
			}
			w.Now = w.Now.Add(period)
		}
		a := w.head(t).Applied
		if !a.At.Equal(morning) || len(a.Unknown) != 1 || a.Unknown[0] != "context deadline exceeded" {
			t.Errorf("%+v", a)
		}
	})
}

// A dry run compares and stores nothing.
func TestADryRunStoresNoCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"})
	report, err := w.Tick(func(t *tick.Tick) { t.DryRun = true })
	must(t, err)
	if report.Head.Applied.At.IsZero() || !w.head(t).Applied.At.IsZero() {
		t.Errorf("the report has %+v, and the state %+v", report.Head.Applied, w.head(t).Applied)
	}
}
