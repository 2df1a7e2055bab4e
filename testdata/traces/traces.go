// Package traces contains a recorded day of a fleet. It has every change of scale and
// every rollout of its workloads, in steps of 15 seconds, the interval of an autoscaler.
// A warm-up before the day is long enough for the longest hold.
//
// The day was recorded from a simulation, because no fleet that could be published has
// all these events on one day. Package simulate describes the simulation, and
//
//	go generate ./testdata/traces
//
// creates the same two files again.
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

// Seed is the seed of the shipped day.
const Seed = 2018

// A Trace is the recorded behavior of a fleet. It does not change, so it is safe for
// concurrent use.
type Trace struct {
	Start  time.Time     // start of the warm-up
	WarmUp time.Duration // the day starts after it
	Length time.Duration // warm-up and day together

	// Workloads are in the order of workload.Compare.
	Workloads []Workload

	// Changes are the changes of each workload, in the order of Workloads. Each row is
	// sorted by time and starts at 0.
	Changes [][]Change
}

// A Workload is the constant part of a workload.
type Workload struct {
	ID workload.ID
	// Story names the behavior of the workload: "web", "surge".
	Story string

	Driver   workload.Driver
	Min, Max int32   // autoscaler's minimum and maximum in pods; 0 without an autoscaler
	Target   float64 // target CPU utilization; 0 if the autoscaler uses another metric
	Manifest int32   // replicas in the team's manifest
}

// A Change is the state of a workload from a time on.
type Change struct {
	At time.Duration // since the start of the trace
	State
}

// State is the state of a workload at a time. All numbers are in pods.
type State struct {
	Desired int32 // spec.replicas
	Ready   int32 // pods of both templates

	// Updated is the number of pods of the desired template. Old is the number of pods of
	// the previous template that are still there. No rollout is in flight if Updated is
	// Desired and Old is 0.
	Updated, Old int32
	Revision     int // number of the desired template: 1, 2 and so on, or an earlier one again

	Note Note
}

// InFlight reports whether there are pods of two templates, or too few pods of the
// desired template.
func (s State) InFlight() bool { return s.Old > 0 || s.Updated < s.Desired }

// A Note marks an unusual state of a workload.
type Note string

// The notes.
const (
	Calm Note = ""
	// Blind means that the autoscaler gets no metrics.
	Blind Note = "blind"
	// Unobserved means that the controller has not observed the spec yet.
	Unobserved Note = "unobserved"
	// Stuck means that a rollout passed its deadline.
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

// At returns the state of the i-th workload at a time since the start.
func (t *Trace) At(i int, at time.Duration) State {
	row := t.Changes[i]
	return row[t.last(i, at)].State
}

// Generation returns metadata.generation of the i-th workload at a time: the number of
// writes of its spec until then.
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

// last returns the index of the change that is valid at a time.
func (t *Trace) last(i int, at time.Duration) int {
	row := t.Changes[i]
	return max(0, sort.Search(len(row), func(j int) bool { return row[j].At > at })-1)
}
