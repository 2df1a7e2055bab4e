package policy

import (
	"math"
	"sort"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Thresholds returns the counts between which a latch is quiet: the largest
// that does not ask for a raise, math.MaxInt32 where none does because the latch
// is at its upper bound, and the largest that allows a lowering, 0 where none
// does because the latch is at its floor. Counts are pods; of the
// scale only what bears on rounding is looked at, not its count.
func Thresholds(p Policy, declared checkpoint.Entry, s workload.Scale) (raiseAbove, lowerAt int32) {
	of := newScale(p, acceptedBounds(p, declared, s), s)
	// Both are monotone in the count, so the first that is too much divides them.
	first := func(tooMuch func(count int32) bool) int32 {
		return int32(sort.Search(math.MaxInt32, func(i int) bool { return tooMuch(int32(i) + 1) }))
	}
	raiseAbove = first(func(count int32) bool { return of.exceeds(count, declared.Replicas) })
	lowerAt = first(func(count int32) bool { return of.lowered(count) >= declared.Replicas })
	return raiseAbove, lowerAt
}
