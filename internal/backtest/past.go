package backtest

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Past has samples of the scale of some workloads. They are packed with about two bytes
// a sample, so months of samples fit into memory, in any order of the workloads. A replay
// does not change the Past. The zero value is empty.
type Past struct {
	tracks  map[workload.ID]*track
	steps   map[time.Duration]int // number of times between two samples of a workload
	samples int64
	from    time.Time
	to      time.Time
}

// A Sample is the scale of a workload at an instant. An autoscaler drives the workload, its
// pods are ready, and its minimum and maximum replicas are unknown.
type Sample struct {
	At   time.Time // in whole seconds
	Pods int32     // desired replicas
}

func (s Sample) scale() workload.Scale {
	return workload.Scale{Desired: s.Pods, Ready: s.Pods, Driver: workload.DrivenByHPA}
}

// A track has the samples of one workload, in ascending time. Each sample is the change of
// the time between samples, then the change of the pods.
type track struct {
	source string // of the last sample
	at     int64  // Unix seconds, of the last sample
	step   int64  // seconds between the last two samples
	pods   int64  // of the last sample
	peak   int32
	data   []byte
}

// Add appends a sample of a workload, which must be later than the one before. If the
// first sample of a source has the time of the last sample of another source, Add skips
// it. Errors name the sources.
func (p *Past) Add(id workload.ID, source string, s Sample) error {
	if p.tracks == nil {
		p.tracks = map[workload.ID]*track{}
		p.steps = map[time.Duration]int{}
		p.from = s.At
	}
	at := s.At.Unix()
	t := p.tracks[id]
	switch {
	case t == nil:
		t = &track{}
		p.tracks[id] = t
	case at == t.at && source != t.source:
		return nil
	case at == t.at:
		return fmt.Errorf("%s at %s appears twice. Keep one sample for each time", id.Short(), stamp(at))
	case at < t.at:
		return fmt.Errorf("%s at %s comes after %s of %s: sort the samples and the files by time. Give each workload once, with an aggregation such as max by (namespace, deployment) (...)", id.Short(), stamp(at), stamp(t.at), t.source)
	default:
		p.steps[time.Duration(at-t.at)*time.Second]++
	}
	t.data = binary.AppendVarint(t.data, at-t.at-t.step)
	t.data = binary.AppendVarint(t.data, int64(s.Pods)-t.pods)
	t.source = source
	t.step = at - t.at
	t.at = at
	t.pods = int64(s.Pods)
	t.peak = max(t.peak, s.Pods)
	p.samples++
	if s.At.Before(p.from) {
		p.from = s.At
	}
	if s.At.After(p.to) {
		p.to = s.At
	}
	return nil
}

// Of iterates over the samples of one workload, in order.
func (p *Past) Of(id workload.ID) iter.Seq[Sample] {
	return func(yield func(Sample) bool) {
		var at, step, pods int64
		rest := p.tracks[id].data
		next := func() int64 {
			n, size := binary.Varint(rest)
			rest = rest[size:]
			return n
		}
		for len(rest) > 0 {
			step += next()
			at += step
			pods += next()
			if !yield(Sample{time.Unix(at, 0).UTC(), int32(pods)}) {
				return
			}
		}
	}
}

// Samples returns the number of samples.
func (p *Past) Samples() int64 { return p.samples }

// IDs returns the workloads, in the order of workload.Compare.
func (p *Past) IDs() []workload.ID { return slices.SortedFunc(maps.Keys(p.tracks), workload.Compare) }

// Span returns the times of the first and the last sample; zero without samples.
func (p *Past) Span() (from, to time.Time) { return p.from.UTC(), p.to.UTC() }

// Step returns the most frequent time between two samples of a workload, and the shortest
// of several. It returns 0 if no workload has two samples.
func (p *Past) Step() (usual time.Duration) {
	for _, step := range slices.Sorted(maps.Keys(p.steps)) {
		if p.steps[step] > p.steps[usual] {
			usual = step
		}
	}
	return usual
}

// Largest returns the workload with the most desired replicas, and the first of several.
// The past must not be empty.
func (p *Past) Largest() workload.ID {
	return slices.MaxFunc(p.IDs(), func(a, b workload.ID) int { return cmp.Compare(p.tracks[a].peak, p.tracks[b].peak) })
}

func stamp(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }
