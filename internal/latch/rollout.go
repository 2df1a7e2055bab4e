package latch

import "time"

// Rollout is what is remembered of a rollout in flight, for package policy to
// decide by. The zero value is none. A rollout is in flight from the first sample
// that sees pods of two templates to the first that sees them no more, whatever
// target overtakes another on the way.
type Rollout struct {
	// Target is the hash of the template that the latest sample was on its way to.
	Target string `json:"target,omitzero"`
	// Flight runs from the first sample that saw the rollout in flight.
	Flight Stopwatch `json:"flight,omitzero"`
	// Still runs while pods of the target are missing and none came.
	Still Stopwatch `json:"still,omitzero"`
	// Healthy runs while samples of the target are healthy.
	Healthy Stopwatch `json:"healthy,omitzero"`
	// Most is the most available pods that the target had, of as many as are asked
	// for.
	Most int32 `json:"most,omitzero"`
	// Percent is what the target served in the latest sample, 0 where that was not
	// healthy. Held is whether the sample before was healthy at the cut or above.
	Percent int32 `json:"percent,omitzero"`
	Held    bool  `json:"held,omitzero"`
	// Failed is set by a failure, until samples were healthy for long enough.
	Failed bool `json:"failed,omitzero"`
}

// Pause returns the rollout standing still since last, the instant of the last
// look that counted. The samples before and after are not in a row.
func (r Rollout) Pause(last time.Time) Rollout {
	for _, s := range []*Stopwatch{&r.Flight, &r.Still, &r.Healthy} {
		*s = s.Pause(last)
	}
	r.Percent, r.Held = 0, false
	return r
}
