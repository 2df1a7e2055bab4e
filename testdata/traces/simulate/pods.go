package simulate

import (
	"math"
	"time"

	"github.com/gitlatch/gitlatch/testdata/traces"
)

// pods are those of one workload: some ready, others on their way.
type pods struct {
	lag      time.Duration
	ready    int32
	starting []batch // oldest first
}

type batch struct {
	at time.Duration // of readiness
	n  int32
}

// scale creates what is missing at an instant, or takes away what is too many:
// first, as a ReplicaSet does, what is not ready.
func (p *pods) scale(at time.Duration, desired int32) {
	n := desired - p.ready
	for _, b := range p.starting {
		n -= b.n
	}
	if n > 0 {
		p.starting = append(p.starting, batch{at + p.lag, n})
	}
	for i := len(p.starting) - 1; i >= 0 && n < 0; i-- {
		gone := min(-n, p.starting[i].n)
		p.starting[i].n -= gone
		n += gone
	}
	p.ready += min(0, n)
}

// pass makes ready what is ready by an instant.
func (p *pods) pass(at time.Duration) {
	for len(p.starting) > 0 && p.starting[0].at <= at {
		p.ready += p.starting[0].n
		p.starting = p.starting[1:]
	}
}

// state splits the pods of an instant between the templates of the rollouts
// that were begun, and says what is out of the ordinary.
func (p plan) state(at time.Duration, desired, ready int32) traces.State {
	s := traces.State{Desired: desired, Ready: ready, Updated: desired, Revision: 1}
	share := func(of float64) int32 { return int32(math.Ceil(of * float64(desired))) }
	for _, r := range p.roll {
		if at < r.from {
			break
		}
		s.Revision++
		switch {
		case r.bad && at >= r.to:
			s.Revision-- // what was taken away of the old template starts again
			if at < r.to+p.lag {
				s.Ready = min(ready, desired-share(0.25))
			}
		case r.bad:
			// A quarter more pods and a quarter fewer at work are the default.
			s.Updated, s.Old = share(0.5), desired-share(0.25)
			s.Ready = min(ready, s.Old)
			if at >= r.from+10*time.Minute {
				s.Note = traces.Stuck
			}
		case failover.holds(r.from) && failover.holds(at):
			s.Note = traces.Unobserved // the status is still that of before
		case at < r.to:
			wave := float64(int(4*float64(at-r.from)/float64(r.to-r.from))) / 4
			s.Updated, s.Old = share(wave+0.25), desired-int32(wave*float64(desired))
		}
	}
	if p.blind.holds(at) {
		s.Note = traces.Blind
	}
	return s
}
