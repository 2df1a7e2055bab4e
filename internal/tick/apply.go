package tick

import (
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// apply returns the state with the published changes. After a lost race it does not enter
// the commit: the next tick judges it together with the commits before it.
func (t *Tick) apply(s latch.State, f Found, p Published) latch.State {
	switch {
	case p.Agrees:
		s.Head.Agreed.Tip = p.Commit.ID
		s.Head.Agreed.Directory = ""
		s = policy.Settled(f.Set.Guards, s, p.Commit.Changes, f.Fleet.At)
	case p.Dropped:
		s.Head.Agreed.Partly = true
		s.Head.Agreed.Directory = ""
	}
	if p.Pushed {
		s.Head.Budget = policy.Spend(f.Set.Guards, s.Head.Budget, f.Fleet.At)
		s.Latches = t.proposing(s.Latches, p.Proposed)
	}
	if p.Open != nil {
		s.Head.Proposal = p.Open
	}
	if p.Withdrawn {
		s = forget(s)
	}
	return s
}

// proposing returns the latches whose proposed entries are exactly the given changes.
func (t *Tick) proposing(l latch.Latches, changes []checkpoint.Change) latch.Latches {
	changed := map[workload.ID]latch.Latch{}
	for _, c := range changes {
		one := l.Get(c.ID)
		if one.Proposed() != c.To || c.To.IsZero() {
			one = one.Proposing(c.To, !t.Propose || c.To.IsZero())
		}
		changed[c.ID] = one
	}
	return l.Each(latch.Latch.Unproposed).With(changed)
}
