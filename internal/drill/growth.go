package drill

import (
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
)

// Growth returns the share of the need that the workloads with a coverage have in a rebuild
// over time, by the Model. estimate returns the estimate of a workload, which may be nil.
// A workload that never gets there without help keeps the pods of its start.
func (d Document) Growth(estimate func(Workload) *Estimate) []term.Point {
	added := map[time.Duration]int64{0: 0} // pods
	need := int64(0)
	for _, w := range d.Workloads {
		if w.Coverage == nil {
			continue
		}
		e := Estimate{From: w.Start.AtLeast}
		if known := estimate(w); known != nil {
			e = *known
		}
		need += int64(*w.Need)
		last := min(int64(*w.Need), int64(e.From))
		added[PodStart] += last
		for round := 1; round <= e.Rounds && !e.Never; round++ {
			pods := min(int64(*w.Need), int64(e.From)<<round)
			added[PodStart+time.Duration(round)*Round] += pods - last
			last = pods
		}
	}
	var points []term.Point
	pods := int64(0)
	for _, at := range slices.Sorted(maps.Keys(added)) {
		pods += added[at]
		points = append(points, term.Point{At: at, Value: float64(pods) / float64(max(1, need))})
	}
	return points
}

// With returns the estimate of a rebuild, for Growth. Without returns the same without any
// checkpoint.
func With(w Workload) *Estimate    { return w.With }
func Without(w Workload) *Estimate { return w.Without }
