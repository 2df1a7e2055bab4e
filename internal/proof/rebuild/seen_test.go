//go:build gitops

package rebuild

import (
	"math"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/load"
)

// A run contains the samples of one rebuild, from the first apply on.
type run struct {
	way      string
	form     form
	looks    []load.Look
	from     time.Time
	followed time.Duration // time from a change of the load until the replicas were right
	cpu      string        // the CPU that each program used until the load was served, as a line; "" if unknown
}

// recovered returns the time until all workloads served their full load at the same
// time. ok is false if they never did.
func (r run) recovered() (after time.Duration, ok bool) {
	for _, l := range r.looks {
		whole := true
		for _, m := range r.form.fleet() {
			s, known := l.States[m.String()]
			whole = whole && known && s.Whole()
		}
		if whole {
			return l.At.Sub(r.from), true
		}
	}
	return r.form.deadline, false
}

// coverage returns the lowest share of a workload's desired pods that were ready, from
// the first sample in which all of them were ready. ok is false without such a sample.
func (r run) coverage(m member) (lowest float64, ok bool) {
	lowest = math.Inf(1)
	for _, l := range r.looks {
		s := l.States[m.String()]
		ok = ok || s.Ready > 0 && s.Ready >= int(l.Scales[m.String()].Asked) && s.Ready >= m.need
		if ok {
			lowest = min(lowest, float64(s.Ready)/float64(m.need))
		}
	}
	return lowest, ok
}

// counts returns the desired replicas of a workload, after each change.
func (r run) counts(m member) []int32 {
	var all []int32
	for _, l := range r.looks {
		if n := l.Scales[m.String()].Asked; n > 0 && (len(all) == 0 || all[len(all)-1] != n) {
			all = append(all, n)
		}
	}
	return all
}

// owned returns, for the first sample in which a workload's autoscaler owned the
// replicas, how often it had read the use of all ready pods, and the time since the
// first apply.
func (r run) owned(m member) (judged int, after time.Duration, ok bool) {
	for _, l := range r.looks {
		if l.Scales[m.String()].Owned {
			return l.Judged[m.String()], l.At.Sub(r.from), true
		}
	}
	return 0, 0, false
}

// served returns the share of the fleet's load that is served in a sample.
func (r run) served(l load.Look) float64 {
	var whole, served float64
	for _, m := range r.form.fleet() {
		whole += m.load()
		served += min(m.load(), l.States[m.String()].Served)
	}
	return served / whole
}
