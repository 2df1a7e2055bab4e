package dynamo_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/latch/latchtest"
	"github.com/gitlatch/gitlatch/internal/testenv/dynamomem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The store over the table in memory passes the suite of every store.
func TestStoreInMemory(t *testing.T) {
	t.Parallel()
	latchtest.Run(t, func(*testing.T) latch.Store {
		return dynamo.Open(dynamo.Options{Table: "t", Client: &dynamomem.Table{}})
	})
}

// A tick that lost its lease during a save does not delete or overwrite a latch that the
// next owner of the lease wrote. The next owner deleted the latch and wrote it again, so
// that its revision is the one that the first tick read.
func TestWritesYieldToALaterFence(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	latched := latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}}
	id, read := latched.ID, latched
	read.Rev = 1
	theirs := latched
	theirs.GraceUntil = now
	for name, late := range map[string]struct {
		put  []latch.Latch
		drop []workload.ID
	}{
		"deletion": {drop: []workload.ID{id}},
		"write":    {put: []latch.Latch{read}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := &dynamomem.Table{}
			store := dynamo.Open(dynamo.Options{Table: "t", Client: table})
			do := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			first, err := store.Acquire(t.Context(), "prod", "first", now, now.Add(time.Minute))
			do(err)
			do(store.Save(t.Context(), first, latch.Head{}, []latch.Latch{latched}, nil))
			var written dynamomem.Item
			table.Write = func(write func() error) error {
				table.Write = nil
				later := now.Add(2 * time.Minute)
				second, err := store.Acquire(t.Context(), "prod", "second", later, later.Add(time.Minute))
				do(err)
				do(store.Save(t.Context(), second, latch.Head{}, nil, []workload.ID{id}))
				do(store.Save(t.Context(), second, latch.Head{}, []latch.Latch{theirs}, nil))
				written = latchIn(table)
				return write()
			}
			if err := store.Save(t.Context(), first, latch.Head{}, late.put, late.drop); !errors.Is(err, latch.ErrLost) {
				t.Errorf("it returns %v, and not that the lease is lost", err)
			}
			if is := latchIn(table); is == nil || !maps.Equal(is, written) {
				t.Errorf("the latch of the second tick is %v, and was %v", is, written)
			}
		})
	}
}

// latchIn returns the only item that has a revision; nil if no item has one.
func latchIn(table *dynamomem.Table) dynamomem.Item {
	for _, item := range table.Items() {
		if item["rev"] != nil {
			return item
		}
	}
	return nil
}
