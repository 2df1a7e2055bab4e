package policy

import (
	"fmt"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A drill flushes: it declares the present need of workloads that need more than their level,
// without stabilization window, margin and budget. Freezes, edit grace periods, other limits
// and rounding still apply. A flush lowers no level, not even after hold.down.

// flushed returns the level that a flush declares at once. due is false if the need is not
// above the declared level.
func flushed(r rounding, declared int32, s workload.Scale) (level int32, text string, due bool) {
	need := raiseNeed(s)
	if need == 0 || !r.exceeds(need, declared) {
		return 0, "", false
	}
	level = r.raised(need)
	return level, fmt.Sprintf("a drill finds a need of %d, which rounds to %d", need, level), level > 0
}

// raiseOnly blocks a lowering or a retirement.
func raiseOnly(d Decision) Decision {
	if !d.Crosses() || !d.Lowers() {
		return d
	}
	return withhold([]Decision{d}, ReasonFlush, "a drill raises only", Decision.Lowers)[0]
}
