package demo

import (
	"sort"
	"time"

	"github.com/gitlatch/gitlatch/testdata/traces"
)

// A Step is the start of a level in git.
type Step struct {
	At    time.Duration // since the start of the trace
	Level int32         // in pods; 0 without a level
}

// History has the levels in git of each workload of a trace, in the order of the trace.
// The steps of a workload ascend in time. Without steps, a rebuild uses only the manifests.
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

// Hourly returns the history of a job that commits all replica counts at each full hour of a
// span, and the number of its commits.
func Hourly(t *traces.Trace, s Span) (h History, commits int) {
	h = make(History, len(t.Workloads))
	for at := s.From; at < s.To; at += time.Hour {
		commits++
		for i := range h {
			h[i] = append(h[i], Step{at, t.At(i, at).Desired})
		}
	}
	return h, commits
}

// A Span is the time from From until before To, both since the start of a trace.
type Span struct{ From, To time.Duration }

// Holds reports whether a time is within the span.
func (s Span) Holds(at time.Duration) bool { return at >= s.From && at < s.To }

// dayOf returns the day of a trace, without its warm-up.
func dayOf(t *traces.Trace) Span { return Span{t.WarmUp, t.Length} }

// grain is the step of the figures, which is the step of the trace.
const grain = 15 * time.Second

// A Rebuild is the result of a rebuild from git at one time, in pods.
type Rebuild struct {
	At      time.Duration
	Needed  int64 // desired pods of all workloads
	Created int64
	Met     int64 // of the desired pods
}

// Share returns the share of the desired pods that the rebuild starts; 1 without desired pods.
func (r Rebuild) Share() float64 {
	if r.Needed == 0 {
		return 1
	}
	return float64(r.Met) / float64(r.Needed)
}

func rebuild(t *traces.Trace, h History, at time.Duration) Rebuild {
	r := Rebuild{At: at}
	for i, w := range t.Workloads {
		need := t.At(i, at).Desired
		created := w.Manifest
		if level := h.At(i, at); level > 0 {
			created = level
		}
		r.Needed += int64(need)
		r.Created += int64(created)
		r.Met += int64(min(created, need))
	}
	return r
}

// enough is the share of the desired pods of a rebuild that serves its load.
const enough = 0.95

// Figures summarize a rebuild at each 15 seconds of a span.
type Figures struct {
	Worst   Rebuild       // with the lowest share; the first of several
	Busiest Rebuild       // with the most desired pods; the first of several
	Below   time.Duration // with a share below 95 %
	Mean    float64       // of the shares
}

// Summarize returns the figures of a history over a span.
func Summarize(t *traces.Trace, h History, s Span) Figures {
	first := rebuild(t, h, s.From)
	f := Figures{Worst: first, Busiest: first}
	for at := s.From; at < s.To; at += grain {
		r := rebuild(t, h, at)
		if r.Share() < f.Worst.Share() {
			f.Worst = r
		}
		if r.Needed > f.Busiest.Needed {
			f.Busiest = r
		}
		if r.Share() < enough {
			f.Below += grain
		}
		f.Mean += r.Share() * grain.Hours() / (s.To - s.From).Hours()
	}
	return f
}
