package backtest

import (
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Stretch is between what counts of pods a workload was in a bucket of time, and
// in those after it until the next stretch begins.
type Stretch struct {
	Bucket    int32 // since the first, which is 0
	Low, High int32 // Unobserved where it was not observed
}

// Unobserved stands in a stretch for a count that nobody took.
const Unobserved = -1

// A Trace is what workloads needed, and what a candidate declared of them, in
// buckets of time: however many samples fall into one, their lowest and highest
// stay. Of a level 0 is none.
type Trace struct{ Need, Level map[workload.ID][]Stretch }

// Follow runs a candidate over a past that was checked, and traces some of its
// workloads in buckets since the first sample, which are whole seconds. It holds
// one stretch a bucket at most, of each. ok is false where stop, which may be nil,
// ended it.
func Follow(past *Past, c Candidate, ids []workload.ID, bucket time.Duration, stop func() bool) (t Trace, ok bool) {
	from, _ := past.Span()
	gap := 3 * c.Set.Guards.Period
	followed := map[workload.ID]*lines{}
	for _, id := range ids {
		followed[id] = &lines{}
	}
	in := func(at time.Time) int32 { return int32(at.Sub(from) / bucket) }
	_, ok = Try(past, c, Options{Stop: stop, Watch: func(of workload.ID, at time.Time, need, declared int32) {
		l := followed[of]
		if l == nil {
			return
		}
		if dark := l.last.Add(gap); l.begun && at.After(dark) {
			l.need.end(in(dark), in(at))
		}
		l.begun, l.last = true, at
		l.need.hold(in(at), need)
		l.level.hold(in(at), declared)
	}})
	t = Trace{map[workload.ID][]Stretch{}, map[workload.ID][]Stretch{}}
	for id, l := range followed {
		t.Need[id], t.Level[id] = l.need.stretches(), l.level.stretches()
	}
	return t, ok
}

// lines are those of one workload under way.
type lines struct {
	need, level line
	begun       bool
	last        time.Time
}

// A line holds the bucket that was begun, what holds at its end, and what came
// before it.
type line struct {
	done  []Stretch
	begun bool
	open  Stretch
	holds int32
}

// hold says that a count holds from some instant of a bucket on.
func (l *line) hold(bucket, count int32) {
	switch {
	case !l.begun:
		l.open = Stretch{bucket, count, count}
	case bucket > l.open.Bucket:
		l.add(l.open)
		if bucket > l.open.Bucket+1 {
			l.add(Stretch{l.open.Bucket + 1, l.holds, l.holds})
		}
		l.open = Stretch{bucket, min(l.holds, count), max(l.holds, count)}
	default:
		l.open.Low, l.open.High = min(l.open.Low, count), max(l.open.High, count)
	}
	l.begun, l.holds = true, count
}

// end says that nothing is known after one bucket and before another, in which
// the line begins anew.
func (l *line) end(last, next int32) {
	if next <= last+1 {
		return
	}
	l.hold(last, l.holds)
	l.add(l.open)
	l.add(Stretch{last + 1, Unobserved, Unobserved})
	l.begun = false
}

func (l *line) add(s Stretch) {
	if n := len(l.done); n == 0 || l.done[n-1].Low != s.Low || l.done[n-1].High != s.High {
		l.done = append(l.done, s)
	}
}

func (l *line) stretches() []Stretch {
	if l.begun {
		l.add(l.open)
		l.begun = false
	}
	return slices.Clip(l.done)
}

// ByPeak are the workloads, those first that needed most at any instant.
func (p *Past) ByPeak() []workload.ID {
	peaks := map[workload.ID]int32{}
	ids := p.IDs()
	for _, id := range ids {
		for _, f := range p.seconds(id) {
			peaks[id] = max(peaks[id], f[desired])
		}
	}
	slices.SortStableFunc(ids, func(a, b workload.ID) int { return int(peaks[b]) - int(peaks[a]) })
	return ids
}
