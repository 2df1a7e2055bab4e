package tick

import (
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// decideRollouts looks at the rollouts of the workloads that were seen, apart
// from their scale. Where none is in flight or recorded there is nothing to say.
func (p *pass) decideRollouts(stop policy.Stop) []policy.Decision {
	look := p.look(stop)
	var decisions []policy.Decision
	for _, s := range p.fleet.Samples {
		l := p.latches.get(s.ID)
		chosen := p.set.ChooseRollout(s)
		recorded := l.Effective().Declared.Rollout != checkpoint.Rollout{}
		flies := s.Rollout != nil && s.Rollout.InFlight && chosen.Rollout != policy.ModeIgnore
		if why := p.unlatched(l); why.Verdict != "" {
			if l.Rollout = l.Rollout.Pause(look.Last); why.Verdict != policy.Frozen {
				l.Rollout = latch.Rollout{}
			}
			if p.latches.known(s.ID) {
				p.latches.set(l)
			}
			if why.Verdict == policy.Frozen && (recorded || flies) {
				why.ID, why.Reading, why.From = s.ID, policy.ReadingRollout, l.Declared
				decisions = append(decisions, why)
			}
			continue
		}
		decided, d := policy.DecideRollout(chosen, l.Effective(), s, look)
		decided.ID, decided.Declared = s.ID, l.Declared
		if decided.Missing = (latch.Stopwatch{}); p.latches.known(s.ID) || !decided.Blank() {
			p.latches.set(decided)
		}
		if recorded || flies {
			decisions = append(decisions, d)
		}
	}
	return decisions
}
