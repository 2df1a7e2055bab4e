package tick

import (
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// latches are a site's latches as they are now, and of those that moved what they were
// when they were loaded: a quiet tick of a large fleet holds each once.
type latches struct {
	held, moved map[workload.ID]latch.Latch
}

func newLatches(loaded map[workload.ID]latch.Latch) latches {
	return latches{loaded, map[workload.ID]latch.Latch{}}
}

// get returns the latch of a workload, a blank one where it has none.
func (l latches) get(id workload.ID) latch.Latch {
	one := l.held[id]
	one.ID = id
	return one
}

// of returns the latch of a workload; known is false where it has none.
func (l latches) of(id workload.ID) (one latch.Latch, known bool) {
	one, known = l.held[id]
	return one, known
}

// known reports whether the workload has a latch.
func (l latches) known(id workload.ID) bool {
	_, known := l.held[id]
	return known
}

func (l latches) set(one latch.Latch) {
	was, moved := l.moved[one.ID]
	if !moved {
		was = l.held[one.ID] // without an ID where there was none
	}
	if was.ID == one.ID && one.Equal(was) {
		delete(l.moved, one.ID)
		one = was
	} else {
		l.moved[one.ID] = was
	}
	l.held[one.ID] = one
}

// now are all latches, for those who only read them.
func (l latches) now() map[workload.ID]latch.Latch { return l.held }

// loaded are all latches as they were loaded.
func (l latches) loaded() map[workload.ID]latch.Latch {
	all := maps.Clone(l.held)
	maps.Copy(all, l.moved)
	maps.DeleteFunc(all, func(id workload.ID, was latch.Latch) bool { return was.ID != id })
	return all
}

// ids are those of all latches, in order.
func (l latches) ids() []workload.ID {
	return slices.SortedFunc(maps.Keys(l.held), workload.Compare)
}

// besides are the latches of all workloads but some, in order.
func (l latches) besides(some map[workload.ID]bool) (others []latch.Latch) {
	for id, one := range l.held {
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
	for id, one := range l.held {
		if !one.Declared.IsZero() {
			held.Entries[id] = one.Declared
		}
	}
	return held
}

// entries is the number of workloads with an entry in git.
func (l latches) entries() int {
	n := 0
	for _, one := range l.held {
		if !one.Declared.IsZero() {
			n++
		}
	}
	return n
}

// unpropose forgets what is proposed, except for the workloads of some changes.
func (l latches) unpropose(except []checkpoint.Change) {
	excepted := map[workload.ID]bool{}
	for _, c := range except {
		excepted[c.ID] = true
	}
	for id, one := range l.held {
		if !excepted[id] {
			l.set(one.Unproposed())
		}
	}
}

// beginAbsences has all absences begin anew.
func (l latches) beginAbsences() {
	for _, one := range l.held {
		one.Missing = latch.Stopwatch{}
		l.set(one)
	}
}

// recent is what is remembered of the scales of the recent past.
func (l latches) recent() map[workload.ID]latch.Recent {
	all := make(map[workload.ID]latch.Recent, len(l.held))
	for id, one := range l.held {
		if len(one.Recent) > 0 {
			all[id] = one.Recent
		}
	}
	return all
}

// checksum returns the checksum of the latches once the changed latches are saved.
func (l latches) checksum() (sum int64) {
	for id, one := range l.held {
		if _, moved := l.moved[id]; moved {
			one.Rev++
		}
		if !one.Blank() {
			sum += one.Checksum()
		}
	}
	return sum
}

// changed are the latches to save, and the latches to drop because they are blank.
func (l latches) changed() (put []latch.Latch, drop []workload.ID) {
	for id, one := range l.held {
		was, moved := l.moved[id]
		if stored := !moved || was.ID == id; moved && !one.Blank() {
			put = append(put, one)
		} else if one.Blank() && stored {
			drop = append(drop, id)
		}
	}
	slices.SortFunc(put, func(a, b latch.Latch) int { return workload.Compare(a.ID, b.ID) })
	slices.SortFunc(drop, workload.Compare)
	return put, drop
}
