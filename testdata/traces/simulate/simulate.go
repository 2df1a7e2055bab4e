// Package simulate makes the day that package traces holds: some hundred
// workloads, each with a load, an autoscaler that sees it every 15 seconds
// through noise, and pods that take their time to be ready. Autoscalers follow
// the algorithm and the defaults of Kubernetes: 10 % tolerance, the highest
// recommendation of five minutes on the way down, at most doubling, or four
// pods more, each 15 seconds on the way up.
//
// The same seed makes the same trace. Floating point may be contracted
// differently on another architecture, which may move a change by a step; the
// shipped files were made on amd64.
package simulate

import (
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// Day simulates the fleet from a Monday evening, the beginning of the warm-up,
// to the end of the Wednesday.
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

// live returns the changes of one workload's life.
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
