package simulate

import (
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// The defaults of a HorizontalPodAutoscaler.
const (
	step      = 15 * time.Second // time between two syncs
	tolerance = 0.1
	window5   = 5 * time.Minute // scaling down uses the highest recommendation of this time
	// saturated is the highest measured utilization of a pod, relative to its target.
	// Load above it waits, and no metric shows it.
	saturated = 1.8
	// cooldown is the time that KEDA waits with an empty queue before it removes the last
	// pod.
	cooldown = 5 * time.Minute
)

// autoscaler is the state of one autoscaler.
type autoscaler struct {
	traces.Workload
	recommended []int32 // recommendations of the last five minutes, oldest first
	idle        time.Duration
}

// sync returns the desired pods, given the present desired and ready pods, and the load.
func (a *autoscaler) sync(desired, ready int32, load float64) int32 {
	if a.Driver == workload.DrivenByKEDA && a.Min == 0 {
		if load == 0 {
			a.idle += step
		} else {
			a.idle = 0
		}
		switch {
		case a.idle >= cooldown:
			a.recommended = nil
			return 0
		case desired == 0:
			return min(1, int32(math.Ceil(load)))
		}
	}
	want := a.recommend(desired, ready, load)
	a.recommended = append(a.recommended, want)
	if most := int(window5 / step); len(a.recommended) > most {
		a.recommended = a.recommended[len(a.recommended)-most:]
	}
	want = max(want, min(desired, slices.Max(a.recommended)))
	want = min(want, max(2*desired, desired+4))
	return min(max(want, a.Min, 1), a.Max)
}

// recommend returns the number of pods that would bring the metric to its target. CPU is
// only measured on ready pods, each at most at saturated. When the replicas grow, a pod
// that is not ready counts as a pod without load. Other metrics, such as the length of a
// queue or the requests at the edge, are measured completely.
func (a *autoscaler) recommend(desired, ready int32, load float64) int32 {
	if a.Target > 0 {
		load = min(load, saturated*float64(ready))
	}
	if ratio := load / float64(desired); math.Abs(ratio-1) <= tolerance {
		return desired
	}
	return int32(math.Ceil(load))
}
