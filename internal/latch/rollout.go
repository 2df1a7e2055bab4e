package latch

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// Rollout is the timer of a milestone. The zero value is one that does not run:
// no rollout was seen in flight. A rollout is in flight from the sample that
// first saw pods of two templates to the one that sees them no more, whatever
// target overtakes another on the way.
type Rollout struct {
	// Target is the hash of the template that the samples were on their way to;
	// "" where none is in flight.
	Target string `json:"target,omitzero"`
	// Stopwatch is how long they were, from the first sample with that target.
	Stopwatch
	// Levels are the milestones that the latest consecutive samples reached in
	// good health, oldest first; no more of them are kept than an advance needs.
	Levels []int32 `json:"levels,omitzero"`
	// Progress is how far the target has come.
	Progress Progress `json:"progress,omitzero"`
	// Short is how long over half of the pods that were available at once are missing,
	// of a target that git would return to, and Well how long the target is past the cut in good
	// health; neither runs where that is not so.
	Short Stopwatch `json:"short,omitzero"`
	Well  Stopwatch `json:"well,omitzero"`
	// Served is how many of the desired pods the target stood for in the latest
	// sample.
	Served int32 `json:"served,omitzero"`
	// Soon is whether the rollout would soon be over at the pace of the latest
	// two samples.
	Soon bool `json:"soon,omitzero"`
	// Before is when the rollout before was last seen in flight, where that was
	// less than the policy's hold before this one began; where none is in flight,
	// less than the hold ago. Zero where it was longer, or is not known.
	Before time.Time `json:"before,omitzero"`
	// Follows is how many rollouts there were in a row, each begun within the hold
	// after the one before it: 0 while Before is zero, and for the first.
	Follows int `json:"follows,omitzero"`
	// Commits is how many changes the record of the rollout took so far.
	Commits int `json:"commits,omitzero"`
}

// Progress is how far a target has come, and the timer of one that comes no
// further. The zero value is one that was not seen.
type Progress struct {
	// Asked is how many of its pods the latest sample asked for.
	Asked int32 `json:"asked,omitzero"`
	// Available is the most of them that were available at once since the timer
	// started; while it does not run, all.
	Available int32 `json:"available,omitzero"`
	// Once is how many were available at once, of as many as are asked for.
	Once int32 `json:"once,omitzero"`
	// Due is how many must be available for it to be in good health: those that
	// once were, and of those that were asked for all whose time is over.
	Due int32 `json:"due,omitzero"`
	// Longest is the longest that any of them took to come after the one before.
	Longest time.Duration `json:"longest,omitzero"`
	// Stopwatch runs while not all that are asked for are available, from when
	// the latest were asked for or became available.
	Stopwatch
}

func (t Rollout) blank() bool { return t.Target == "" && t.Before.IsZero() && t.Commits == 0 }

// Restarted returns the timer without all that it saw. What is recorded, zero
// being nothing, has yet to go, and goes on counting.
func (t Rollout) Restarted(recorded checkpoint.Rollout) Rollout {
	if (recorded == checkpoint.Rollout{}) {
		return Rollout{}
	}
	return Rollout{Commits: t.Commits}
}

// Interrupted returns the timer after a time that was not observed: what it
// measured stays, and the samples before and after are not consecutive.
func (t Rollout) Interrupted() Rollout {
	t.Levels, t.Served, t.Soon = nil, 0, false
	return t
}

// Pause returns the timer standing still since last, the instant of the last
// look that counted.
func (t Rollout) Pause(last time.Time) Rollout {
	t = t.Interrupted()
	for _, s := range []*Stopwatch{&t.Stopwatch, &t.Progress.Stopwatch, &t.Short, &t.Well} {
		*s = s.Pause(last)
	}
	return t
}

// Seen returns when a rollout was last seen in flight, last being the instant of
// the look before; zero where that is not known.
func (t Rollout) Seen(last time.Time) time.Time {
	switch {
	case t.Target == "":
		return t.Before
	case !t.Paused.IsZero():
		return t.Paused
	}
	return last
}

// settled returns the timer after gitlatch declared a rollout in the place of
// another, zero being none. One to a target that the other said nothing of has
// commits of its own.
func (t Rollout) settled(was, now checkpoint.Rollout) Rollout {
	switch {
	case now == was:
		return t
	case now == checkpoint.Rollout{}:
		t.Commits = 0
	case now.To.Hash != was.To.Hash && now.To.Hash != was.From.Hash:
		t.Commits = 1
	default:
		t.Commits++
	}
	t.Short = Stopwatch{}
	return t
}

// adopted returns the timer after a person declared a rollout in the place of
// another, zero being none. Who left the rollout as it was touched no timer of
// it.
func (t Rollout) adopted(was, now checkpoint.Rollout) Rollout {
	switch {
	case now == was:
		return t
	case now == checkpoint.Rollout{}:
		return Rollout{}
	case was != checkpoint.Rollout{} && now.To.Hash == was.To.Hash:
		return t.Restarted(now)
	}
	return Rollout{Commits: 1}
}
