package tick

import (
	"context"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const timeFormat = time.RFC3339

// decide looks at the fleet as a whole, then at each workload, then at all
// decisions together.
func (p *pass) decide(context.Context) error {
	g := p.set.Guards
	head, recent, stop := policy.Assess(g, p.head, p.fleet, scales(p.set, p.fleet.Samples), p.latches.recent())
	p.head, p.report.Stop, p.report.Drop = head, stop, head.Drop
	for id, r := range recent {
		l := p.latches.get(id)
		l.Recent = r
		p.latches.set(l)
	}

	look := policy.Look{Now: p.fleet.At, Last: p.head.At, Period: p.Period, Stop: stop, Flush: p.Flush}
	r := round{Look: look, set: p.set, kinds: p.fleet.Kinds, latches: p.latches}
	if p.git.tree != nil {
		r.broken = p.git.tree.Broken
	}
	present := make(map[workload.ID]bool, len(p.fleet.Samples))
	decisions := make([]policy.Decision, 0, len(p.fleet.Samples))
	var absent []policy.Decision
	for _, s := range p.fleet.Samples {
		present[s.ID] = true
		decisions = append(decisions, r.scale(s))
		decisions = append(decisions, r.rollout(s)...)
	}
	for _, l := range p.latches.besides(present) {
		if !l.OptedOut {
			absent = append(absent, r.absent(l))
		}
	}
	decisions = append(decisions, policy.LimitRetirement(g, p.latches.entries(), absent)...)
	slices.SortStableFunc(decisions, func(a, b policy.Decision) int { return workload.Compare(a.ID, b.ID) })

	if p.report.Observe = !p.set.Latch; p.report.Observe {
		decisions = policy.Observe(decisions)
	}
	decisions = policy.Ride(policy.RequireEvidence(p.head.Agreed.Evidence, decisions))
	if p.Flush == policy.FlushNone {
		decisions = policy.Afford(g, p.head.Budget, p.fleet.At, decisions)
	}
	for _, ignored := range p.set.Ignored {
		p.notice(NoticeIgnored, p.PolicyFile, ignored)
	}
	p.report.Set, p.report.Decisions = p.set, decisions
	p.report.Evidence = p.head.Agreed.Evidence
	return nil
}

// scales are those that the guards over the fleet look at.
func scales(set policy.Set, samples []workload.Sample) map[workload.ID]int32 {
	scales := make(map[workload.ID]int32, len(samples))
	for _, s := range samples {
		if _, _, latched := set.Choose(s); !latched {
			continue
		}
		scale := latch.Unknown
		if s.Scale != nil {
			scale = s.Scale.Desired
		}
		scales[s.ID] = scale
	}
	return scales
}

// A round decides workload by workload, and keeps the timers in the latches.
type round struct {
	policy.Look
	set     policy.Set
	kinds   workload.Kinds
	broken  map[string]error // the namespaces whose record cannot be read
	latches latches
}

// scale decides what becomes of the level of a workload that was seen.
func (r round) scale(s workload.Sample) policy.Decision {
	chosen, why, latched := r.set.Choose(s)
	l := r.latches.get(s.ID)
	if latched {
		why = r.leftOut(l)
	}
	if why.Verdict != "" {
		if s.Scale != nil {
			why.Count = s.Scale.Desired
		}
		r.pause(chosen, l, s)
		return why
	}
	decided, d := policy.Decide(chosen, l.Effective(), s, r.Look)
	decided.Declared = l.Declared
	r.latches.set(decided)
	return d
}

// rollout decides what becomes of the record of a rollout, apart from the scale. It
// returns no decision if no rollout is in flight or recorded.
func (r round) rollout(s workload.Sample) []policy.Decision {
	l, chosen := r.latches.get(s.ID), r.set.ChooseRollout(s)
	recorded := l.Effective().Declared.Rollout != checkpoint.Rollout{}
	silent := !recorded && (s.Rollout == nil || !s.Rollout.InFlight || chosen.Rollout == policy.ModeIgnore)
	d := r.leftOut(l)
	if d.Verdict != "" {
		if l = l.WithRollout(l.Rollout().Pause(r.Last)); d.Verdict != policy.Frozen {
			l.Flight, silent = nil, true
		}
		d.Reading = policy.ReadingRollout
	} else {
		declared := l.Declared
		l, d = policy.DecideRollout(chosen, l.Effective(), s, r.Look)
		l.ID, l.Declared = s.ID, declared
	}
	if !l.Blank() || r.latches.known(s.ID) {
		r.latches.set(l)
	}
	if silent {
		return nil
	}
	return []policy.Decision{d}
}

// absent decides what becomes of the entry of a workload that was not seen.
func (r round) absent(l latch.Latch) policy.Decision {
	if why := r.leftOut(l); why.Verdict != "" {
		r.pause(policy.Policy{}, l, workload.Sample{})
		return why
	}
	l, d := policy.Retire(r.set.Guards, l, r.Look, r.Stop.Reason == policy.ReasonNone)
	r.latches.set(l)
	return d
}

// pause pauses the timers of a workload that is left out; the zero sample is one that
// was not seen.
func (r round) pause(p policy.Policy, l latch.Latch, s workload.Sample) {
	if r.latches.known(l.ID) {
		paused := policy.Skipped(p, l.Effective(), s, r.Look)
		paused.Declared = l.Declared
		r.latches.set(paused)
	}
}

// leftOut says why a workload is left out although its policy would latch it;
// the zero decision is one that is not.
func (r round) leftOut(l latch.Latch) policy.Decision {
	d := policy.Decision{ID: l.ID, From: l.Declared, Verdict: policy.Frozen}
	_, looked := r.kinds.Object(l.ID.Kind)
	_, named := r.set.Kinds.Object(l.ID.Kind)
	err := checkpoint.Fits(l.ID)
	switch {
	case l.OptedOut:
		d.Verdict, d.Reason = policy.Skip, policy.ReasonOptedOut
		d.Text = "a person deleted its entry; write it again or adopt the workload to latch it"
	case r.broken[l.ID.Namespace] != nil:
		d.Reason, d.Text = policy.ReasonBroken, "the record of its namespace cannot be read"
	case !looked || !named:
		d.Reason, d.Text = policy.ReasonUnread, policy.NotLookedFor(l.ID.Kind)
	case err != nil:
		d.Verdict, d.Reason, d.Text = policy.Skip, policy.ReasonName, err.Error()
	default:
		return policy.Decision{}
	}
	return d
}
