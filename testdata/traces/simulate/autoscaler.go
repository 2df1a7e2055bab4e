package simulate

import (
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// How a HorizontalPodAutoscaler behaves that is not told otherwise.
const (
	step      = 15 * time.Second // from one sync to the next
	tolerance = 0.1
	window5   = 5 * time.Minute // of the highest recommendation, on the way down
	// saturated is the most that a busy pod can be measured at, over its target:
	// what is beyond waits, and is not seen.
	saturated = 1.8
	// cooldown is how long KEDA waits with an empty queue before the last pod
	// goes.
	cooldown = 5 * time.Minute
)

// autoscaler is the memory of one autoscaler.
type autoscaler struct {
	traces.Workload
	recommended []int32 // of the last five minutes, oldest first
	idle        time.Duration
}

// sync returns the pods to ask for, given what is asked for, what of it is
// ready, and the load seen.
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

// recommend is the count that would bring the metric to its target. CPU is
// seen on ready pods only, each at most saturated; on the way up a pod that is
// not ready counts as one without load. What is measured elsewhere, a queue or
// the requests at the edge, is seen whole.
func (a *autoscaler) recommend(desired, ready int32, load float64) int32 {
	if a.Target > 0 {
		load = min(load, saturated*float64(ready))
	}
	if ratio := load / float64(desired); math.Abs(ratio-1) <= tolerance {
		return desired
	}
	return int32(math.Ceil(load))
}
