// Package traces holds a recorded day of a fleet: every change of scale and of
// rollout of its workloads, at the 15 seconds in which an autoscaler acts,
// after a warm-up long enough for the longest hold to play.
//
// The day was recorded from a simulation, since no fleet that could be shown
// has all of it happen on one day. Package simulate says how it was made, and
//
//	go generate ./testdata/traces
//
// makes the same two files again.
package traces

import (
	"bytes"
	_ "embed"
	"fmt"
	"sort"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

//go:generate go run ./generate

// Seed is the seed that the shipped day was made with.
const Seed = 2018

// A Trace is what a fleet did. It is not changed once made, so it may be read
// from several goroutines.
type Trace struct {
	Start  time.Time     // of the warm-up
	WarmUp time.Duration // the day begins after it
	Length time.Duration // of warm-up and day together

	// Workloads are in the order of workload.Compare.
	Workloads []Workload

	// Changes are those of each workload, in the order of Workloads; each row
	// ascends in time and begins at 0.
	Changes [][]Change
}

// A Workload is what does not change of a workload.
type Workload struct {
	ID workload.ID
	// Story says in a word what the workload does: "web", "surge".
	Story string

	Driver   workload.Driver
	Min, Max int32   // the autoscaler's bounds, in pods; 0 without an autoscaler
	Target   float64 // the CPU utilisation aimed at; 0 where something else is measured
	Manifest int32   // the replicas that a creation from the team's manifest gives
}

// A Change is the state of a workload from an instant on.
type Change struct {
	At time.Duration // since the start of the trace
	State
}

// State is a workload at one instant. All counts are pods.
type State struct {
	Desired int32 // spec.replicas
	Ready   int32 // of both templates

	// Updated are the pods of the template asked for, Old those of the one
	// before, which outlive it. Nothing rolls out while Updated is Desired and
	// Old is 0.
	Updated, Old int32
	Revision     int // names the template asked for: 1, 2 and on, or an earlier one again

	Note Note
}

// InFlight reports whether there are pods of two templates, or not yet all of
// the one asked for.
func (s State) InFlight() bool { return s.Old > 0 || s.Updated < s.Desired }

// A Note says what is out of the ordinary about a workload.
type Note string

// The notes.
const (
	Calm Note = ""
	// Blind is an autoscaler that gets no metrics.
	Blind Note = "blind"
	// Unobserved is a spec that its controller has not looked at yet.
	Unobserved Note = "unobserved"
	// Stuck is a rollout that passed its deadline.
	Stuck Note = "stuck"
)

//go:embed workloads.csv
var workloads []byte

//go:embed changes.csv
var changes []byte

// Day returns the shipped day with its warm-up.
func Day() (*Trace, error) {
	t, err := Decode(bytes.NewReader(workloads), bytes.NewReader(changes))
	if err != nil {
		return nil, fmt.Errorf("read the recorded day: %w", err)
	}
	return t, nil
}

// At returns the state of the i-th workload at an instant since the start.
func (t *Trace) At(i int, at time.Duration) State {
	row := t.Changes[i]
	return row[t.last(i, at)].State
}

// Generation returns how often the spec of the i-th workload was written until
// an instant, as metadata.generation counts it.
func (t *Trace) Generation(i int, at time.Duration) int64 {
	row, n := t.Changes[i], int64(1)
	for j := 1; j <= t.last(i, at); j++ {
		if row[j].Desired != row[j-1].Desired {
			n++
		}
		if row[j].Revision != row[j-1].Revision {
			n++
		}
	}
	return n
}

// last returns the index of the change that holds at an instant.
func (t *Trace) last(i int, at time.Duration) int {
	row := t.Changes[i]
	return max(0, sort.Search(len(row), func(j int) bool { return row[j].At > at })-1)
}

// ScaleChanges counts how often an autoscaler wrote a scale from one instant
// until before another: the commits that committing every change would make.
func (t *Trace) ScaleChanges(from, to time.Duration) int {
	n := 0
	for i, row := range t.Changes {
		if t.Workloads[i].Driver == workload.DrivenByNothing {
			continue
		}
		for j := 1; j < len(row); j++ {
			if row[j].At >= from && row[j].At < to && row[j].Desired != row[j-1].Desired {
				n++
			}
		}
	}
	return n
}
