package law

import (
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A flight is the true state of a workload's rollouts.
type flight struct {
	rollout workload.Rollout
	target  string
	most    int32 // maximum number of the target's pods so far
	low     int   // consecutive healthy ticks that saw it below the cut
	well    int   // consecutive ticks that saw it healthy at the cut or above
	wrong   []int // number of ticks that each of wrongs lasted
}

// begins and turns return the most samples that a rule of the policy takes: the time in
// flight, or the healthy time after a failure, from the first sample on, and then two
// ticks. two is two samples.
func begins(p policy.Policy) int { return samples(p.RolloutAfter) + 1 + 2 }
func turns(p policy.Policy) int  { return samples(p.ProgressDeadline) + 1 + 2 }
func two(policy.Policy) int      { return 2 }

func samples(d time.Duration) int { return int((d + story.Period - 1) / story.Period) }

// A wrong is a wrong template for the start of a rebuild, and the number of samples in
// which the entry may still have it.
type wrong struct {
	what   string
	looks  func(policy.Policy) int
	budget bool // it may wait for the budget
	is     func(checkpoint.Rollout, *flight) bool
}

var wrongs = []wrong{
	{"the rollout is over, and a rebuild begins with the old template", two, false, func(r checkpoint.Rollout, f *flight) bool {
		return !f.rollout.InFlight && r.Returns == checkpoint.SideFrom
	}},
	{"the target failed, and a rebuild begins with it", two, false, func(r checkpoint.Rollout, f *flight) bool {
		return f.rollout.Failure != "" && r.To.Hash == f.target && r.Returns == checkpoint.SideTo
	}},
	{"it goes back, and a rebuild begins with what it goes back from", two, false, func(r checkpoint.Rollout, f *flight) bool {
		return f.rollout.InFlight && r.From.Hash == f.target && r.Returns == checkpoint.SideTo
	}},
	{"the target failed, and nothing is recorded", two, true, func(r checkpoint.Rollout, f *flight) bool {
		return f.rollout.Failure != "" && r == checkpoint.Rollout{}
	}},
	{"it is below the cut, and another rollout is recorded", two, true, func(r checkpoint.Rollout, f *flight) bool {
		return f.low > 0 && r != checkpoint.Rollout{} && f.target != r.From.Hash && f.target != r.To.Hash
	}},
	{"it was below the cut all the time, and nothing is recorded", begins, true, func(r checkpoint.Rollout, f *flight) bool {
		return f.low > 0 && r == checkpoint.Rollout{} && !f.older()
	}},
	{"it is well, and a rebuild begins with the old template", turns, true, func(r checkpoint.Rollout, f *flight) bool {
		return f.well > 0 && r.To.Hash == f.target && r.Returns == checkpoint.SideFrom
	}},
}

// older reports whether the target has a creation time, before the previous template's.
func (f *flight) older() bool {
	is, was := f.rollout.Templates[0].Since, f.rollout.Templates[1].Since
	return !is.IsZero() && is.Before(was)
}

// follow notes the true state at a tick, and counts the wrong entries in git.
func (f *flight) follow(s *Seen, p policy.Policy, sample workload.Sample, healthy bool) {
	_, looked := s.Told.Kinds.Object(sample.ID.Kind)
	healthy = healthy && looked && p.Rollout == policy.ModeLatch && sample.Rollout != nil && s.Told.Stop.Reason == policy.ReasonNone && (sample.Scale == nil || sample.Scale.Desired > 0)
	f.see(sample.Rollout, p.Cut, healthy)
	if f.wrong == nil {
		f.wrong = make([]int, len(wrongs))
	}
	affords := policy.Affords(s.Told.Set.Guards, s.Before.Head.Budget, s.Told.At)
	record := s.After.Entries[sample.ID].Rollout
	for i, w := range wrongs {
		if f.wrong[i]++; !healthy || w.budget && !affords || !w.is(record, f) {
			f.wrong[i] = 0
		}
	}
}

// see notes the live rollout.
func (f *flight) see(r *workload.Rollout, cut int32, healthy bool) {
	if r == nil || !r.InFlight || len(r.Templates) < 2 {
		*f = flight{wrong: f.wrong}
		return
	}
	target := r.Templates[0]
	if target.Hash != f.target {
		*f = flight{wrong: f.wrong, target: target.Hash}
	}
	f.rollout = *r
	amiss := r.Failure != "" || r.Unjudged || target.Available < f.most
	f.most = max(f.most, target.Available)
	high := 100*target.Available >= cut*r.Desired
	if f.low++; !healthy || high {
		f.low = 0
	}
	if f.well++; !healthy || !high || amiss {
		f.well = 0
	}
}

func misleads(s *Seen) string {
	for id, of := range s.lives {
		p := s.rule(s.World.Fleet[id])
		for i, w := range wrongs {
			if i < len(of.wrong) && of.wrong[i] > w.looks(p) {
				return fmt.Sprintf("of %s git says %+v for %d ticks: %s", id, s.After.Entries[id].Rollout, of.wrong[i], w.what)
			}
		}
	}
	return ""
}
