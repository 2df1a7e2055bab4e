package latch

import (
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
)

// Watch is the facts that are stored to find unusual conditions of a workload. It stores
// instants at which something changed, so that an ordinary sample writes nothing. The
// zero value is a workload without such facts.
type Watch struct {
	// Episodes are the unusual conditions that are not over, in the order of their
	// kinds, at most one of a kind.
	Episodes []Episode `json:"episodes,omitzero"`
	// Usual is the usual number of pods for a unit of demand, learned at Learned; 0 if it
	// is unknown. Measured is when the demand of the workload was first measured.
	Usual    float64   `json:"usual,omitzero"`
	Learned  time.Time `json:"learned,omitzero"`
	Measured time.Time `json:"measured,omitzero"`
}

// An Episode is one unusual condition that has started and is not over.
type Episode struct {
	Kind  alert.Kind `json:"kind"`
	Since time.Time  `json:"since"`
	// From is the replica count that the workload grew to; 0 for kinds that do not use
	// it.
	From int32 `json:"from,omitzero"`
	// Raised is true once the episode has lasted long enough for an alert.
	Raised bool `json:"raised,omitzero"`
}

// Equal reports whether two watch states are the same.
func (w Watch) Equal(o Watch) bool {
	return slices.Equal(w.Episodes, o.Episodes) && w.Usual == o.Usual && w.Learned == o.Learned && w.Measured == o.Measured
}
