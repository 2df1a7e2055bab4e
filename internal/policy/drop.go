package policy

import (
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// marks is how many instants the guard against a mass drop remembers at most.
const marks = 6

// assessDrop finds a mass drop, and its end, and remembers the scales of now. A
// drop begins once DropShare of the workloads that are known, and DropLeast at
// least, have at most half of their peak since DropWithin, or since the last look
// where that is older. It lasts until fewer are down or unknown.
func assessDrop(g Guards, h latch.Head, now time.Time, scales map[workload.ID]int32) latch.Head {
	from := since(h.Recent, now.Add(-g.DropWithin))
	before := func(id workload.ID) int32 { return peak(h.Recent, id, from) }
	if h.Drop != nil {
		before = func(id workload.ID) int32 { return h.Drop.Before[id] }
	}
	down, total := 0, 0
	for id, scale := range scales {
		was, unknown := before(id), scale == latch.Unknown
		if was < 2 || unknown && h.Drop == nil {
			continue
		}
		total++
		if unknown || int64(scale)*2 <= int64(was) {
			down++
		}
	}
	mass := down >= g.DropLeast && float64(down) >= shareOf(g.DropShare, total)
	switch {
	case !mass:
		h.Drop = nil
	case h.Drop == nil:
		h.Drop = &latch.Drop{Since: now, Workloads: down, Before: peaks(h.Recent, from)}
	}
	h.Recent = remember(h.Recent, now, g, scales)
	return h
}

// withUnread adds the workloads that are remembered and were not seen, where the
// fleet was read in part: their scales are unknown. Where it was read whole they
// are gone, and no part of it.
func withUnread(scales map[workload.ID]int32, r latch.Recent, fleet workload.Fleet) map[workload.ID]int32 {
	if len(fleet.Unread) == 0 {
		return scales
	}
	all := make(map[workload.ID]int32, len(r.Counts))
	for id := range r.Counts {
		all[id] = latch.Unknown
	}
	for _, s := range fleet.Samples {
		delete(all, s.ID) // what is seen and not latched is no part of the fleet
	}
	maps.Copy(all, scales)
	return all
}

// since is the index of the first instant that is remembered since another; where
// all are older, that of the last: after a gap the last look is what is known.
func since(r latch.Recent, when time.Time) int {
	from := 0
	for from < len(r.At)-1 && r.At[from].Before(when) {
		from++
	}
	return from
}

// peaks is the peak of each workload.
func peaks(r latch.Recent, from int) map[workload.ID]int32 {
	all := make(map[workload.ID]int32, len(r.Counts))
	for id := range r.Counts {
		if n := peak(r, id, from); n > 0 {
			all[id] = n
		}
	}
	return all
}

// peak is the most that a workload was known with, from an index on; 0 where it
// was not.
func peak(r latch.Recent, id workload.ID, from int) int32 {
	highest := int32(0)
	for i := from; i < len(r.Counts[id]); i++ {
		highest = max(highest, r.Counts[id][i])
	}
	return highest
}

// remember adds the scales of now, unless the last were added a moment ago, and
// forgets what is older than the guard looks back. What is unknown is remembered as
// it was.
func remember(r latch.Recent, now time.Time, g Guards, scales map[workload.ID]int32) latch.Recent {
	if n := len(r.At); n > 0 && now.Sub(r.At[n-1]) < g.DropWithin/marks {
		return r
	}
	from := since(r, now.Add(-g.DropWithin))
	next := latch.Recent{At: append(slices.Clone(r.At[from:]), now), Counts: make(map[workload.ID][]int32, len(scales))}
	for id, scale := range scales {
		past, known := r.Counts[id]
		switch {
		case known:
			past = past[from:]
		case scale == latch.Unknown:
			continue
		default:
			past = slices.Repeat([]int32{latch.Unknown}, len(r.At)-from)
		}
		if scale == latch.Unknown {
			scale = past[len(past)-1]
		}
		next.Counts[id] = slices.Concat(past, []int32{scale})
	}
	return next
}
