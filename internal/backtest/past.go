package backtest

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Past is what was seen of the scale of some workloads. It is packed, at some
// two bytes a sample, so that months of it fit into memory whatever order they
// come in; replaying does not change it, so several candidates can be run at
// once. The zero value is an empty one.
type Past struct {
	rows map[workload.ID][]*Run
}

// A Sample is the scale of a workload at an instant.
type Sample struct {
	At    time.Time // in whole seconds
	Scale workload.Scale
}

// A Run is samples of one workload that ascend in time, as one source gives
// them.
type Run struct {
	past   *Past
	id     workload.ID
	source string
	first  int64 // Unix seconds
	packed packed
}

// Run begins a run of samples of a workload; the source is named where it is at
// odds with another.
func (p *Past) Run(id workload.ID, source string) *Run {
	return &Run{past: p, id: id, source: source}
}

// Add appends a sample, which must be later than the one before.
func (r *Run) Add(s Sample) error {
	at := s.At.Unix()
	if r.packed.samples == 0 {
		if r.past.rows == nil {
			r.past.rows = map[workload.ID][]*Run{}
		}
		r.past.rows[r.id] = append(r.past.rows[r.id], r)
		r.first = at
	} else if at == r.packed.at {
		return fmt.Errorf("%s at %s appears twice. Keep one sample for each time", r.id.Short(), stamp(at))
	} else if at < r.packed.at {
		return fmt.Errorf("%s at %s comes after %s: sort the samples of a workload by time",
			r.id.Short(), stamp(at), stamp(r.packed.at))
	}
	r.packed.add(at, fieldsOf(s.Scale))
	return nil
}

// Samples is how many samples there are.
func (p *Past) Samples() (n int64) {
	for _, runs := range p.rows {
		for _, r := range runs {
			n += int64(r.packed.samples)
		}
	}
	return n
}

// IDs are the workloads, in the order of workload.Compare.
func (p *Past) IDs() []workload.ID { return slices.SortedFunc(maps.Keys(p.rows), workload.Compare) }

// Span is the instants of the first and of the last sample; zero where there is
// none.
func (p *Past) Span() (from, to time.Time) {
	for _, runs := range p.rows {
		for _, r := range runs {
			first, last := instant(r.first), instant(r.packed.at)
			if from.IsZero() || first.Before(from) {
				from = first
			}
			if last.After(to) {
				to = last
			}
		}
	}
	return from, to
}

// Check puts the runs of each workload in order, and says where two of them are
// about the same time. Call it once after the last sample, before any replay.
func (p *Past) Check() error {
	for _, id := range p.IDs() {
		runs := p.rows[id]
		slices.SortStableFunc(runs, func(a, b *Run) int { return cmp.Compare(a.first, b.first) })
		for i := 1; i < len(runs); i++ {
			if a, b := runs[i-1], runs[i]; b.first < a.packed.at {
				return fmt.Errorf("%s: samples of %s, and again of %s, are both for %s. Give each workload once, with an aggregation such as max by (namespace, deployment) (...)",
					id.Short(), a.source, b.source, stamp(b.first))
			}
		}
	}
	return nil
}

// Step is the usual time from one sample of a workload to the next: the one that
// most workloads have most often. 0 where no workload has two samples.
func (p *Past) Step() time.Duration {
	votes := map[int64]int{}
	for _, runs := range p.rows {
		usual := map[int64]int{}
		for _, r := range runs {
			seen, last := 0, r.first
			for at := range r.packed.all() {
				if seen > 0 {
					usual[at-last]++
				}
				seen++
				if seen > 1000 {
					break
				}
				last = at
			}
		}
		if len(usual) > 0 {
			votes[most(usual)]++
		}
	}
	if len(votes) == 0 {
		return 0
	}
	return time.Duration(most(votes)) * time.Second
}

// most is the key with the highest count, the lowest of those that share it.
func most(counts map[int64]int) int64 {
	keys := slices.Sorted(maps.Keys(counts))
	return slices.MaxFunc(keys, func(a, b int64) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a))
	})
}

// Of are the samples of one workload, in order.
func (p *Past) Of(id workload.ID) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		for at, f := range p.seconds(id) {
			if !yield(Sample{instant(at), f.scale()}) {
				return
			}
		}
	}
}

// seconds are the samples of one workload, in order. An instant that ends one run and
// begins the next is given once.
func (p *Past) seconds(id workload.ID) iter.Seq2[int64, fields] {
	return func(yield func(int64, fields) bool) {
		last := int64(math.MinInt64)
		for _, r := range p.rows[id] {
			for at, f := range r.packed.all() {
				if at > last && !yield(at, f) {
					return
				}
				last = at
			}
		}
	}
}

func stamp(seconds int64) string { return instant(seconds).Format(time.RFC3339) }
