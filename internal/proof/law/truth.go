package law

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// truth is what runs, as the product could have seen it with every part read.
type truth struct {
	lives map[workload.ID]*life
	last  time.Time // the instant of the last tick that was settled
	// dropped are the scales that workloads had before a mass drop; nil is none.
	dropped map[workload.ID]int32
	// acknowledged is set once a person acknowledged what waited.
	acknowledged bool
}

// A life is what was true of one workload.
type life struct {
	looks  []look
	absent time.Duration // observed, since it was last there
	urgent int           // healthy ticks in a row that left an urgent need undeclared
}

// A look is one workload at one tick.
type look struct {
	at     time.Time
	since  time.Duration // observed, from the look before
	need   int32
	frozen string // why nothing may be lowered; "" is nothing
}

// A reading is what is true at the beginning of a tick.
type reading struct {
	fleet  map[workload.ID]workload.Sample
	frozen string // why nothing in the site may be lowered
}

func (w *Witness) read() reading {
	r := reading{fleet: map[workload.ID]workload.Sample{}}
	for id, s := range w.story.Fleet {
		r.fleet[id] = s
	}
	head, _, err := w.story.State()
	switch {
	case err != nil:
		r.frozen = err.Error()
	case len(w.story.Unread) > 0:
		r.frozen = "a part is unread"
	case head.Cluster.UID != "" && head.Cluster.UID != w.story.Cluster:
		r.frozen = "the cluster is another"
	}
	return r
}

// frozenBy says why a workload may not be lowered.
func frozenBy(s workload.Sample) string {
	switch {
	case s.Scale == nil:
		return "its scale is unknown"
	case s.Terminating:
		return "it is terminating"
	case s.Scale.Desired <= 0:
		return "it is suspended"
	case s.Scale.Blind != "":
		return "its autoscaler is blind"
	case policy.Unready(*s.Scale):
		return "its pods are not ready"
	case s.Rollout == nil || s.Rollout.Mixed():
		return "it rolls"
	}
	return ""
}

// learn takes in what was true at a tick.
func (w *Witness) learn(s *Seen, r reading) {
	if s.Told.Stop.Reason == policy.ReasonSecond {
		return
	}
	s.Since = s.Told.At.Sub(w.last)
	if s.Since < 0 || s.Since > 3*story.Period {
		s.Since = 0
	}
	if r.frozen == "" && s.Told.Drop != nil {
		r.frozen = "much of the fleet dropped"
	}
	for id := range union(r.fleet, s.After.Latches) {
		of := w.lives[id]
		if of == nil {
			of = &life{}
			w.lives[id] = of
		}
		sample, runs := r.fleet[id]
		if !runs {
			of.absent += s.Since
			if of.looks = nil; r.frozen != "" {
				of.absent -= s.Since
			}
			continue
		}
		of.absent = 0
		l := look{at: s.Told.At, since: s.Since, frozen: r.frozen}
		if l.frozen == "" {
			l.frozen = frozenBy(sample)
		}
		if sample.Scale != nil {
			l.need = sample.Scale.Desired
		}
		of.looks = append(of.looks, l)
		of.await(s, id, sample)
	}
	w.drops(s, r)
}

// remember keeps of a tick what the state does: one that was not settled is no
// look.
func (w *Witness) remember(s *Seen) {
	if s.Told.Stop.Reason == policy.ReasonSecond {
		return
	}
	if s.settled() {
		w.last = s.Told.At
		return
	}
	for _, of := range w.lives {
		if n := len(of.looks); n > 0 && of.looks[n-1].at.Equal(s.Told.At) {
			of.looks = of.looks[:n-1]
		}
		if of.absent > 0 {
			of.absent -= s.Since
		}
	}
}

// settled reports whether the state holds that the tick was.
func (s *Seen) settled() bool { return s.After.Head.At.Equal(s.Told.At) }

// await counts the healthy ticks that an urgent need waits for.
func (of *life) await(s *Seen, id workload.ID, sample workload.Sample) {
	entry, l := s.After.Entries[id], s.After.Latches[id]
	waits := s.Calm && s.Since > 0 && !s.World.Propose && !s.Told.Stop.All && !s.Told.Observe &&
		sample.Scale != nil && sample.Scale.Desired > 0 && !sample.Terminating && !sample.OptOut &&
		entry.Replicas > 0 && entry.Replicas != entry.Max && !l.OptedOut && !s.Told.At.Before(l.YieldUntil) && !s.reviewed(id)
	if !waits {
		of.urgent = 0
		return
	}
	need := sample.Scale.Desired
	if policy.Unready(*sample.Scale) {
		need = sample.Scale.Ready
	}
	if of.urgent++; float64(need) <= 1.25*float64(entry.Replicas) {
		of.urgent = 0
	}
}

// reviewed reports whether a person is to see the change first.
func (s *Seen) reviewed(id workload.ID) bool {
	for _, d := range s.Told.Decisions {
		if d.ID == id && (d.Verdict == policy.Review || d.Reason == policy.ReasonReport || d.Reason == policy.ReasonBroken) {
			return true
		}
	}
	return false
}

// drops notes what workloads had before a mass drop.
func (w *Witness) drops(s *Seen, r reading) {
	if s.After.Head.Drop == nil || w.dropped != nil {
		return
	}
	w.dropped, w.acknowledged = map[workload.ID]int32{}, false
	for id := range r.fleet {
		for _, l := range w.lives[id].looks {
			if l.at.After(s.Told.At.Add(-30 * time.Minute)) {
				w.dropped[id] = max(w.dropped[id], l.need)
			}
		}
	}
}
