package latch

import (
	"iter"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// State is the state of a site: its head and its latches. The steps of a tick take a
// state, and return a changed copy.
type State struct {
	Head    Head
	Latches Latches
}

// Latches are the latches of a site, by workload. They are a value: With returns other
// latches and leaves these as they are. The zero value has none.
//
// The latches of a large fleet take much memory, and a tick changes few of them. So each
// step of a tick adds a layer with its changes, and no step copies all.
type Latches struct {
	layers []map[workload.ID]Latch // the loaded latches first; a later layer hides an earlier one
}

// LatchesOf returns the latches of a map. The map must not be changed after that.
func LatchesOf(loaded map[workload.ID]Latch) Latches {
	return Latches{layers: []map[workload.ID]Latch{loaded}}
}

// With returns the latches with some of them changed or added. The map must not be
// changed after that.
func (l Latches) With(changed map[workload.ID]Latch) Latches {
	if len(changed) == 0 {
		return l
	}
	return Latches{layers: append(slices.Clip(l.layers), changed)}
}

// Lookup returns the latch of a workload; known is false if it has none.
func (l Latches) Lookup(id workload.ID) (one Latch, known bool) {
	for _, layer := range slices.Backward(l.layers) {
		one, known = layer[id]
		if known {
			return one, true
		}
	}
	return Latch{}, false
}

// Get returns the latch of a workload, or a blank one if it has none.
func (l Latches) Get(id workload.ID) Latch {
	one, _ := l.Lookup(id)
	one.ID = id
	return one
}

// All returns all latches in no particular order.
func (l Latches) All() iter.Seq[Latch] {
	return func(yield func(Latch) bool) {
		for i, layer := range l.layers {
			above := Latches{layers: l.layers[i+1:]}
			for id, one := range layer {
				_, hidden := above.Lookup(id)
				if !hidden && !yield(one) {
					return
				}
			}
		}
	}
}

// Sorted returns all latches in the order of workload.Compare.
func (l Latches) Sorted() []Latch {
	return slices.SortedFunc(l.All(), compare)
}

// Entries returns the number of workloads with an entry in git.
func (l Latches) Entries() int {
	n := 0
	for one := range l.All() {
		if !one.Declared.IsZero() {
			n++
		}
	}
	return n
}

// Changed returns the latches that differ from those that LatchesOf had, in the order of
// workload.Compare.
func (l Latches) Changed() []Latch {
	if len(l.layers) < 2 {
		return nil
	}
	changed := maps.Clone(l.layers[1])
	for _, layer := range l.layers[2:] {
		maps.Copy(changed, layer)
	}
	maps.DeleteFunc(changed, func(id workload.ID, one Latch) bool {
		was, known := l.layers[0][id]
		return known && one.Equal(was) || !known && one.Blank()
	})
	return slices.SortedFunc(maps.Values(changed), compare)
}

func compare(a, b Latch) int { return workload.Compare(a.ID, b.ID) }
