package latch

import "time"

// Rollout is what is remembered of a rollout in flight, for package policy to
// decide by. The zero value is no rollout. A rollout is in flight from the first
// sample with pods of two templates to the first sample without, even if its target
// changes.
type Rollout struct {
	// Target is the hash of the target template in the latest sample.
	Target string `json:"target,omitzero"`
	// Flight runs from the first sample that saw the rollout in flight.
	Flight Stopwatch `json:"flight,omitzero"`
	// Stalled runs while pods of the target are missing and none came.
	Stalled Stopwatch `json:"stalled,omitzero"`
	// Healthy runs while samples of the target are healthy.
	Healthy Stopwatch `json:"healthy,omitzero"`
	// Peak is the most available pods that the target had, at most the desired pods.
	Peak int32 `json:"peak,omitzero"`
	// Percent is the target's share in the latest sample, in percent; 0 if the sample
	// was not healthy. WasAtCut is true if the sample before was healthy at the cut or
	// above.
	Percent  int32 `json:"percent,omitzero"`
	WasAtCut bool  `json:"wasAtCut,omitzero"`
	// Failed is set by a failure, until samples were healthy for long enough.
	Failed bool `json:"failed,omitzero"`
}

// Pause returns the rollout standing still since last, the instant of the last
// look that counted. The samples before and after are not in a row.
func (r Rollout) Pause(last time.Time) Rollout {
	for _, s := range []*Stopwatch{&r.Flight, &r.Stalled, &r.Healthy} {
		*s = s.Pause(last)
	}
	r.Percent, r.WasAtCut = 0, false
	return r
}
