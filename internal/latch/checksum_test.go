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
