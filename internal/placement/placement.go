// Package placement has the answer to the question whether a rebuild fits. Package fit
// computes it. Reports use this package, because programs that only write metrics of a
// drill do not link package fit.
package placement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Verdict is the result. The zero value is the verdict of an empty Answer.
type Verdict string

// The verdicts.
const (
	Fits       Verdict = "fits"
	DoesNotFit Verdict = "does not fit"
	Unknown    Verdict = "unknown"
)

// An Answer is the answer for one rebuild.
type Answer struct {
	Verdict Verdict `json:"verdict"`
	// Limit is the first limit that keeps pods pending; null if the verdict is not
	// DoesNotFit.
	Limit *Limit `json:"limit"`
	// Pending are the workloads with pods that stay pending, the highest priority first.
	Pending []Pending `json:"pending"`
	// Remedy is the change that places the pods that Limit keeps pending, as a sentence
	// with a number; "" if the verdict is not DoesNotFit.
	Remedy string `json:"remedy,omitzero"`
	// Near is the object of a limit that does not allow one more node like a node of this
	// rebuild: "NodePool default". Pods that start in several batches can need such a node.
	// "" if no limit is near, or pods stay pending.
	Near string `json:"near,omitzero"`
	// Unknown are the readings that failed.
	Unknown []Reading `json:"unknown"`

	Pods   int64 `json:"pods"`   // that a rebuild asks for
	Placed int64 `json:"placed"` // of Pods
	Nodes  int64 `json:"nodes"`  // that the placed pods use
	Live   int   `json:"live"`   // workloads whose requests come from the live template
}

// A Limit is a limit that keeps pods pending. Have and Need are in the unit of the
// resource: thousandths of a CPU, bytes, or a number.
type Limit struct {
	Name     string `json:"limit"`    // stable: "nodepool-limit"
	Object   string `json:"object"`   // "NodePool default"
	Resource string `json:"resource"` // "cpu"
	Have     int64  `json:"have"`
	Need     int64  `json:"need"`
	Text     string `json:"text"`
}

// A Pending is a workload with pods that stay pending.
type Pending struct {
	Workload workload.ID `json:"workload"`
	Pods     int32       `json:"pods"` // pending pods
	Of       int32       `json:"of"`   // pods that a rebuild asks for
	Priority int32       `json:"priority"`
}

// A Reading is a value that could not be read.
type Reading struct {
	Name string `json:"reading"` // "instance types of NodePool default"
	Why  string `json:"why"`     // the error
	// Adds is true if the value could only add room. If it is false, the value could only
	// lower the room or raise the ask.
	Adds bool `json:"addsRoom,omitzero"`
}

// Refuses reports whether a drill with this answer fails. The document of an
// older version has a nil answer.
func (a *Answer) Refuses() bool { return a != nil && a.Verdict == DoesNotFit }

// Waiting returns the number of pods that stay pending in the room that could be read.
func (a Answer) Waiting() int64 { return a.Pods - a.Placed }

// named is the number of pending workloads in Lines.
const named = 5

// Lines returns the answer as sentences. The first has the verdict.
func (a Answer) Lines() []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	waiting := fmt.Sprintf("%d of %s", a.Waiting(), term.Count(int(a.Pods), "pod"))
	switch {
	case a.Verdict == Fits:
		say("A rebuild fits: %s for all of its %s.", nodes(a.Nodes), term.Count(int(a.Pods), "pod"))
	case a.Verdict == DoesNotFit:
		say("A rebuild does not fit: %s stay pending, because %s.", waiting, a.Limit.Text)
		say("To place them, %s.", a.Remedy)
	case a.Waiting() > 0:
		say("It is unknown whether a rebuild fits: %s stay pending in the room that gitlatch could read.", waiting)
	default:
		say("It is unknown whether a rebuild fits.")
	}
	if a.Near != "" {
		say("This is close to a limit (%s). If the pods start in several batches, they can need one more node.", a.Near)
	}
	if len(a.Pending) > 0 {
		say("Pending, by priority: %s.", a.pending())
	}
	return append(lines, a.unread()...)
}

// pending returns the first pending workloads.
func (a Answer) pending() string {
	of := lists.Map(a.Pending[:min(len(a.Pending), named)], func(p Pending) string {
		return fmt.Sprintf("%s (%d of %s)", term.Name(p.Workload), p.Pods, term.Count(int(p.Of), "pod"))
	})
	if more := len(a.Pending) - named; more > 0 {
		of = append(of, "and "+term.Count(more, "more workload"))
	}
	return strings.Join(of, ", ")
}

// nodes returns the nodes that have room.
func nodes(n int64) string {
	if n == 1 {
		return "1 node has room"
	}
	return term.Count(int(n), "node") + " have room"
}

// unread returns the readings that failed, one line for each reason.
func (a Answer) unread() (lines []string) {
	var reasons []string
	for _, r := range a.Unknown {
		if !slices.Contains(reasons, r.Why) {
			reasons = append(reasons, r.Why)
		}
	}
	for _, why := range reasons {
		same := slices.DeleteFunc(slices.Clone(a.Unknown), func(r Reading) bool { return r.Why != why })
		of := lists.Map(same, func(r Reading) string { return r.Name })
		lines = append(lines, fmt.Sprintf("Not read: %s (%s)", strings.Join(of, ", "), why))
	}
	return lines
}
