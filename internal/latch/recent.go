package latch

import (
	"slices"
	"time"
)

// Unknown stands for a scale that is not known.
const Unknown int32 = -1

// Recent is the scale of a workload in the recent past, rounded, the oldest step
// first. A look that sees about the same scale as the look before changes nothing.
// The zero value is a workload of which nothing is known.
type Recent []Step

// A Step is about one scale for some time.
type Step struct {
	// Pods is the scale at the begin of the step; Unknown is no such workload.
	Pods int32 `json:"pods"`
	// Until is the last look that saw the step; zero is the latest look.
	Until time.Time `json:"until,omitzero"`
}

const (
	// coarse is the part of its scale by which a workload moves to a new step.
	coarse = 10
	// steps is how many steps are remembered at most, beside the latest.
	steps = 6
)

// Next returns what is remembered after a look that saw a scale. last is the look
// before, and within how far back is remembered. A step begins at the earliest
// within/6 after the one before.
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

// seen reports whether a look saw the step at an instant or later.
func (s Step) seen(when time.Time) bool { return s.Until.IsZero() || !s.Until.Before(when) }

// Range is the least and the most that the workload was known with since an
// instant. Where it was not known, both are Unknown.
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

// moved reports whether a scale is another step than the one before.
func moved(from, to int32) bool {
	if from == Unknown || to == Unknown {
		return from != to
	}
	by := int64(to) - int64(from)
	return by != 0 && max(by, -by)*coarse >= int64(from)
}
