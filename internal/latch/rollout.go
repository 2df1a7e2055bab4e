package latch

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// Rollout is the timer of a milestone. The zero value is one that does not run:
// no rollout was seen in flight.
type Rollout struct {
	// Target is the hash of the template that the samples were on their way to.
	Target string `json:"target,omitzero"`
	// Since is the first of the consecutive samples with that target; zero where
	// the timer does not run.
	Since time.Time `json:"since,omitzero"`
	// Levels are the milestones that the latest consecutive samples reached, -1
	// for one that was not in good health, oldest first; no more of them are kept
	// than an advance needs.
	Levels []int32 `json:"levels,omitzero"`
	// Asked is how many pods of the target the latest sample asked for.
	Asked int32 `json:"asked,omitzero"`
	// Commits is how many changes the rollout that is declared took so far.
	Commits int `json:"commits,omitzero"`
}

func (t Rollout) blank() bool {
	return t.Target == "" && t.Since.IsZero() && len(t.Levels) == 0 && t.Asked == 0 && t.Commits == 0
}

// Restarted returns the timer without the samples that it counted.
func (t Rollout) Restarted() Rollout { return Rollout{Commits: t.Commits} }

// settled returns the timer after gitlatch declared a rollout in the place of
// another, zero being none.
func (t Rollout) settled(was, now checkpoint.Rollout) Rollout {
	switch {
	case now == was:
	case now == checkpoint.Rollout{}:
		t.Commits = 0
	case was != checkpoint.Rollout{} && now.To.Hash == was.To.Hash:
		t.Commits++
	default:
		t.Commits = 1
	}
	return t
}

// adopted returns the timer after a person declared a rollout in the place of
// another, zero being none.
func (t Rollout) adopted(was, now checkpoint.Rollout) Rollout {
	switch {
	case now == checkpoint.Rollout{}:
		return Rollout{}
	case was != checkpoint.Rollout{} && now.To.Hash == was.To.Hash:
		return t.Restarted()
	}
	return Rollout{Commits: 1}
}
