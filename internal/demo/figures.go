package demo

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// A Step is the start of a level in git.
type Step struct {
	At    time.Duration // since the start of the trace
	Level int32         // in pods; 0 without a level
}

// History has the levels in git of each workload of a trace, in the order of the trace.
// The steps of a workload ascend in time.
type History [][]Step

// At returns the level of the i-th workload at a time, including the tick at that time. It
// returns 0 without a level.
func (h History) At(i int, at time.Duration) int32 {
	j := sort.Search(len(h[i]), func(j int) bool { return h[i][j].At > at })
	if j == 0 {
		return 0
	}
	return h[i][j-1].Level
}

// ChangesPerCommit returns the number of changes of the desired replicas for each commit,
// both within the span. Without a commit it is the number of changes.
func ChangesPerCommit(t *traces.Trace, commits []time.Duration, s Span) float64 {
	return float64(t.ScaleChanges(s.From, s.To)) / float64(max(1, lists.Count(commits, s.Holds)))
}

// A Span is the time from From until before To, both since the start of a trace.
type Span struct{ From, To time.Duration }

// Holds reports whether a time is within the span.
func (s Span) Holds(at time.Duration) bool { return at >= s.From && at < s.To }

// dayOf returns the day of a trace, without its warm-up.
func dayOf(t *traces.Trace) Span { return Span{t.WarmUp, t.Length} }

// grain is the step of the figures, which is the step of the trace.
const grain = 15 * time.Second

// healthyShare is the minimum share of ready pods of a healthy workload.
const healthyShare = 0.9

// Coverage is the ratio of a level to a need at one time.
type Coverage struct {
	Share    float64 // Declared / Need; +Inf if no need was measured
	Workload workload.ID
	At       time.Duration
	Need     int32
	Declared int32
}

// WorstCoverage returns the lowest coverage of a need that lasted longer than hold, over
// all times of the span and all autoscaled workloads.
//
// The need of a workload at a time is the minimum of its desired replicas in the hold
// before it, including both ends. The workload must have been healthy in that time: at
// least 90 % of its desired replicas were ready, and its controller had observed the
// spec. WorstCoverage makes no other exceptions: workloads in a rollout, with a blind
// autoscaler, in an edit grace period or waiting for the budget count like any other. A
// workload without a level has the coverage 0.
func WorstCoverage(t *traces.Trace, h History, hold time.Duration, s Span) Coverage {
	worst := Coverage{Share: math.Inf(1)}
	for i, w := range t.Workloads {
		if w.Driver == workload.DrivenByNothing {
			continue
		}
		var asked []int32 // desired replicas since the workload is healthy, or since the start of the hold
		for at := max(0, s.From-hold); at < s.To; at += grain {
			state := t.At(i, at)
			if !healthy(state) {
				asked = asked[:0]
				continue
			}
			asked = append(asked, state.Desired)
			if len(asked) <= int(hold/grain) || at < s.From {
				continue
			}
			asked = asked[len(asked)-int(hold/grain)-1:]
			need := slices.Min(asked)
			declared := h.At(i, at)
			if share := float64(declared) / float64(need); share < worst.Share {
				worst = Coverage{share, w.ID, at, need, declared}
			}
		}
	}
	return worst
}

func healthy(s traces.State) bool {
	return s.Desired > 0 && s.Note != traces.Unobserved && float64(s.Ready) >= healthyShare*float64(s.Desired)
}
