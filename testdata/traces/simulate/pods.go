package simulate

import (
	"math"
	"time"

	"github.com/gitlatch/gitlatch/testdata/traces"
)

// pods are the pods of one workload.
type pods struct {
	lag      time.Duration
	ready    int32
	starting []batch // oldest first
}

type batch struct {
	at time.Duration // time at which the pods become ready
	n  int32
}

// scale creates missing pods or removes surplus pods at a time. Like a ReplicaSet, it
// first removes the pods that are not ready.
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

// pass marks the pods that are ready by a time.
func (p *pods) pass(at time.Duration) {
	for len(p.starting) > 0 && p.starting[0].at <= at {
		p.ready += p.starting[0].n
		p.starting = p.starting[1:]
	}
}

// state splits the pods at a time between the templates of the rollouts so far, and sets
// the note.
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
			s.Revision-- // the removed pods of the old template start again
			if at < r.to+p.lag {
				s.Ready = min(ready, desired-share(0.25))
			}
		case r.bad:
			// The defaults: at most a quarter more pods, and at most a quarter
			// unavailable.
			s.Updated, s.Old = share(0.5), desired-share(0.25)
			s.Ready = min(ready, s.Old)
			if at >= r.from+10*time.Minute {
				s.Note = traces.Stuck
			}
		case failover.holds(r.from) && failover.holds(at):
			s.Note = traces.Unobserved // the status is still the previous one
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
