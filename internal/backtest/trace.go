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
	all := map[workload.ID]*followed{}
	for _, id := range ids {
		all[id] = &followed{bucket: bucket, gap: 3 * c.Set.Guards.Period}
	}
	_, ok = Try(past, c, Options{Stop: stop, Watch: func(of workload.ID, at time.Time, need, declared int32) {
		if f := all[of]; f != nil {
			f.take(at.Sub(from), need, declared)
		}
	}})
	t = Trace{map[workload.ID][]Stretch{}, map[workload.ID][]Stretch{}}
	for id, f := range all {
		f.cover(f.last)
		t.Need[id], t.Level[id] = stretches(f.needs), stretches(f.levels)
	}
	return t, ok
}

// A followed workload is traced bucket by bucket.
type followed struct {
	bucket, gap time.Duration

	needs, levels []Stretch // by bucket

	last           time.Duration // of the samples and changes, since the first sample of all
	need, declared int32         // since then
	begun          bool
}

// take enters the counts that hold from an instant on.
func (f *followed) take(at time.Duration, need, declared int32) {
	if at > f.last {
		f.cover(at - time.Second)
	}
	f.begun = true
	f.last = at
	f.need = need
	f.declared = declared
}

// cover enters the last counts into the buckets up to an instant. What is needed is
// observed no longer than a gap after a sample.
func (f *followed) cover(to time.Duration) {
	if f.begun {
		f.needs = f.put(f.needs, min(to, f.last+f.gap), f.need)
		f.levels = f.put(f.levels, to, f.declared)
	}
}

// put enters a count into the buckets from the last instant to another.
func (f *followed) put(buckets []Stretch, to time.Duration, count int32) []Stretch {
	for n := int32(f.last / f.bucket); n <= int32(to/f.bucket); n++ {
		for int32(len(buckets)) <= n {
			buckets = append(buckets, Stretch{int32(len(buckets)), Unobserved, Unobserved})
		}
		s := &buckets[n]
		s.High = max(s.High, count)
		if s.Low == Unobserved || count < s.Low {
			s.Low = count
		}
	}
	return buckets
}

// stretches returns the buckets that differ from the one before, from the first that
// was observed.
func stretches(buckets []Stretch) []Stretch {
	first := slices.IndexFunc(buckets, func(s Stretch) bool { return s.Low != Unobserved })
	if first < 0 {
		return nil
	}
	return slices.CompactFunc(buckets[first:], func(a, b Stretch) bool { return a.Low == b.Low && a.High == b.High })
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
