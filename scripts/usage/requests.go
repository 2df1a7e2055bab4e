package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Requests are the measured requests of ticks to each service.
type Requests struct {
	// Workloads is the number of workloads for which Kinds were measured.
	Workloads int            `json:"workloads"`
	Kinds     map[Kind]Asked `json:"kinds"`
	// Day is the recorded day of another site, by the kinds of its ticks.
	Day Day `json:"day"`
}

// A Kind of tick.
type Kind string

// The kinds.
const (
	Cold      Kind = "cold"      // a quiet tick of a process that has just started: it has no cache yet
	Quiet     Kind = "quiet"     // no report, and no timer moved
	Timers    Kind = "timers"    // no report, but timers moved
	Crossing  Kind = "crossing"  // one level change committed
	Crossings Kind = "crossings" // several in one commit; 20 in a separate measurement
)

// Commits reports whether ticks of the kind commit.
func (k Kind) Commits() bool { return k == Crossing || k == Crossings }

// Asked contains the requests of one tick, or of several ticks together.
type Asked struct {
	// Calls are the numbers of calls, by service and operation.
	Calls map[string]map[string]int `json:"calls"`
	// ReadUnits and WriteUnits are DynamoDB's units: 4 KB of each item for a consistent
	// read, and 1 KB of each item for a write.
	ReadUnits  float64 `json:"readUnits"`
	WriteUnits float64 `json:"writeUnits"`
	// LogBytes is the size of the log, including metrics.
	LogBytes int `json:"logBytes"`
	// Latches is the number of written latches.
	Latches int `json:"latches"`
}

// A Day is a day of ticks.
type Day struct {
	Workloads int            `json:"workloads"`
	Ticks     map[Kind]int   `json:"ticks"`
	Asked     map[Kind]Asked `json:"asked"` // all ticks of a kind together
}

// Of returns the number of calls of an operation.
func (a Asked) Of(service, operation string) int { return a.Calls[service][operation] }

// All returns the number of calls of a service.
func (a Asked) All(service string) (n int) {
	for _, calls := range a.Calls[service] {
		n += calls
	}
	return n
}

func (a *Asked) note(service, operation string) {
	if a.Calls == nil {
		a.Calls = map[string]map[string]int{}
	}
	if a.Calls[service] == nil {
		a.Calls[service] = map[string]int{}
	}
	a.Calls[service][operation]++
}

func (a *Asked) add(b Asked) {
	for service, operations := range b.Calls {
		for operation, n := range operations {
			for range n {
				a.note(service, operation)
			}
		}
	}
	a.ReadUnits += b.ReadUnits
	a.WriteUnits += b.WriteUnits
	a.LogBytes += b.LogBytes
	a.Latches += b.Latches
}

// ReadRequests reads the measurements.
func ReadRequests(file string) (Requests, error) {
	var r Requests
	text, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, fmt.Errorf("read %s: %w", file, err)
	}
	return r, nil
}
