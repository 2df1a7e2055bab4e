package latchtest

import (
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var errStopped = errors.New("the process is dead")

// RunHalfway stops a save before each of its writes in turn, in a store that writes the
// latches and the head one after the other. open returns a store without state. The store
// calls before ahead of each write, and fails with its error.
func RunHalfway(t *testing.T, open func(t *testing.T, before func() error) latch.Store) {
	t.Helper()
	for writes := int64(0); ; writes++ {
		armed, left := atomic.Bool{}, atomic.Int64{}
		s := store{open(t, func() error {
			if armed.Load() && left.Add(-1) < 0 {
				return errStopped
			}
			return nil
		})}
		lease := s.acquire(t, "prod", "a", noon, noon.Add(minute))
		first := []latch.Latch{latchOf("a", 1), latchOf("b", 2), latchOf("c", 5)}
		saved := s.save(t, lease, latch.Head{At: noon, Latches: checksumOf(first, 1)}, first)
		_, before := s.load(t, "prod")

		left.Store(writes)
		armed.Store(true)
		head := latch.Head{At: noon.Add(minute), Latches: checksumOf(saved[:2], 1)}
		err := s.Save(t.Context(), lease, head, saved[:2], []workload.ID{saved[2].ID})
		armed.Store(false)

		stored, latches, loadErr := latch.Load(t.Context(), s, "prod")
		if loadErr != nil {
			t.Fatal(loadErr)
		}
		agrees := stored.Latches == checksumOf(slices.Collect(maps.Values(latches)), 0)
		if err == nil {
			if !agrees || !stored.At.Equal(noon.Add(minute)) || writes < 4 {
				t.Errorf("a save of %d writes: head %+v, latches %+v", writes, stored, latches)
			}
			return
		}
		if !stored.At.Equal(noon) {
			t.Errorf("stopped after %d writes: the head is written before the last latch", writes)
		}
		if written := checksumOf(before, 0) != checksumOf(slices.Collect(maps.Values(latches)), 0); written == agrees || written != (writes > 0) {
			t.Errorf("stopped after %d writes: latches were written: %v, the head agrees with the latches: %v", writes, written, agrees)
		}
	}
}

// checksumOf returns the checksum of latches after the given number of saves.
func checksumOf(latches []latch.Latch, saves int64) (sum int64) {
	for _, l := range latches {
		l.Rev += saves
		sum += l.Checksum()
	}
	return sum
}
