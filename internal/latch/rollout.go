package latch

import "time"

// Rollout is the memory of a rollout in flight, which package policy uses for its
// decisions. The zero value is no such memory. A rollout is in flight from the first
// sample with pods of two templates to the first sample without, even if its target
// changes.
type Rollout struct {
	// Target is the hash of the target template in the latest sample.
	Target string `json:"target,omitzero"`
	// Flight runs from the first sample that saw the rollout in flight.
	Flight Stopwatch `json:"flight,omitzero"`
	// Stalled runs while pods of the target are missing and no pod became available.
	Stalled Stopwatch `json:"stalled,omitzero"`
	// Healthy runs while samples of the target are healthy.
	Healthy Stopwatch `json:"healthy,omitzero"`
	// Peak is the highest number of available pods of the target, at most the desired
	// pods.
	Peak int32 `json:"peak,omitzero"`
	// Percent is the target's share in the latest sample, in percent; 0 if the sample was
	// not healthy. WasAtCut is true if the sample before was healthy, and at or above the
	// cut.
	Percent  int32 `json:"percent,omitzero"`
	WasAtCut bool  `json:"wasAtCut,omitzero"`
	// Failed is set by a failure, until samples were healthy for long enough.
	Failed bool `json:"failed,omitzero"`
}

// Pause returns the rollout with its stopwatches paused since last, the instant of the
// last sample that counted. The samples before and after the pause are not in a row.
func (r Rollout) Pause(last time.Time) Rollout {
	for _, s := range []*Stopwatch{&r.Flight, &r.Stalled, &r.Healthy} {
		*s = s.Pause(last)
	}
	r.Percent, r.WasAtCut = 0, false
	return r
}
