package tick

import (
	"iter"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// latches are a site's latches as they were loaded, and those that moved since as they
// are now: a quiet tick of a large fleet holds each once.
type latches struct {
	loaded, moved map[workload.ID]latch.Latch
}

func newLatches(loaded map[workload.ID]latch.Latch) latches {
	return latches{loaded, map[workload.ID]latch.Latch{}}
}

// get returns the latch of a workload, a blank one where it has none.
func (l latches) get(id workload.ID) latch.Latch {
	one, _ := l.of(id)
	one.ID = id
	return one
}

// of returns the latch of a workload; known is false where it has none.
func (l latches) of(id workload.ID) (one latch.Latch, known bool) {
	if one, known = l.moved[id]; !known {
		one, known = l.loaded[id]
	}
	return one, known
}

// known reports whether the workload has a latch.
func (l latches) known(id workload.ID) bool {
	_, known := l.of(id)
	return known
}

func (l latches) set(one latch.Latch) {
	if before, stored := l.loaded[one.ID]; stored && one.Equal(before) {
		delete(l.moved, one.ID)
		return
	}
	l.moved[one.ID] = one
}

// all are the latches as they are now, in any order.
func (l latches) all() iter.Seq2[workload.ID, latch.Latch] {
	return func(yield func(workload.ID, latch.Latch) bool) {
		for id, one := range l.moved {
			if !yield(id, one) {
				return
			}
		}
		for id, one := range l.loaded {
			if _, moved := l.moved[id]; !moved && !yield(id, one) {
				return
			}
		}
	}
}

// now are all latches, for those who only read them.
func (l latches) now() map[workload.ID]latch.Latch {
	if len(l.moved) == 0 {
		return l.loaded
	}
	return maps.Collect(l.all())
}

// ids are those of all latches, in order.
func (l latches) ids() []workload.ID {
	all := make([]workload.ID, 0, len(l.loaded)+len(l.moved))
	for id := range l.all() {
		all = append(all, id)
	}
	slices.SortFunc(all, workload.Compare)
	return all
}

// besides are the latches of all workloads but some, in order.
func (l latches) besides(some map[workload.ID]bool) (others []latch.Latch) {
	for id, one := range l.all() {
		if !some[id] {
			others = append(others, one)
		}
	}
	slices.SortFunc(others, func(a, b latch.Latch) int { return workload.Compare(a.ID, b.ID) })
	return others
}

// declared is what the latches say that git holds.
func (l latches) declared() ledger.Holding {
	held := ledger.Holding{Entries: map[workload.ID]checkpoint.Entry{}}
	for id, one := range l.all() {
		if !one.Declared.IsZero() {
			held.Entries[id] = one.Declared
		}
	}
	return held
}

// unpropose forgets what is proposed, except for the workloads of some changes.
func (l latches) unpropose(except []checkpoint.Change) {
	excepted := map[workload.ID]bool{}
	for _, c := range except {
		excepted[c.ID] = true
	}
	for id, one := range l.now() {
		if !excepted[id] {
			l.set(one.Unproposed())
		}
	}
}

// beginAbsences has all absences begin anew.
func (l latches) beginAbsences() {
	for _, one := range l.now() {
		one.Missing = latch.Stopwatch{}
		l.set(one)
	}
}

// recent is what is remembered of the scales of the recent past.
func (l latches) recent() map[workload.ID]latch.Recent {
	all := make(map[workload.ID]latch.Recent, len(l.loaded))
	for id, one := range l.all() {
		if len(one.Recent) > 0 {
			all[id] = one.Recent
		}
	}
	return all
}

// changed are the latches to save, and the latches to drop because they are blank.
func (l latches) changed() (put []latch.Latch, drop []workload.ID) {
	for id, one := range l.all() {
		if _, moved := l.moved[id]; moved && !one.Blank() {
			put = append(put, one)
		} else if one.Blank() {
			if _, stored := l.loaded[id]; stored {
				drop = append(drop, id)
			}
		}
	}
	slices.SortFunc(put, func(a, b latch.Latch) int { return workload.Compare(a.ID, b.ID) })
	slices.SortFunc(drop, workload.Compare)
	return put, drop
}
