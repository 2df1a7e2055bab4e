package latch_test

import (
	"fmt"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Each set of latches that a stopped save had written or dropped has a different
// checksum.
func TestChecksumTellsEachStoppedSave(t *testing.T) {
	t.Parallel()
	const workloads, states = 6, 4 // of each: unchanged, saved once, saved twice, dropped
	seen := map[int64]string{}
	for n, all := 0, 1<<(2*workloads); n < all; n++ {
		latches := map[workload.ID]latch.Latch{}
		name := ""
		for i := range workloads {
			state := n >> (2 * i) % states
			name += fmt.Sprint(state)
			l := latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprint("web-", i)}, Declared: checkpoint.Entry{Replicas: 1}, Rev: int64(4 + i + state)}
			if state < states-1 {
				latches[l.ID] = l
			}
		}
		sum := latch.LatchesOf(latches).Checksum()
		if other, is := seen[sum]; is {
			t.Fatalf("latches %s and %s have the same checksum", other, name)
		}
		seen[sum] = name
	}
	if latch.LatchesOf(nil).Checksum() != 0 {
		t.Error("the checksum of no latches is that of a site without a state")
	}
}

// The checksum of changed latches is the checksum of the latches that a save of the
// changes leaves in the table.
func TestChecksumIsTheOneAfterTheSave(t *testing.T) {
	t.Parallel()
	named := func(name string, replicas int32, rev int64) latch.Latch {
		return latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}, Declared: checkpoint.Entry{Replicas: replicas}, Rev: rev}
	}
	byID := func(all ...latch.Latch) map[workload.ID]latch.Latch {
		m := map[workload.ID]latch.Latch{}
		for _, one := range all {
			m[one.ID] = one
		}
		return m
	}
	loaded := latch.LatchesOf(byID(named("stays", 1, 4), named("changes", 1, 7), named("leaves", 1, 2), named("returns", 1, 3)))
	now := loaded.With(byID(named("changes", 5, 7), named("leaves", 0, 2), named("new", 2, 0), named("passes", 2, 0), named("returns", 9, 3)))
	now = now.With(byID(named("passes", 0, 0), named("returns", 1, 3)))
	saved := latch.LatchesOf(byID(named("stays", 1, 4), named("changes", 5, 8), named("new", 2, 1), named("returns", 1, 3)))
	if now.Checksum() != saved.Checksum() {
		t.Error("the checksum differs from the checksum after the save")
	}
	if loaded.Checksum() == saved.Checksum() {
		t.Error("the checksum is the same before and after the save")
	}
}
