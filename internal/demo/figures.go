package demo

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// A Step begins a declared level.
type Step struct {
	At    time.Duration // since the start of the trace
	Level int32         // in pods; 0 declares nothing
}

// History is what was declared of each workload of a trace, in its order; the
// steps of one ascend in time.
type History [][]Step

// At returns what was declared of the i-th workload at an instant, the tick of
// that instant included; 0 is nothing.
func (h History) At(i int, at time.Duration) int32 {
	j := sort.Search(len(h[i]), func(j int) bool { return h[i][j].At > at })
	if j == 0 {
		return 0
	}
	return h[i][j-1].Level
}

// ChangesPerCommit returns how many changes of scale there were for each of the
// commits, both within the span. Without a commit it is the number of changes.
func ChangesPerCommit(t *traces.Trace, commits []time.Duration, s Span) float64 {
	return float64(t.ScaleChanges(s.From, s.To)) / float64(max(1, each.Count(commits, s.Holds)))
}

// A Span is the time from one instant until before another, both since the
// start of a trace.
type Span struct{ From, To time.Duration }

// Holds reports whether an instant is within the span.
func (s Span) Holds(at time.Duration) bool { return at >= s.From && at < s.To }

// dayOf is the day that a trace is about, without its warm-up.
func dayOf(t *traces.Trace) Span { return Span{t.WarmUp, t.Length} }

// grain is the step at which instants are looked at: that of the trace.
const grain = 15 * time.Second

// healthyShare is how much of a healthy workload is ready.
const healthyShare = 0.9

// Coverage is how much of a need was declared at one instant.
type Coverage struct {
	Share    float64 // declared / need; +Inf where nothing was ever needed
	Workload workload.ID
	At       time.Duration
	Need     int32
	Declared int32
}

// WorstCoverage returns the least that was declared of any need that had lasted
// longer than hold, over all instants of the span and all workloads that an
// autoscaler drives.
//
// The need of a workload at an instant is the least that was asked for within
// the hold before it, both ends included, provided that the workload was
// healthy all that time: at least 90 % of the pods asked for were ready, and its
// controller had seen what was asked for. Nothing else is left out: workloads
// that roll out, whose autoscaler is blind, that yield to a person or that wait
// for the budget count like any other. A workload with nothing declared counts
// as 0.
func WorstCoverage(t *traces.Trace, h History, hold time.Duration, s Span) Coverage {
	worst := Coverage{Share: math.Inf(1)}
	for i, w := range t.Workloads {
		if w.Driver == workload.DrivenByNothing {
			continue
		}
		var asked []int32 // since the workload is healthy, for no longer than the hold
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
