package tick_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/latchtest"
	latchmem "github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Each amendment changes only its own fields. An amendment of a workload changes only
// the checksum of the latches in the head.
func TestAnAmendmentMovesWhatItSays(t *testing.T) {
	t.Parallel()
	later := morning.Add(3 * time.Hour)
	forgets := func(l *latch.Latch) { l.Recent = nil }
	for name, c := range map[string]struct {
		amendment tick.Amendment
		head      func(*latch.Head)
		latch     func(*latch.Latch)
	}{
		"nothing": {},
		"adopt a cluster": {
			amendment: tick.Amendment{Cluster: "uid-green"},
			head: func(h *latch.Head) {
				h.Cluster, h.Drop = latch.Cluster{UID: "uid-green"}, nil
			},
			latch: forgets,
		},
		"acknowledge a mass drop": {
			amendment: tick.Amendment{Acknowledge: true},
			head:      func(h *latch.Head) { h.Drop = nil },
			latch:     forgets,
		},
		"hold the site": {
			amendment: tick.Amendment{PauseUntil: later},
			head:      func(h *latch.Head) { h.PausedUntil = later },
		},
		"hold a workload": {
			amendment: tick.Amendment{PauseUntil: later, Workloads: []workload.ID{id("shop/web")}},
			latch:     func(l *latch.Latch) { l.PausedUntil = later },
		},
		"ask a workload back in": {
			amendment: tick.Amendment{Latch: true, Workloads: []workload.ID{id("shop/web")}},
			latch: func(l *latch.Latch) {
				l.OptedOut = false
				l.PausedUntil = time.Time{}
				l.GraceUntil = time.Time{}
				l.GraceScale = false
				l.RemovedUntil = time.Time{}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(nil)
			w.Store = latchmem.New()
			lease, err := w.Store.Acquire(t.Context(), site, "before", morning, morning.Add(period))
			if err != nil {
				t.Fatal(err)
			}
			web := latchtest.Full[latch.Latch]()
			web.ID, web.Rev = id("shop/web"), 0
			full := latchtest.Full[latch.Head]()
			saved := web
			saved.Rev = 1
			full.Latches = saved.Checksum()
			if err := w.Store.Save(t.Context(), lease, full, []latch.Latch{web}, nil); err != nil {
				t.Fatal(err)
			}
			if err := w.Store.Release(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			head, one := w.head(t), w.latches(t)[web.ID]
			if c.head != nil {
				c.head(&head)
			}
			if c.latch != nil {
				c.latch(&one)
			}
			if err := tick.Amend(t.Context(), w.Store, site, "person", morning, period, c.amendment); err != nil {
				t.Fatal(err)
			}
			head.Latches = latch.LatchesOf(w.latches(t)).Checksum()
			if got := w.head(t); !reflect.DeepEqual(got, head) {
				t.Errorf("the head is\n%+v\nand should be\n%+v", got, head)
			}
			if got := w.latches(t)[web.ID]; !got.Equal(one) {
				t.Errorf("the latch is\n%+v\nand should be\n%+v", got, one)
			}
		})
	}
}

// An amendment of a workload without a latch is an error, and changes nothing.
func TestAnAmendmentOfAnUnknownWorkload(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": latching})
	w.scale("shop/web", 87)
	w.ticks(1)
	before := state(t, w)
	err := tick.Amend(t.Context(), w.Store, site, "person", w.Now, period, tick.Amendment{
		PauseUntil: w.Now.Add(time.Hour),
		Workloads:  []workload.ID{id("shop/web"), id("shop/other")},
	})
	if err == nil || !strings.Contains(err.Error(), "workload shop/deployment/other: the state has no latch for it") {
		t.Errorf("the error is %v", err)
	}
	if after := state(t, w); !reflect.DeepEqual(before, after) {
		t.Errorf("it changed the state:\nbefore %+v\nafter  %+v", before, after)
	}
	if _, err := w.Store.Acquire(t.Context(), site, "another", w.Now, w.Now.Add(period)); err != nil {
		t.Errorf("it kept the lease: %v", err)
	}
}
