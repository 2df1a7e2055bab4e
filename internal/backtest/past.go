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

// A Past has samples of the scale of some workloads. They are packed with about two bytes
// a sample, so months of samples fit into memory, in any order of the workloads. A replay
// does not change the Past, so several candidates can run at once. The zero value is
// empty.
type Past struct {
	rows map[workload.ID][]*Run
}

// A Sample is the scale of a workload at an instant.
type Sample struct {
	At    time.Time // in whole seconds
	Scale workload.Scale
}

// A Run is a series of samples of one workload from one source, in ascending time.
type Run struct {
	past   *Past
	id     workload.ID
	source string
	first  int64 // Unix seconds
	packed packed
}

// Run starts a run of samples of a workload. Errors show the source if two runs overlap.
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

// Samples returns the number of samples.
func (p *Past) Samples() (n int64) {
	for _, runs := range p.rows {
		for _, r := range runs {
			n += int64(r.packed.samples)
		}
	}
	return n
}

// IDs returns the workloads, in the order of workload.Compare.
func (p *Past) IDs() []workload.ID { return slices.SortedFunc(maps.Keys(p.rows), workload.Compare) }

// Span returns the times of the first and the last sample; zero without samples.
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

// Check sorts the runs of each workload, and returns an error if two of them overlap. It
// must be called once after the last sample, before any replay.
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

// Step returns the usual time between two samples of a workload: the most frequent one of
// most workloads. It returns 0 if no workload has two samples.
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

// most returns the key with the highest count, and the lowest of several such keys.
func most(counts map[int64]int) int64 {
	keys := slices.Sorted(maps.Keys(counts))
	return slices.MaxFunc(keys, func(a, b int64) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a))
	})
}

// Of iterates over the samples of one workload, in order.
func (p *Past) Of(id workload.ID) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		for at, f := range p.seconds(id) {
			if !yield(Sample{instant(at), f.scale()}) {
				return
			}
		}
	}
}

// seconds iterates over the samples of one workload, in order. If one run ends at the
// time at which the next one starts, it returns that time once.
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
