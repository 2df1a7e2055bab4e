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
	head, recent, stop := policy.Assess(g, p.head, p.fleet, p.scales(), p.latches.recent())
	p.head, p.report.Stop, p.report.Drop = head, stop, head.Drop
	for id, r := range recent {
		l := p.latches.get(id)
		l.Recent = r
		p.latches.set(l)
	}

	present := p.decidePresent(stop)
	absent := policy.LimitRetirement(g, len(p.latches.now), p.decideAbsent(stop))
	decisions := slices.Concat(present, absent, p.decideRollouts(stop))
	slices.SortStableFunc(decisions, func(a, b policy.Decision) int { return workload.Compare(a.ID, b.ID) })

	if p.report.Observe = !p.set.Latch; p.report.Observe {
		decisions = policy.Observe(decisions)
	}
	decisions = policy.Ride(policy.Prove(p.head.Agreed.Evidence, decisions))
	if p.Flush == policy.FlushNone {
		decisions = policy.Afford(g, p.head.Budget, p.fleet.At, decisions)
	}
	for _, ignored := range p.set.Ignored {
		p.notice(NoticeIgnored, p.PolicyFile, ignored)
	}
	p.report.Set, p.report.Latches, p.report.Decisions = p.set, p.latches.now, decisions
	p.report.Evidence = p.head.Agreed.Evidence
	return nil
}

// scales are those that the guards over the fleet look at.
func (p *pass) scales() map[workload.ID]int32 {
	scales := map[workload.ID]int32{}
	for _, s := range p.fleet.Samples {
		if _, _, latched := p.set.Choose(s); !latched {
			continue
		}
		if scales[s.ID] = latch.Unknown; s.Scale != nil {
			scales[s.ID] = s.Scale.Desired
		}
	}
	return scales
}

func (p *pass) decidePresent(stop policy.Stop) []policy.Decision {
	look := p.look(stop)
	var decisions []policy.Decision
	for _, s := range p.fleet.Samples {
		chosen, skip, latched := p.set.Choose(s)
		l := p.latches.get(s.ID)
		if !latched {
			p.skip(l, look)
			decisions = append(decisions, skip)
			continue
		}
		if why := p.unlatched(l); why.Verdict != "" {
			why.ID, why.From = s.ID, l.Declared
			if s.Scale != nil {
				why.Count = s.Scale.Desired
			}
			p.skip(l, look)
			decisions = append(decisions, why)
			continue
		}
		decided, d := policy.Decide(chosen, l.Effective(), s, look)
		decided.Declared = l.Declared
		p.latches.set(decided)
		decisions = append(decisions, d)
	}
	return decisions
}

// skip stops the timers of a workload that is left out, where it has any.
func (p *pass) skip(l latch.Latch, look policy.Look) {
	if p.latches.known(l.ID) {
		p.latches.set(policy.Skipped(l, look))
	}
}

// unlatched says why a workload is left out although its policy would latch it;
// the zero decision is one that is not.
func (p *pass) unlatched(l latch.Latch) policy.Decision {
	switch {
	case l.OptedOut:
		return policy.Decision{Verdict: policy.Skip, Reason: policy.ReasonOptedOut, Text: "a person deleted its entry; write it again or adopt the workload to latch it"}
	case p.git.tree != nil && p.git.tree.Broken[l.ID.Namespace] != nil:
		return policy.Decision{Verdict: policy.Frozen, Reason: policy.ReasonBroken, Text: "the record of its namespace cannot be read"}
	}
	if _, looked := p.fleet.Kinds.Object(l.ID.Kind); !looked {
		return policy.Decision{Verdict: policy.Frozen, Reason: policy.ReasonUnread, Text: policy.Unlooked(l.ID.Kind)}
	}
	if err := checkpoint.Fits(l.ID); err != nil {
		return policy.Decision{Verdict: policy.Skip, Reason: policy.ReasonName, Text: err.Error()}
	}
	return policy.Decision{}
}

// decideAbsent looks at the latches whose workloads were not seen.
func (p *pass) decideAbsent(stop policy.Stop) []policy.Decision {
	present := map[workload.ID]bool{}
	for _, s := range p.fleet.Samples {
		present[s.ID] = true
	}
	var decisions []policy.Decision
	for _, id := range p.latches.ids() {
		l := p.latches.get(id)
		if present[id] || l.OptedOut {
			continue
		}
		if why := p.unlatched(l); why.Verdict != "" {
			why.ID, why.From = id, l.Declared
			p.skip(l, p.look(stop))
			decisions = append(decisions, why)
			continue
		}
		l, d := policy.Retire(p.set.Guards, l, p.look(stop), stop.Reason == policy.ReasonNone)
		p.latches.set(l)
		decisions = append(decisions, d)
	}
	return decisions
}
