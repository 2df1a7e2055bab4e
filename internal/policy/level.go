package policy

import (
	"math"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// rounding rounds replica counts to levels. It depends on a policy, the bounds that clamp its
// levels, and the autoscaler's target utilisation and tolerance.
type rounding struct {
	policy    Policy
	floor     int32 // at least 1
	ceiling   int32 // at most checkpoint.MaxReplicas
	target    float64
	tolerance float64
}

func newRounding(p Policy, bounds checkpoint.Entry, s workload.Scale) rounding {
	r := rounding{
		policy: p,
		floor:  min(max(1, bounds.Min), checkpoint.MaxReplicas), ceiling: checkpoint.MaxReplicas,
		target: s.Target, tolerance: s.Tolerance,
	}
	if bounds.Max > 0 {
		r.ceiling = min(max(bounds.Max, r.floor), checkpoint.MaxReplicas)
	}
	return r
}

// pods returns the pods for a need, before rounding to a level. A factor such as 1.1 has no
// exact binary form: a need on a level must not be a billionth above it.
func (r rounding) pods(need float64) float64 {
	if r.policy.Round == RoundHeadroom && r.target > 0 {
		need *= r.target
	}
	return math.Round(need*1e6) / 1e6
}

// level rounds a need to a level within the bounds, which are levels as well.
func (r rounding) level(need float64) int32 {
	need = r.pods(need)
	if need <= float64(r.floor) {
		return r.floor
	}
	need = min(need, float64(r.ceiling))
	high := min(max(r.policy.Series.Above(need), r.floor), r.ceiling)
	if r.policy.Round != RoundNearest || need >= float64(high) {
		return high
	}
	low := max(r.policy.Series.Below(high), r.floor)
	if low < high && need*need < float64(low)*float64(high) {
		return low
	}
	return high
}

// within clamps the level of a timer, because the bounds may have changed since.
func (r rounding) within(level int32) int32 { return min(max(level, r.floor), r.ceiling) }

// raised returns the level for a replica count.
func (r rounding) raised(count int32) int32 { return r.level(float64(count)) }

// exceeds reports whether a replica count needs a raise: its level and the count itself are
// above the declared count. A user may declare a count between two levels, which stays while
// it is enough.
func (r rounding) exceeds(count, declared int32) bool {
	return r.raised(count) > declared && (r.pods(float64(count)) > float64(declared) || r.floor > declared)
}

// lowered returns the level of a replica count with its margin. A lowering needs it to be
// below the declared level, and declares the level without margin. The floor has no margin, so
// it can always be reached.
func (r rounding) lowered(count int32) int32 {
	if count <= r.floor {
		return r.floor
	}
	return r.level(float64(count) * (1 + max(r.policy.Margin, r.tolerance)))
}
