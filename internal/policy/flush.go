package policy

import (
	"fmt"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Flush makes a look declare what is needed now, as a drill wants it: with no
// hold, no margin, and no budget. What freezes, yields, withholds or rounds a
// level does so all the same.
type Flush string

// The ways to flush.
const (
	FlushNone Flush = ""
	// FlushRaise raises what needs more than it is declared at. It lowers nothing,
	// not even what is due.
	FlushRaise Flush = "raise"
	// FlushExact also lowers to the level of the present need what nothing keeps
	// from being lowered.
	FlushExact Flush = "exact"
)

// level is what a look that flushes declares at once; due is false where that
// is no other than what is declared.
func (f Flush) level(of scaleOf, declared int32, s workload.Scale, stop Stop) (level int32, text string, due bool) {
	need := raiseNeed(s)
	switch {
	case f == FlushNone:
	case need > 0 && of.exceeds(need, declared):
		level = of.raised(need)
	case f == FlushExact && stop.Reason == ReasonNone && of.raised(s.Desired) < declared:
		need, level = s.Desired, of.raised(s.Desired)
	}
	return level, fmt.Sprintf("a drill declares the present need: %d rounds to %d", need, level), level > 0
}

// keeps withholds what a flush that only raises must not lower, or retire.
func (f Flush) keeps(d Decision) Decision {
	if f != FlushRaise || !d.Lowers() {
		return d
	}
	return withhold([]Decision{d}, ReasonFlush, "a drill raises only", Decision.Lowers)[0]
}
