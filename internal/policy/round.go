package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Site is the input of the decisions about a site. The fields Broken, Flush, Lasting and
// Last are optional. The others are required.
type Site struct {
	latch.State
	Set    Set
	Fleet  workload.Fleet
	Period time.Duration // the scheduled time from one sample to the next
	// Broken are the namespaces whose checkpoint file is broken, with the error.
	Broken map[string]error
	Flush  bool
	// Lasting repeats each sample until it leads to a decision. The period between the
	// repeated samples is at least hold.down.
	Lasting bool
	// Last returns the instant of the sample of a workload before this one; the zero
	// time is no such sample. Nil is Head.At for all workloads.
	Last func(workload.ID) time.Time
}

// Decided contains the decisions about a site, and the state with advanced timers. The
// declared entries are unchanged: the caller changes them with Settled when git has them.
type Decided struct {
	latch.State
	Stop Stop
	// Decisions are the decisions about each sampled workload and each absent workload with a
	// latch, in the order of workload.Compare.
	Decisions []Decision
}

// Round makes every decision about a site: first the guards of the site, then the decision
// about each workload, then the limits over all decisions.
func Round(s Site) Decided {
	guards := s.Set.Guards
	scales := scales(s.Set, s.Fleet.Samples)
	if s.Head.Budget.At.After(s.Fleet.At) { // a clock was ahead
		s.Head.Budget.At = s.Fleet.At
	}
	state, stop := Assess(guards, s.State, s.Fleet, scales)
	s.State = state

	r := round{Site: s, stop: stop, former: former(s)}
	changed := map[workload.ID]latch.Latch{}
	decisions := make([]Decision, 0, len(s.Fleet.Samples))
	for _, sample := range s.Fleet.Samples {
		was := s.Latches.Get(sample.ID)
		l, d := r.scale(was, sample)
		decisions = append(decisions, d)
		l, d = r.rollout(l, sample)
		if d.Verdict != "" {
			decisions = append(decisions, d)
		}
		if !l.Equal(was) {
			changed[l.ID] = l
		}
	}
	var absent []Decision
	for was := range s.Latches.All() {
		_, sampled := scales[was.ID]
		if sampled || was.OptedOut {
			continue
		}
		l, d := r.absent(was)
		absent = append(absent, d)
		if !l.Equal(was) {
			changed[l.ID] = l
		}
	}
	s.Latches = s.Latches.With(changed)
	entries := 0
	if len(absent) > 0 {
		entries = s.Latches.Entries()
	}
	decisions = append(decisions, LimitRetirement(guards, entries, absent)...)
	slices.SortStableFunc(decisions, func(a, b Decision) int { return workload.Compare(a.ID, b.ID) })
	return Decided{s.State, stop, limit(s, decisions)}
}

// limit blocks the level changes that the site's mode or budget do not allow. A limit ignores
// the changes that an earlier limit blocked.
func limit(s Site, decisions []Decision) []Decision {
	if !s.Set.Latch {
		decisions = Observe(decisions)
	}
	decisions = Ride(decisions)
	if !s.Flush {
		decisions = Afford(s.Set.Guards, s.Head.Budget, s.Fleet.At, decisions)
	}
	return decisions
}

// Settled returns the state after a commit of the decisions at an instant: the latches have
// the new entries, and the budget has one commit less.
func Settled(g Guards, s latch.State, decisions []Decision, at time.Time) latch.State {
	s.Head.Budget = Spend(g, s.Head.Budget, at)
	settled := map[workload.ID]latch.Latch{}
	for _, c := range Changes(decisions) {
		settled[c.ID] = s.Latches.Get(c.ID).Settled(c.To)
	}
	s.Latches = s.Latches.With(settled)
	return s
}

// scales returns the desired replicas of each sampled workload; latch.Unknown if they are
// unknown, and Unlatched if no policy latches the workload.
func scales(set Set, samples []workload.Sample) map[workload.ID]int32 {
	scales := make(map[workload.ID]int32, len(samples))
	for _, s := range samples {
		scale := latch.Unknown
		if s.Scale != nil {
			scale = s.Scale.Desired
		}
		if _, _, latched := set.Choose(s); !latched {
			scale = Unlatched
		}
		scales[s.ID] = scale
	}
	return scales
}

// A round decides workload by workload.
type round struct {
	Site
	stop   Stop
	former []latch.Latch
}

// former returns the latches of kinds that the policy no longer names, if a user's pause, edit
// or opt-out is still valid, in the order of workload.Compare.
func former(s Site) (all []latch.Latch) {
	if len(s.Set.Kinds) == 0 {
		return nil // no kind has another name
	}
	for l := range s.Latches.All() {
		_, named := s.Set.Kinds.Object(l.ID.Kind)
		if !named && (l.OptedOut || leftAlone(l, s.Fleet.At).Reason != ReasonNone) {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b latch.Latch) int { return workload.Compare(a.ID, b.ID) })
	return all
}

// look returns the instants and limits for the sample of a workload.
func (r round) look(id workload.ID) Look {
	last := r.Head.At
	if r.Last != nil {
		last = r.Last(id)
	}
	return Look{Now: r.Fleet.At, Last: last, Period: r.Period, Stop: r.stop, Flush: r.Flush}
}

// scale decides about the level of a sampled workload.
func (r round) scale(l latch.Latch, s workload.Sample) (latch.Latch, Decision) {
	chosen, skip, latched := r.Set.Choose(s)
	if latched {
		skip = r.leftOut(l)
	}
	if skip.Verdict != "" {
		if s.Scale != nil {
			skip.Count = s.Scale.Desired
		}
		return r.pause(chosen, l, s), skip
	}
	look := r.look(s.ID)
	if r.Lasting {
		look.Period = max(look.Period, chosen.HoldDown)
	}
	decided, d := Decide(chosen, l, s, look)
	d.Samples = 1
	for r.Lasting && waits(d) && d.Samples <= max(chosen.HoldUp, RolloutHold) {
		samples := d.Samples + 1
		look.Last = look.Now
		look.Now = look.Now.Add(look.Period)
		decided, d = Decide(chosen, decided, s, look)
		d.Samples = samples
	}
	return decided, d
}

// waits reports whether a decision waits for more samples like this one.
func waits(d Decision) bool { return d.Verdict == Pending && d.To.IsZero() }

// rollout decides about the rollout entry of a sampled workload. The zero decision means that
// no rollout is in flight or in git.
func (r round) rollout(l latch.Latch, s workload.Sample) (latch.Latch, Decision) {
	chosen := r.Set.ChooseRollout(s)
	recorded := l.Base().Rollout != checkpoint.Rollout{}
	silent := !recorded && (s.Rollout == nil || !s.Rollout.InFlight || chosen.Rollout == ModeIgnore)
	look := r.look(s.ID)
	skip := r.leftOut(l)
	if skip.Verdict == "" {
		decided, d := DecideRollout(chosen, l, s, look)
		if silent {
			return decided, Decision{}
		}
		return decided, d
	}
	l = l.WithRollout(l.Rollout().Pause(look.Last))
	if skip.Verdict != Frozen {
		l.Flight = nil
		return l, Decision{}
	}
	if silent {
		return l, Decision{}
	}
	skip.Reading = ReadingRollout
	return l, skip
}

// absent decides about the entry of a workload without a sample.
func (r round) absent(l latch.Latch) (latch.Latch, Decision) {
	if why := r.leftOut(l); why.Verdict != "" {
		l = r.pause(Policy{}, l, workload.Sample{})
		if why.Reason == ReasonUnread {
			// LimitRetirement does not count the absence while its kind is not sampled.
			l.Missing = latch.Stopwatch{}
		}
		return l, why
	}
	return Retire(r.Set.Guards, l, r.look(l.ID))
}

// pause returns the latch of a workload that is left out, as Skipped does. A workload without
// a latch gets none. The zero sample is one of an absent workload.
func (r round) pause(p Policy, l latch.Latch, s workload.Sample) latch.Latch {
	if _, known := r.Latches.Lookup(l.ID); !known {
		return l
	}
	return Skipped(p, l, s, r.look(l.ID))
}

// leftOut returns the decision about a workload that the site leaves out although its policy
// latches it. The zero decision means that the site does not leave it out.
func (r round) leftOut(l latch.Latch) Decision {
	d := Decision{ID: l.ID, From: l.Declared}
	_, looked := r.Fleet.Kinds.Object(l.ID.Kind)
	_, named := r.Set.Kinds.Object(l.ID.Kind)
	err := checkpoint.Fits(l.ID)
	switch {
	case l.OptedOut:
		return d.as(Skip, ReasonOptedOut, "a user deleted its entry; to latch it again, write the entry or run gitlatch adopt")
	case !looked || !named:
		return d.as(Frozen, ReasonUnread, fmt.Sprintf("gitlatch does not sample its kind. Add %s to kinds of the policy, or delete the entry", l.ID.Kind))
	case r.Broken[l.ID.Namespace] != nil:
		return d.as(Frozen, ReasonBroken, "the checkpoint file of its namespace is broken")
	case err != nil:
		return d.as(Skip, ReasonName, err.Error())
	}
	return r.formerly(d)
}

// formerly returns the decision about a workload without an entry that a user paused, edited or
// opted out under an old name of its kind. The zero decision means that no user did.
func (r round) formerly(d Decision) Decision {
	_, custom := r.Set.Kinds[d.ID.Kind]
	i := slices.IndexFunc(r.former, func(l latch.Latch) bool { return l.ID.Namespace == d.ID.Namespace && l.ID.Name == d.ID.Name })
	if !custom || !d.From.IsZero() || i < 0 {
		return Decision{}
	}
	was := r.former[i]
	if was.OptedOut {
		return d.as(Skip, ReasonOptedOut, fmt.Sprintf("a user deleted its entry %s, before the policy renamed its kind; to latch it again, run gitlatch adopt %[1]s", was.ID))
	}
	stop := leftAlone(was, r.Fleet.At)
	return d.as(Frozen, stop.Reason, fmt.Sprintf("its entry is still %s, because the policy renamed its kind: %s", was.ID, stop.Text))
}
