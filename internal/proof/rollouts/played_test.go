package rollouts

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// storyPeriod is the time between two samples of a story, in minutes.
const storyPeriod = 5

// A look is one sample of a story, with its result.
type look struct {
	minute int
	saw    workload.Rollout
	// git is the rollout in git after the sample, and before the rollout ahead of it.
	before, git checkpoint.Rollout
	decision    policy.Decision
	failed      bool // the latch remembers that the target failed
}

// committed reports whether the sample changed the rollout in git.
func (l look) committed() bool { return l.before != l.git }

// begins reports whether the sample started a rollout entry.
func (l look) begins() bool { return l.before == checkpoint.Rollout{} && l.committed() }

// ends reports whether the sample removed a rollout entry.
func (l look) ends() bool { return l.git == checkpoint.Rollout{} && l.committed() }

// replaced reports whether the sample replaced a rollout entry with another.
func (l look) replaced() bool {
	return !l.begins() && !l.ends() && l.git.To.Hash != l.before.To.Hash
}

// A story is one rollout of a workload, from its first sample to the sample that sees
// it end.
type story struct {
	judged bool
	router bool
	looks  []look
	// spent is the first sample with commits in the budget; 0 is the first of all.
	spent int
	// other is the sample at which the site commits another change; -1 if it commits no
	// other change.
	other int
}

// flights splits a life into the stories of its rollouts. It leaves out a rollout with
// samples missing.
func flights(l *life) (all []story) {
	router := l.r.IntN(4) == 0
	var s *story
	for minute := range 12 * 60 {
		l.step()
		if s != nil && (minute < l.blind || minute < l.gap) {
			s.looks = nil
		}
		if minute%storyPeriod != 0 {
			continue
		}
		if l.flying && s == nil {
			s = &story{judged: l.judged, router: router, other: -1}
		}
		if s == nil {
			continue
		}
		if r := l.sample(); r != nil {
			if router && r.InFlight { // a canary's steps of 20 %
				share := r.Percent() / 20 * 20
				r.Traffic = &share
			}
			s.looks = append(s.looks, look{minute: minute, saw: *r})
		}
		if l.flying {
			continue
		}
		if n := len(s.looks); n > 3 && s.looks[0].saw.InFlight && s.looks[n-1].minute-s.looks[0].minute == (n-1)*storyPeriod {
			s.draw(l)
			s.play()
			all = append(all, *s)
		}
		s = nil
	}
	return all
}

// draw draws the site's budget and its other commits.
func (s *story) draw(l *life) {
	if l.r.IntN(2) == 0 {
		s.spent = 3 + l.r.IntN(len(s.looks)-3)
	}
	if l.r.IntN(3) > 0 {
		s.other = 2 + l.r.IntN(len(s.looks)-2)
	}
}

// play lets the real policy decide each sample.
func (s *story) play() {
	p, g := policy.Presets()["cope"], policy.DefaultGuards()
	l := latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}}
	k := policy.Look{Period: storyPeriod * time.Minute}
	for i := range s.looks {
		at := &s.looks[i]
		k.Last, k.Now = k.Now, epoch.Add(time.Duration(at.minute)*time.Minute)
		at.before = l.Declared.Rollout
		l, at.decision = policy.DecideRollout(p, l, workload.Sample{ID: l.ID, Rollout: &at.saw}, k)
		at.failed = l.Rollout().Failed
		decisions := []policy.Decision{at.decision}
		if i == s.other {
			decisions = append(decisions, policy.Decision{Reading: policy.ReadingScale, Verdict: policy.Cross, Urgent: true})
		}
		budget := latch.Budget{Tokens: 1, At: k.Now}
		if i < s.spent {
			budget.Tokens = 0
		}
		if d := policy.Afford(g, budget, k.Now, policy.Ride(decisions))[0]; d.Crosses() {
			l = l.Settled(d.ApplyTo(l.Declared))
		}
		at.git = l.Declared.Rollout
	}
}
