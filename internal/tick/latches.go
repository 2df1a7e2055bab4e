package tick

import (
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// latches are a site's latches as they were loaded and as they are now.
type latches struct {
	loaded, now map[workload.ID]latch.Latch
}

func newLatches(all []latch.Latch) latches {
	l := latches{loaded: make(map[workload.ID]latch.Latch, len(all))}
	for _, one := range all {
		l.loaded[one.ID] = one
	}
	l.now = maps.Clone(l.loaded)
	return l
}

// get returns the latch of a workload, a blank one where it has none.
func (l latches) get(id workload.ID) latch.Latch {
	one := l.now[id]
	one.ID = id
	return one
}

// known reports whether the workload has a latch.
func (l latches) known(id workload.ID) bool {
	_, known := l.now[id]
	return known
}

func (l latches) set(one latch.Latch) { l.now[one.ID] = one }

// ids are those of all latches, in order.
func (l latches) ids() []workload.ID {
	return slices.SortedFunc(maps.Keys(l.now), workload.Compare)
}

// declared is what the latches say that git holds.
func (l latches) declared() ledger.Holding {
	held := ledger.Holding{Entries: map[workload.ID]checkpoint.Entry{}}
	for id, one := range l.now {
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
	for id, one := range l.now {
		if !excepted[id] {
			l.now[id] = one.Unproposed()
		}
	}
}

// beginAbsences has all absences begin anew.
func (l latches) beginAbsences() {
	for _, one := range l.now {
		one.Missing = latch.Stopwatch{}
		l.set(one)
	}
}

// recent is what is remembered of the scales of the recent past.
func (l latches) recent() map[workload.ID]latch.Recent {
	all := make(map[workload.ID]latch.Recent, len(l.now))
	for id, one := range l.now {
		if len(one.Recent) > 0 {
			all[id] = one.Recent
		}
	}
	return all
}

// changed are the latches to save, and the latches to drop because they are blank.
func (l latches) changed() (put []latch.Latch, drop []workload.ID) {
	for _, id := range l.ids() {
		one := l.now[id]
		before, stored := l.loaded[id]
		switch {
		case one.Blank() && stored:
			drop = append(drop, id)
		case !one.Blank() && !(stored && one.Equal(before)):
			put = append(put, one)
		}
	}
	return put, drop
}
