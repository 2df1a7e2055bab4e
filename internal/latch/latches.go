package latch

import (
	"iter"
	"slices"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// State is the state of a site: its head and its latches. The steps of a tick take a
// state, and return a changed copy.
type State struct {
	Head    Head
	Latches Latches
}

// Torn reports whether the latches differ from those that the head was saved with. Then a save
// stopped before the head, or latches were lost.
func (s State) Torn() bool { return s.Head.Latches != s.Latches.Checksum() }

// WithoutProposal returns the state without the open proposal and its proposed entries.
func (s State) WithoutProposal() State {
	s.Head.Proposal = nil
	s.Latches = s.Latches.Each(Latch.Unproposed)
	return s
}

// Latches are the latches of a site, by workload. They are a value: With returns other
// latches and does not change the receiver. The zero value is empty.
//
// The latches of a large fleet take much memory, and a tick changes few of them. So each
// step of a tick adds a layer with its changes, instead of a copy of all latches.
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

// Each returns the latches after a call of change for each latch. It stores only the
// latches that differ.
func (l Latches) Each(change func(Latch) Latch) Latches {
	changed := map[workload.ID]Latch{}
	for was := range l.All() {
		is := change(was)
		if !is.Equal(was) {
			changed[is.ID] = is
		}
	}
	return l.With(changed)
}

// Lookup returns the latch of a workload; known is false if the workload has no latch.
func (l Latches) Lookup(id workload.ID) (one Latch, known bool) {
	for _, layer := range slices.Backward(l.layers) {
		one, known = layer[id]
		if known {
			return one, true
		}
	}
	return Latch{}, false
}

// Get returns the latch of a workload; a blank one if the workload has no latch.
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

// Changed returns the latches to save, and the latches to drop because they became blank,
// both in the order of workload.Compare. It compares with the latches that were passed to
// LatchesOf.
func (l Latches) Changed() (put []Latch, drop []workload.ID) {
	loaded, changes := l.split()
	for one := range changes.All() {
		was, known := loaded[one.ID]
		switch {
		case one.Blank() && known:
			drop = append(drop, one.ID)
		case !one.Blank() && (!known || !one.Equal(was)):
			put = append(put, one)
		}
	}
	slices.SortFunc(put, compare)
	slices.SortFunc(drop, workload.Compare)
	return put, drop
}

// Checksum returns the Checksum of the latches once the changed latches are saved.
func (l Latches) Checksum() (sum int64) {
	loaded, _ := l.split()
	for _, one := range loaded {
		sum += one.Checksum()
	}
	put, drop := l.Changed()
	for _, one := range put {
		was, known := loaded[one.ID]
		if known {
			sum -= was.Checksum()
		}
		one.Rev++
		sum += one.Checksum()
	}
	for _, id := range drop {
		sum -= loaded[id].Checksum()
	}
	return sum
}

// split returns the latches that were passed to LatchesOf, and the later layers.
func (l Latches) split() (loaded map[workload.ID]Latch, changes Latches) {
	if len(l.layers) == 0 {
		return nil, l
	}
	return l.layers[0], Latches{layers: l.layers[1:]}
}

func compare(a, b Latch) int { return workload.Compare(a.ID, b.ID) }
