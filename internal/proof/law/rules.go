package law

import (
	"math"
	"path"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// ruleOf returns the policy of a workload. It repeats the documented order instead of a
// call of Set.Choose, so that the laws find a defect in Choose.
func ruleOf(set policy.Set, s workload.Sample) policy.Policy {
	covers := func(patterns []string, name string) bool {
		return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
			is, err := path.Match(pattern, name)
			return is && err == nil
		})
	}
	for _, rule := range set.Rules {
		if s.Policy != "" && !rule.Match.Empty() && rule.Policy.Name == s.Policy && covers(rule.Match.Namespaces, s.ID.Namespace) {
			return rule.Policy
		}
	}
	for _, rule := range set.Rules {
		kind := len(rule.Match.Kinds) == 0 || slices.Contains(rule.Match.Kinds, s.ID.Kind)
		if kind && covers(rule.Match.Namespaces, s.ID.Namespace) && covers(rule.Match.Names, s.ID.Name) {
			return rule.Policy
		}
	}
	return set.Default
}

// latches reports whether a policy writes the level of a workload to git.
func latches(p policy.Policy, s workload.Sample) bool {
	return judges(p, s) && p.Scale == policy.ModeLatch
}

// judges reports whether a policy decides about the level of a workload.
func judges(p policy.Policy, s workload.Sample) bool {
	driven := s.Scale == nil || s.Scale.Driver != workload.DrivenByNothing || p.Undriven
	return s.ID.Kind.Scales() && !s.OptOut && p.Scale != policy.ModeIgnore && driven
}

// levels are the levels of one workload by its policy.
type levels struct {
	policy         policy.Policy
	floor, ceiling int32
	target         float64 // 0 without a target utilisation
	margin         float64
}

// levelsOf returns the levels of a workload with an entry in git.
func levelsOf(p policy.Policy, e checkpoint.Entry, s workload.Scale) levels {
	low, high := s.Min, s.Max
	if high > 0 && low > high {
		low, high = 0, 0
	}
	if p.Bounds == policy.ModeReport && e.Replicas > 0 {
		low, high = e.Min, e.Max
	}
	l := levels{policy: p, floor: max(1, low), ceiling: math.MaxInt32, margin: max(p.Margin, s.Tolerance)}
	if high > 0 {
		l.ceiling = max(high, l.floor)
	}
	if p.Round == policy.RoundHeadroom {
		l.target = s.Target
	}
	return l
}

// pods returns the pods that a level must cover.
func (l levels) pods(desired float64) float64 {
	if l.target > 0 {
		desired *= l.target
	}
	return math.Round(desired*1e6) / 1e6
}

// of returns the level for a number of desired pods.
func (l levels) of(desired float64) int32 {
	pods := l.pods(desired)
	if pods <= float64(l.floor) {
		return l.floor
	}
	high := min(max(l.policy.Series.Above(pods), l.floor), l.ceiling)
	low := max(l.policy.Series.Below(high), l.floor)
	if l.policy.Round == policy.RoundNearest && pods < float64(high) && pods*pods < float64(low)*float64(high) {
		return low
	}
	return high
}

// low reports whether a level is too low for the pods of a sample. A level that covers the
// pods is enough, even if the policy rounds to a higher one.
func (l levels) low(declared, pods int32) bool {
	covered := l.pods(float64(pods)) <= float64(declared) && l.floor <= declared
	return pods > 0 && declared < l.of(float64(pods)) && !covered
}

// high reports whether a level is too high for the desired pods.
func (l levels) high(declared, desired int32) bool {
	with := float64(desired)
	if desired > l.floor {
		with *= 1 + l.margin
	}
	return l.of(with) < declared
}

// needs returns the pods that a raise uses: the desired pods, or the ready ones if too many
// are not ready.
func needs(s workload.Scale) int32 {
	if policy.Unready(s) {
		return s.Ready
	}
	return s.Desired
}

// rule returns the policy of a workload in the last tick that decided.
func (w *Witness) rule(sample workload.Sample) policy.Policy { return ruleOf(w.set, sample) }

// ruled reports whether a tick decided.
func (w *Witness) ruled() bool { return w.set.Default.HoldUp > 0 }

// holdUp returns the number of samples for a raise.
func holdUp(p policy.Policy, s workload.Sample) int {
	if s.Rollout == nil || s.Rollout.Mixed() {
		return max(p.HoldUp, policy.RolloutHold)
	}
	return p.HoldUp
}
