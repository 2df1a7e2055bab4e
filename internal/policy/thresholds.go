package policy

import (
	"math"
	"sort"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Thresholds returns the counts, in pods, between which a latch is quiet. raiseAbove
// is the largest count without a raise: math.MaxInt32 at the upper bound. lowerAt is
// the largest count that allows a lowering: 0 at the floor. The scale's own
// count does not matter.
func Thresholds(p Policy, declared checkpoint.Entry, s workload.Scale) (raiseAbove, lowerAt int32) {
	r := newRounding(p, acceptedBounds(p, declared, s), s)
	// Both conditions are monotone in the count, so a binary search finds the threshold.
	first := func(tooMuch func(count int32) bool) int32 {
		return int32(sort.Search(math.MaxInt32, func(i int) bool { return tooMuch(int32(i) + 1) }))
	}
	raiseAbove = first(func(count int32) bool { return r.exceeds(count, declared.Replicas) })
	lowerAt = first(func(count int32) bool { return r.lowered(count) >= declared.Replicas })
	return raiseAbove, lowerAt
}
