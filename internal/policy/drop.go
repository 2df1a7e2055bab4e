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
// where that is older. It lasts until fewer are down, unknown or absent. A look at
// a part of the fleet is neither compared nor remembered.
func assessDrop(g Guards, h latch.Head, fleet workload.Fleet, scales map[workload.ID]int32) latch.Head {
	if len(fleet.Unread) > 0 {
		return h
	}
	h.Recent.At = past(h.Recent.At, fleet.At)
	from := since(h.Recent, fleet.At.Add(-g.DropWithin))
	before := peaks(h.Recent, from)
	if h.Drop != nil {
		before = h.Drop.Before
	}
	down, total := 0, 0
	gone := absent(h, fleet, scales)
	for id, was := range before {
		scale, latched := scales[id]
		unknown := gone[id] || scale == latch.Unknown
		if was < 2 || !latched && !gone[id] || unknown && h.Drop == nil {
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
		h.Drop = &latch.Drop{Since: fleet.At, Workloads: down, Before: before}
	}
	h.Recent = remember(h.Recent, g, fleet.At, scales, gone)
	return h
}

// absent are the workloads that are remembered and were not seen.
func absent(h latch.Head, fleet workload.Fleet, scales map[workload.ID]int32) map[workload.ID]bool {
	gone := map[workload.ID]bool{}
	for id := range h.Recent.Counts {
		gone[id] = true
	}
	if h.Drop != nil {
		for id := range h.Drop.Before {
			gone[id] = true
		}
	}
	for id := range scales {
		delete(gone, id)
	}
	for _, s := range fleet.Samples { // what is seen and not latched is no part of the fleet
		delete(gone, s.ID)
	}
	return gone
}

// past are the instants that are remembered, none of them after now: what a clock
// said that was ahead is as of now.
func past(at []time.Time, now time.Time) []time.Time {
	at = slices.Clone(at)
	for i := range at {
		if at[i].After(now) {
			at[i] = now
		}
	}
	return at
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
// it was; what is absent has no scale, and is remembered as long as it had one.
func remember(r latch.Recent, g Guards, now time.Time, scales map[workload.ID]int32, gone map[workload.ID]bool) latch.Recent {
	if n := len(r.At); n > 0 && now.Sub(r.At[n-1]) < g.DropWithin/marks {
		return r
	}
	from := since(r, now.Add(-g.DropWithin))
	next := latch.Recent{At: append(slices.Clone(r.At[from:]), now), Counts: make(map[workload.ID][]int32, len(scales))}
	for id, scale := range scales {
		before := slices.Repeat([]int32{latch.Unknown}, len(r.At)-from)
		if known, ok := r.Counts[id]; ok {
			before = known[from:]
		}
		if scale == latch.Unknown && len(before) > 0 {
			scale = before[len(before)-1]
		}
		next.Counts[id] = slices.Concat(before, []int32{scale})
	}
	for id := range gone {
		if peak(r, id, from) > 0 {
			next.Counts[id] = slices.Concat(r.Counts[id][from:], []int32{latch.Unknown})
		}
	}
	maps.DeleteFunc(next.Counts, func(_ workload.ID, counts []int32) bool { return slices.Max(counts) == latch.Unknown })
	return next
}
