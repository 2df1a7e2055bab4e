package policy

import (
	"math"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// scaleOf is what a need is measured against: a policy, the bounds that clamp
// its levels, and the two figures of the autoscaler that bear on rounding.
type scaleOf struct {
	policy    Policy
	floor     int32 // at least 1
	ceiling   int32 // math.MaxInt32 where there is no upper bound
	target    float64
	tolerance float64
}

func newScale(p Policy, bounds checkpoint.Entry, s workload.Scale) scaleOf {
	of := scaleOf{policy: p, floor: max(1, bounds.Min), ceiling: math.MaxInt32, target: s.Target, tolerance: s.Tolerance}
	if bounds.Max > 0 {
		of.ceiling = max(bounds.Max, of.floor)
	}
	return of
}

// pods is how many pods a need calls for, before it is rounded to a level. A
// factor like 1.1 is no binary fraction: a need that lies on a level must not
// land a billionth above it.
func (of scaleOf) pods(need float64) float64 {
	if of.policy.Round == RoundHeadroom && of.target > 0 {
		need *= of.target
	}
	return math.Round(need*1e6) / 1e6
}

// level rounds a need to a level within the bounds, which are levels too.
func (of scaleOf) level(need float64) int32 {
	need = of.pods(need)
	if need <= float64(of.floor) {
		return of.floor
	}
	high := min(max(of.policy.Series.Above(need), of.floor), of.ceiling)
	if of.policy.Round != RoundNearest || need >= float64(high) {
		return high
	}
	low := max(of.policy.Series.Below(high), of.floor)
	if low < high && need*need < float64(low)*float64(high) {
		return low
	}
	return high
}

// within clamps a level that a timer held on to: the bounds may have moved
// since.
func (of scaleOf) within(level int32) int32 { return min(max(level, of.floor), of.ceiling) }

// raised is the level that a count asks for.
func (of scaleOf) raised(count int32) int32 { return of.level(float64(count)) }

// exceeds reports whether a count asks for more than is declared: its level is
// above, and so is the count itself. A person may have declared what is no
// level, and as long as that is enough it is not rounded away.
func (of scaleOf) exceeds(count, declared int32) bool {
	return of.raised(count) > declared && (of.pods(float64(count)) > float64(declared) || of.floor > declared)
}

// lowered is the level that a count must have left behind for a lowering: the
// one of the count with its margin, but none at the floor, which must always be
// reachable. What is declared then is the level of the count itself.
func (of scaleOf) lowered(count int32) int32 {
	if count <= of.floor {
		return of.floor
	}
	return of.level(float64(count) * (1 + max(of.policy.Margin, of.tolerance)))
}
