package policy

import (
	"cmp"
	"slices"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// assessDrop finds a mass drop, and its end. A drop starts when DropShare of the workloads
// with a known scale, and at least DropLeast, have at most half of their peak within
// DropWithin. It ends when fewer workloads are down, unknown or absent. During a drop the
// recent scales do not change, so the drop lasts until the workloads recover or a user
// acknowledges it. A drop also lasts while no latch has recent scales.
func assessDrop(g Guards, h latch.Head, fleet workload.Fleet, scales map[workload.ID]int32, past latch.Latches) latch.Head {
	from := fleet.At
	if h.Drop != nil {
		from = h.Drop.Since
	}
	from = from.Add(-g.DropWithin)
	down, total := 0, 0
	var falls []latch.Fall
	for one := range past.All() {
		scale, seen := scales[one.ID]
		unknown := !seen || scale == latch.Unknown
		_, was := one.Recent.Range(from)
		if scale == Unlatched || was < 2 || unknown && h.Drop == nil {
			continue
		}
		total++
		if unknown || int64(scale)*2 <= int64(was) {
			down++
			falls = append(falls, latch.Fall{ID: one.ID, From: was, To: scale})
		}
	}
	many := down >= g.DropLeast && float64(down) >= shareOf(g.DropShare, total)
	forgotten := h.Drop != nil && total == 0 // no latch has recent scales to compare with
	switch {
	case !many && !forgotten:
		h.Drop = nil
	case h.Drop == nil:
		h.Drop = &latch.Drop{Since: fleet.At, Workloads: down, Of: total, Worst: worst(falls)}
	}
	return h
}

// worst returns the falls that lost the most pods, the largest first.
func worst(falls []latch.Fall) []latch.Fall {
	slices.SortFunc(falls, func(a, b latch.Fall) int {
		return cmp.Or(cmp.Compare(b.From-b.To, a.From-a.To), workload.Compare(a.ID, b.ID))
	})
	return slices.Clone(falls[:min(len(falls), latch.MostFalls)])
}

// remember returns the latches with the recent scales after this sample. With restart, they
// start with this sample. An unknown scale changes nothing. The recent scales of an absent
// workload stay for DropWithin. If no policy latches a workload, its recent scales are removed.
func remember(g Guards, h latch.Head, fleet workload.Fleet, scales map[workload.ID]int32, past latch.Latches, restart bool) latch.Latches {
	changed := map[workload.ID]latch.Latch{}
	note := func(one latch.Latch, pods int32) {
		next := one.Recent
		if restart {
			next = nil
		}
		next = next.Next(pods, h.At, fleet.At, g.DropWithin)
		if _, high := next.Range(fleet.At.Add(-g.DropWithin)); high == latch.Unknown {
			next = nil
		}
		if !slices.Equal(next, one.Recent) {
			one.Recent = next
			changed[one.ID] = one
		}
	}
	fresh := len(scales) // the sampled workloads without a latch
	for one := range past.All() {
		scale, seen := scales[one.ID]
		if seen {
			fresh--
		}
		switch {
		case seen && scale >= 0:
			note(one, scale)
		case len(one.Recent) == 0:
		case scale == Unlatched:
			one.Recent = nil
			changed[one.ID] = one
		case !seen:
			note(one, latch.Unknown)
		}
	}
	for id, scale := range scales {
		if fresh == 0 {
			break
		}
		_, known := past.Lookup(id)
		if !known && scale >= 0 {
			note(latch.Latch{ID: id}, scale)
		}
	}
	return past.With(changed)
}
