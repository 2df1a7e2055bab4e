package policy

import (
	"fmt"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Flush declares the present need for a drill, without stabilization window, margin and
// budget. Freezes, edit grace periods, other limits and rounding still apply.
type Flush string

// The modes of a flush.
const (
	FlushNone Flush = ""
	// FlushRaise raises workloads that need more than their declared level. It lowers no
	// level, not even after hold.down.
	FlushRaise Flush = "raise"
	// FlushExact also lowers workloads to the level of their present need, unless a
	// reason stops the lowering.
	FlushExact Flush = "exact"
)

// level returns the level that a flush declares at once. due is false if the declared level
// does not change.
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

// limit blocks a lowering or a retirement if the flush only raises.
func (f Flush) limit(d Decision) Decision {
	if f != FlushRaise || !d.Crosses() || !d.Lowers() {
		return d
	}
	return withhold([]Decision{d}, ReasonFlush, "a drill raises only", Decision.Lowers)[0]
}
