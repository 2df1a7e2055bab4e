package law

import (
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// truth is the live state, as the product could have seen it if it had read every part.
type truth struct {
	lives map[workload.ID]*life
	// dropped are the scales of workloads before a mass drop; nil without a drop.
	dropped map[workload.ID]before
	// acknowledged is true after a user accepted the open mass drop.
	acknowledged bool
}

// A life is the history of one workload.
type life struct {
	looks   []*look   // in the order of the samples of their ticks
	urgent  []int32   // the needs of consecutive healthy ticks, each urgent at its tick
	awaited time.Time // the instant of the last tick
	waits
	flight
}

// A look is one sample of a workload in one tick.
type look struct {
	at        time.Time
	runs      bool
	need      int32
	least     int32     // the lowest level for its need, by the policy of the tick
	braked    time.Time // the end of a restore's brake; zero without one
	frozen    string    // why the level may not be lowered; "" if it may
	seen      bool      // its scale was read
	unseen    bool      // the tick read no part of the site, or does not sample the workload's kind
	part      bool      // the tick read only a part of the site, so the sample is not compared
	unlatched bool      // no policy latches the workload, so the guard of a mass drop forgets it
}

// before returns the observed time from one sample to the next.
func (l *look) before(next *look) time.Duration {
	if d := next.at.Sub(l.at); d > 0 && d <= 3*story.Period {
		return d
	}
	return 0
}

// begin notes the live state at the start of a tick.
func (w *Witness) begin(held Held) (looks map[workload.ID]*look) {
	site, head := "", held.Head
	switch {
	case len(w.story.Unread) > 0:
		site = "a part is unread"
	case head.Cluster.UID != "" && head.Cluster.UID != w.story.Cluster:
		site = "the cluster is another"
	}
	looks = map[workload.ID]*look{}
	for id := range union(union(w.story.Fleet, w.lives), held.Entries) {
		sample, runs := w.story.Fleet[id]
		l := &look{at: w.story.Now, runs: runs, frozen: site}
		if runs && l.frozen == "" {
			l.frozen = frozenBy(sample)
		}
		if sample.Scale != nil {
			l.need = sample.Scale.Desired
			l.braked = sample.Scale.Brake.Until
		}
		if w.lives[id] == nil {
			w.lives[id] = &life{}
		}
		looks[id] = l
		w.lives[id].looks = append(w.lives[id].looks, l)
	}
	return looks
}

// frozenBy returns the reason why a workload's level may not be lowered; "" if it may.
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

// learn adds the result of a tick to the history.
func (w *Witness) learn(s *Seen, looks map[workload.ID]*look) {
	for id, l := range looks {
		if of := w.lives[id]; of != nil && !l.at.Equal(s.Told.At) { // other ticks came before its sample
			of.looks = append(slices.DeleteFunc(of.looks, func(o *look) bool { return o == l }), l)
		}
		l.at = s.Told.At
		switch {
		case s.Told.Stop.All:
			l.frozen = s.Told.Stop.Text
		case l.frozen == "" && s.Told.Head.Drop != nil:
			l.frozen = "much of the fleet dropped"
		case l.frozen == "" && s.Told.At.Before(l.braked):
			l.frozen = "a restore braked it"
		case l.frozen == "" && !w.names(id.Kind):
			l.frozen = "the policy does not name its kind"
		}
		_, looked := s.Told.Kinds.Object(id.Kind)
		l.unseen = s.Told.Stop.All || !looked
		l.seen = s.read(id)
		if sample := s.World.Fleet[id]; sample.Scale != nil && s.ruled() {
			l.unlatched = !judges(s.rule(sample), sample)
			levels := levelsOf(s.rule(sample), s.After.Entries[id], *sample.Scale)
			need := float64(l.need)
			nearest := levels.of(need) // may be the minimum, below the need
			levels.floor = 1           // a minimum is no need
			l.least = min(nearest, levels.of(need), int32(math.Ceil(levels.pods(need))))
		}
		l.part = len(s.Told.Unread) > 0 || s.Told.Cluster == "" || s.Told.Cluster != s.After.Head.Cluster.UID
		if sample, runs := s.World.Fleet[id]; runs && w.lives[id] != nil && s.Told.Stop.Reason != policy.ReasonSecond {
			w.lives[id].await(s, sample)
		}
	}
	if s.After.Head.Drop != nil && w.dropped == nil {
		w.drop(s.Told.At)
	}
}

// begins restarts every count of samples, and a limit over time if it changed: another policy
// applies.
func (w *Witness) begins(next policy.Guards) {
	if was := w.set.Guards; was.RetireAfter != next.RetireAfter || was.RetireShare != next.RetireShare {
		w.retired = map[workload.ID]retired{}
	}
	for _, of := range w.lives {
		of.urgent = nil
		of.wrong = nil
		of.waits = waits{}
	}
}

// remember keeps the same samples as the state: it drops the samples of a tick that was
// not saved.
func (w *Witness) remember(s *Seen, looks map[workload.ID]*look) {
	if s.settled() && s.Told.Stop.Reason != policy.ReasonSecond {
		return
	}
	for id, l := range looks {
		if of := w.lives[id]; of != nil {
			of.looks = slices.DeleteFunc(of.looks, func(o *look) bool { return o == l })
		}
	}
}

// settled reports whether the state contains the tick.
func (s *Seen) settled() bool { return s.World.Settled[s.Told.At] }

// await counts the healthy ticks that an urgent raise waits for, and those in which a
// rollout entry is wrong. It does not count a repeated turn.
func (of *life) await(s *Seen, sample workload.Sample) {
	since := s.Told.At.Sub(of.awaited)
	if of.awaited = s.Told.At; since == time.Second {
		return
	}
	healthy := !s.World.Disturbed && s.Told.Failed == nil && !s.rewritten() && since > 0 && since <= 3*story.Period &&
		!s.World.Propose && !s.Told.Stop.All && !s.Told.Observe && !sample.Terminating && !sample.OptOut &&
		!s.leftAlone(sample.ID) && !s.reviewed(sample.ID) && !s.broken(sample.ID)
	p := s.rule(sample)
	of.wait(s, p, sample, since, healthy && s.Calm)
	of.follow(s, p, sample, healthy && s.Calm)
	declared := s.After.Entries[sample.ID].Replicas
	waits := healthy && s.ruled() && latches(p, sample) && (s.Told.NotRun != "" || s.read(sample.ID)) && sample.Scale != nil && sample.Scale.Desired > 0 && declared > 0
	if !waits {
		of.urgent = nil
		return
	}
	levels := levelsOf(p, s.After.Entries[sample.ID], *sample.Scale)
	need := needs(*sample.Scale)
	low := levels.low(declared, need)
	need = min(need, levels.of(float64(need)))
	of.urgent = append(of.urgent, need)
	if !low || float64(need) <= policy.Urgent*float64(declared) {
		of.urgent = nil
	}
}

// overdue returns the number of healthy ticks in a row with an urgent need, if the need in each
// of the last allowed+1 ticks is urgent also for the present level; 0 otherwise. Needs above
// urgent are urgent. While a need grows, each raise goes to the lowest need of its samples, and
// so it is not overdue.
func (of *life) overdue(allowed int, urgent float64) int {
	ticks := len(of.urgent)
	if ticks <= allowed || float64(slices.Min(of.urgent[ticks-allowed-1:])) <= urgent {
		return 0
	}
	return ticks
}

// read reports whether the tick saw a workload's scale.
func (s *Seen) read(id workload.ID) bool {
	return slices.ContainsFunc(s.Told.Samples, func(sample workload.Sample) bool { return sample.ID == id && sample.Scale != nil })
}

// reviewed reports whether a user must review the change first, or fix the checkpoint
// file. A tick that did not run leaves the review open.
func (s *Seen) reviewed(id workload.ID) bool {
	if s.Told.NotRun != "" {
		open := s.Before.Latches[id].Proposal
		return open != nil && open.Asked
	}
	return slices.ContainsFunc(s.Told.Decisions, func(d policy.Decision) bool {
		return d.ID == id && (d.Verdict == policy.Review || d.Reason == policy.ReasonReport || d.Reason == policy.ReasonBroken)
	})
}

// lastNeed returns the last known need in samples; 0 if none is known.
func lastNeed(looks []*look) int32 {
	for _, l := range slices.Backward(looks) {
		if l.need > 0 {
			return l.need
		}
	}
	return 0
}

// acknowledge notes that a user accepts the live state.
func (w *Witness) acknowledge() {
	w.acknowledged = true
	w.anew(w.story.Now.Add(yield))
}

// anew excludes the samples before an instant from every comparison.
func (w *Witness) anew(from time.Time) {
	for _, of := range w.lives {
		for _, l := range of.looks {
			l.part = l.part || l.at.Before(from)
		}
	}
}

// forgetDrop excludes the samples of a mass drop from the comparison with the next one: no
// latch has their scales, and the head that had the drop is lost.
func (w *Witness) forgetDrop(since time.Time) {
	for _, of := range w.lives {
		for _, l := range of.looks {
			l.part = l.part || !l.at.Before(since)
		}
	}
}

// before is the scale of a workload before a mass drop: the most replicas of two successive
// samples in half an hour, and of any sample in 35 minutes, or of the last one with a known
// scale. The guard remembers one sample in five minutes, so it has a value between these two.
type before struct{ least, most int32 }

// drop notes the replicas that workloads had before a mass drop, also of a workload that the
// policy of this tick does not latch: a policy that latches it again during the drop makes it
// one of the workloads that have not dropped.
func (w *Witness) drop(at time.Time) {
	w.dropped, w.acknowledged = map[workload.ID]before{}, false
	for id, of := range w.lives {
		next := &look{at: at}
		for i, l := range slices.Backward(of.looks) {
			if l.at.Equal(at) {
				continue // the sample of the drop itself
			}
			had := w.dropped[id]
			if !l.at.Before(next.at) {
				// The clock went back since. If the scale has been unknown since then, the guard still has
				// the last known scale, and counts the workload among those that have not dropped.
				had.most = max(had.most, lastNeed(of.looks[:i+1]))
				w.dropped[id] = had
				break
			}
			if had.most > 0 && l.at.Before(at.Add(-35*time.Minute)) {
				break // the sample is too old
			}
			if l.unseen || l.part {
				continue
			}
			if l.unlatched {
				break // the guard forgets a workload that no policy latches
			}
			had.most = max(had.most, l.need)
			if l.at.After(at.Add(-30 * time.Minute)) {
				had.least = max(had.least, min(next.need, l.need))
			}
			w.dropped[id] = had
			next = l
		}
	}
}
