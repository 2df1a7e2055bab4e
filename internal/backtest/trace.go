package backtest

import (
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Stretch is the range of a workload's pods in a bucket of time, and in the buckets
// after it up to the next Stretch.
type Stretch struct {
	Bucket    int32 // the first bucket is 0
	Low, High int32 // Unobserved without a sample
}

// Unobserved is the value of a Stretch without a sample.
const Unobserved = -1

// A Trace has the desired replicas of workloads, and their levels with a candidate, in
// buckets of time. Each bucket has the lowest and the highest value of its samples. 0
// means no level.
type Trace struct{ Need, Level map[workload.ID][]Stretch }

// Follow runs a candidate over a past that was checked, and traces some of its workloads
// in buckets from the first sample on. The length of a bucket is whole seconds. The
// result has at most one Stretch for each bucket and workload. ok is false if stop ended
// the run; stop may be nil.
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

// followed is the state of tracing one workload.
type followed struct {
	bucket, gap time.Duration

	needs, levels []Stretch // by bucket

	last           time.Duration // time of the last sample or level change, since the first sample of the past
	need, declared int32         // values since last
	begun          bool
}

// take sets the values from a time on.
func (f *followed) take(at time.Duration, need, declared int32) {
	if at > f.last {
		f.cover(at - time.Second)
	}
	f.begun = true
	f.last = at
	f.need = need
	f.declared = declared
}

// cover adds the present values to the buckets up to a time. Desired replicas are
// observed at most for a gap after a sample.
func (f *followed) cover(to time.Duration) {
	if f.begun {
		f.needs = f.put(f.needs, min(to, f.last+f.gap), f.need)
		f.levels = f.put(f.levels, to, f.declared)
	}
}

// put adds a value to the buckets from the last time to another time.
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

// stretches returns the buckets that differ from the bucket before, from the first
// observed bucket on.
func stretches(buckets []Stretch) []Stretch {
	first := slices.IndexFunc(buckets, func(s Stretch) bool { return s.Low != Unobserved })
	if first < 0 {
		return nil
	}
	return slices.CompactFunc(buckets[first:], func(a, b Stretch) bool { return a.Low == b.Low && a.High == b.High })
}

// ByPeak returns the workloads, ordered by their highest desired replicas.
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
