package policy

import (
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// assessDrop finds a mass drop, and its end. A drop begins once DropShare of the
// workloads that are known, and DropLeast at least, have at most half of their
// peak since DropWithin, or of the last look where that is older. It lasts until
// fewer are down, unknown or absent; one of which nothing is remembered lasts until
// a person acknowledges it. A look at a part of the fleet is not compared.
func assessDrop(g Guards, h latch.Head, fleet workload.Fleet, scales map[workload.ID]int32, past map[workload.ID]latch.Recent) latch.Head {
	from := fleet.At
	if h.Drop != nil {
		from = h.Drop.Since
	}
	from = from.Add(-g.DropWithin)
	down, total := 0, 0
	for id, r := range latched(fleet, scales, past) {
		scale, seen := scales[id]
		unknown := !seen || scale == latch.Unknown
		if _, was := r.Range(from); was < 2 || unknown && h.Drop == nil {
			continue
		} else if total++; unknown || int64(scale)*2 <= int64(was) {
			down++
		}
	}
	mass := down >= g.DropLeast && float64(down) >= shareOf(g.DropShare, total) || h.Drop != nil && total == 0
	switch {
	case !mass:
		h.Drop = nil
	case h.Drop == nil:
		h.Drop = &latch.Drop{Since: fleet.At, Workloads: down}
	}
	return h
}

// latched is what is remembered of the fleet: what is seen and not latched is no
// part of it.
func latched(fleet workload.Fleet, scales map[workload.ID]int32, past map[workload.ID]latch.Recent) map[workload.ID]latch.Recent {
	of := maps.Clone(past)
	for _, s := range fleet.Samples {
		if _, latched := scales[s.ID]; !latched {
			delete(of, s.ID)
		}
	}
	return of
}

// remember returns what is remembered of each workload after a look, where that is
// not what was. With anew it begins with this look. What is unknown is remembered
// as it was, and what is absent as long as it had a scale.
func remember(g Guards, h latch.Head, fleet workload.Fleet, scales map[workload.ID]int32, past map[workload.ID]latch.Recent, anew bool) map[workload.ID]latch.Recent {
	changed := map[workload.ID]latch.Recent{}
	note := func(id workload.ID, pods int32) {
		was := past[id]
		next := was
		if anew {
			next = nil
		}
		next = next.Next(pods, h.At, fleet.At, g.DropWithin)
		if _, high := next.Range(fleet.At.Add(-g.DropWithin)); high == latch.Unknown {
			next = nil
		}
		if !slices.Equal(next, was) {
			changed[id] = next
		}
	}
	for id, scale := range scales {
		if scale != latch.Unknown {
			note(id, scale)
		}
	}
	of := latched(fleet, scales, past)
	for id := range past {
		if _, fleets := of[id]; !fleets {
			changed[id] = nil
		} else if _, seen := scales[id]; !seen {
			note(id, latch.Unknown)
		}
	}
	return changed
}
