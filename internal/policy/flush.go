package policy

import (
	"fmt"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Flush makes a look declare the present need, as a drill wants: without hold,
// margin or budget. Freezes, yields, withholding and rounding apply as ever.
type Flush string

// The ways to flush.
const (
	FlushNone Flush = ""
	// FlushRaise raises workloads that need more than their declared level. It lowers
	// nothing, not even a level whose hold is over.
	FlushRaise Flush = "raise"
	// FlushExact also lowers workloads to the level of their present need, unless a
	// reason stops the lowering.
	FlushExact Flush = "exact"
)

// level is the level that a flushing look declares at once. due is false if the
// declared level stays.
func (f Flush) level(r rounding, declared int32, s workload.Scale, stop Stop) (level int32, text string, due bool) {
	need := raiseNeed(s)
	switch {
	case f == FlushNone:
	case need > 0 && r.exceeds(need, declared):
		level = r.raised(need)
	case f == FlushExact && stop.Reason == ReasonNone && r.raised(s.Desired) < declared:
		need, level = s.Desired, r.raised(s.Desired)
	}
	return level, fmt.Sprintf("a drill finds a need of %d, which rounds to %d", need, level), level > 0
}

// limit withholds a lowering or a retirement from a flush that only raises.
func (f Flush) limit(d Decision) Decision {
	if f != FlushRaise || !d.Crosses() || !d.Lowers() {
		return d
	}
	return withhold([]Decision{d}, ReasonFlush, "a drill raises only", Decision.Lowers)[0]
}
