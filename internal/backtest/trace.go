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
		followed[id] = &lines{need: line{bucket: bucket}, level: line{bucket: bucket}}
	}
	_, ok = Try(past, c, Options{Stop: stop, Watch: func(of workload.ID, at time.Time, need, declared int32) {
		l := followed[of]
		if l == nil {
			return
		}
		since := at.Sub(from)
		if l.need.begun && since > l.last+gap {
			l.need.end(l.last+gap, since)
		}
		l.last = since
		l.need.hold(since, need)
		l.level.hold(since, declared)
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
	last        time.Duration // of the samples, since the first of all
}

// A line is counts under way: the stretches that are done, the bucket that is
// open, and the count that holds, which is in no bucket yet.
type line struct {
	bucket time.Duration
	done   []Stretch
	open   Stretch
	opened bool
	begun  bool
	count  int32
	since  time.Duration
}

// hold says that a count holds from an instant on.
func (l *line) hold(at time.Duration, count int32) {
	if l.begun && at > l.since {
		l.cover(at - time.Second)
	}
	l.begun = true
	l.count = count
	l.since = at
}

// end says that the count holds until an instant, and that nothing is known from
// then until another.
func (l *line) end(last, next time.Duration) {
	l.cover(last)
	l.begun = false
	if dark := int32(last/l.bucket) + 1; dark < int32(next/l.bucket) {
		l.put(Stretch{dark, Unobserved, Unobserved})
	}
}

// cover puts the count into all buckets from when it began to hold to an instant.
func (l *line) cover(last time.Duration) {
	first, end := int32(l.since/l.bucket), int32(last/l.bucket)
	l.put(Stretch{first, l.count, l.count})
	for _, bucket := range []int32{first + 1, end} {
		if bucket <= end && bucket > first {
			l.put(Stretch{bucket, l.count, l.count})
		}
	}
}

// put adds to the open bucket, or opens the next.
func (l *line) put(s Stretch) {
	if l.opened && l.open.Bucket == s.Bucket {
		l.open.Low, l.open.High = min(l.open.Low, s.Low), max(l.open.High, s.High)
		return
	}
	l.close()
	l.open, l.opened = s, true
}

// close ends the open bucket: it is a stretch where it differs from the one before.
func (l *line) close() {
	n := len(l.done)
	if l.opened && (n == 0 || l.done[n-1].Low != l.open.Low || l.done[n-1].High != l.open.High) {
		l.done = append(l.done, l.open)
	}
	l.opened = false
}

func (l *line) stretches() []Stretch {
	if l.begun {
		l.cover(l.since)
	}
	l.close()
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
