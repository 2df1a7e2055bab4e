package latch

import (
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
)

// Watch is what is remembered of a workload to tell what is out of the ordinary
// for it. Like the timers it holds instants at which something changed, so that
// a quiet look writes nothing. The zero value is a workload that was not
// watched before.
type Watch struct {
	// Since is when it was first watched.
	Since time.Time `json:"since,omitzero"`
	// Episodes are what was seen to begin and has not ended, in the order of their
	// kinds, each once.
	Episodes []Episode `json:"episodes,omitzero"`
	// Falls are the latest instants at which it lost most of its scale, and Turns
	// those at which it began to grow or to shrink by much; both oldest first.
	Falls []time.Time `json:"falls,omitzero"`
	Turns []time.Time `json:"turns,omitzero"`
	// Rising is set where the latest turn was one upwards.
	Rising bool `json:"rising,omitzero"`
	// Measured is when its demand was first measured, and Usual how many pods it
	// usually has for a unit of that, as of Learned; 0 is not known.
	Measured time.Time `json:"measured,omitzero"`
	Usual    float64   `json:"usual,omitzero"`
	Learned  time.Time `json:"learned,omitzero"`
}

// An Episode is one thing out of the ordinary that was seen and is not over.
type Episode struct {
	Kind  alert.Kind `json:"kind"`
	Since time.Time  `json:"since"`
	// From is the count that it is measured from, in pods, or of a rollout in
	// tenths of them; 0 where it is measured from none.
	From int32 `json:"from,omitzero"`
	// About is the template of a rollout; "" where it is about no such thing.
	About string `json:"about,omitzero"`
	// Raised is set once it lasted for long enough to tell people.
	Raised bool `json:"raised,omitzero"`
}

// Equal reports whether two watches remember the same.
func (w Watch) Equal(o Watch) bool {
	return w.Since == o.Since && slices.Equal(w.Episodes, o.Episodes) && slices.Equal(w.Falls, o.Falls) && slices.Equal(w.Turns, o.Turns) &&
		w.Rising == o.Rising && w.Measured == o.Measured && w.Usual == o.Usual && w.Learned == o.Learned
}

// blank reports whether nothing is remembered but since when it was.
func (w Watch) blank() bool {
	return len(w.Episodes) == 0 && len(w.Falls) == 0 && len(w.Turns) == 0 && w.Usual == 0
}
