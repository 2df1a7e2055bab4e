package latch

import (
	"slices"
	"time"
)

// Unknown is a scale that was not observed.
const Unknown int32 = -1

// Recent is the recent scale of a workload, in steps, the oldest first. If a sample sees
// about the same scale as the sample before, Recent does not change. The zero value is a
// workload without observations.
type Recent []Step

// A Step is a period with about the same scale.
type Step struct {
	// Pods is the scale at the start of the step; Unknown if the workload was absent.
	Pods int32 `json:"pods"`
	// Until is the last sample that saw the step; zero if the step is the latest one.
	Until time.Time `json:"until,omitzero"`
}

const (
	// coarse sets the change of scale that starts a new step: a tenth.
	coarse = 10
	// steps is the maximum number of steps before the latest one.
	steps = 6
)

// Next returns the steps after a sample that saw a scale of pods. last is the instant of
// the sample before. Steps that ended more than within ago are dropped. A new step starts
// only if more than within/6 has passed since the end of the step before the latest one.
func (r Recent) Next(pods int32, last, now time.Time, within time.Duration) Recent {
	if len(r) == 0 {
		if pods <= 0 {
			return nil
		}
		return Recent{{Pods: pods}}
	}
	var next Recent
	for _, s := range r[:len(r)-1] {
		if s.Until.After(now) {
			s.Until = now // a clock was ahead
		}
		next = append(next, s)
	}
	latest := r[len(r)-1]
	if !moved(latest.Pods, pods) || len(next) > 0 && now.Sub(next[len(next)-1].Until) <= within/steps {
		return append(next, latest)
	}
	latest.Until = last
	if last.After(now) {
		latest.Until = now
	}
	next = slices.DeleteFunc(next, func(s Step) bool { return !s.seen(now.Add(-within)) })
	return append(next, latest, Step{Pods: pods})
}

// seen reports whether a sample saw the step at an instant or later.
func (s Step) seen(when time.Time) bool { return s.Until.IsZero() || !s.Until.Before(when) }

// Range returns the lowest and the highest scale since an instant; Unknown for both if
// the scale was not observed.
func (r Recent) Range(since time.Time) (low, high int32) {
	low, high = Unknown, Unknown
	for _, s := range r {
		if s.Pods == Unknown || !s.seen(since) {
			continue
		}
		if low == Unknown || s.Pods < low {
			low = s.Pods
		}
		high = max(high, s.Pods)
	}
	return low, high
}

// moved reports whether a change of scale starts a new step.
func moved(from, to int32) bool {
	if from == Unknown || to == Unknown {
		return from != to
	}
	by := int64(to) - int64(from)
	return by != 0 && max(by, -by)*coarse >= int64(from)
}
