// Package simulate creates the day of package traces: about a hundred workloads, each
// with a load, an autoscaler that measures it every 15 seconds with noise, and pods that
// become ready after some time. Autoscalers use the algorithm and the defaults of
// Kubernetes: a tolerance of 10 %, the highest recommendation of five minutes when
// scaling down, and at most twice the pods or four more pods in 15 seconds when scaling
// up.
//
// The same seed creates the same trace. Another architecture may contract floating-point
// operations differently, and so move a change by a step. The shipped files were created
// on amd64.
package simulate

import (
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// Day simulates the fleet from Monday evening, the start of the warm-up, to the end of
// Wednesday.
func Day(seed uint64) *traces.Trace {
	t := &traces.Trace{Start: start, WarmUp: warmUp, Length: length}
	plans := fleet(seed)
	slices.SortFunc(plans, func(a, b plan) int { return workload.Compare(a.ID, b.ID) })
	for _, p := range plans {
		t.Workloads = append(t.Workloads, p.Workload)
		t.Changes = append(t.Changes, live(seed, p))
	}
	return t
}

// live returns the changes of one workload.
func live(seed uint64, p plan) []traces.Change {
	seen := &noise{r: source(seed, p.ID.String()+" noise")}
	scaler := &autoscaler{Workload: p.Workload}
	desired := max(p.Min, int32(math.Ceil(p.load(0))))
	running := &pods{lag: p.lag, ready: desired}

	var all []traces.Change
	for at := time.Duration(0); at < length; at += step {
		factor := seen.next()
		if p.out {
			factor *= edge(at)
		}
		running.pass(at)
		if p.Driver != workload.DrivenByNothing && !p.blind.holds(at) && !failover.holds(at) {
			desired = scaler.sync(desired, running.ready, factor*p.load(at))
		}
		running.scale(at, desired)
		s := p.state(at, desired, running.ready)
		if len(all) == 0 || all[len(all)-1].State != s {
			all = append(all, traces.Change{At: at, State: s})
		}
	}
	return all
}
