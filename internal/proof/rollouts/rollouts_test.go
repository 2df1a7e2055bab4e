package rollouts

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var lives = flag.Int("lives", 300, "lives of rollouts at each period; 70000 is the measure at length")

// wrongs are the kinds of wrong minutes.
var wrongs = []string{"new, though failed", "new below the cut", "old past the cut", "late", "stale old", "dead old"}

// A tally contains the counts of some lives.
type tally struct {
	flight, rollouts, commits, days float64
	wrong                           map[string]float64
	undone                          float64 // minutes of failed undos without an entry
	open                            float64 // minutes below the cut without an entry, of any age
}

// A side is one workload of a site with its latch.
type side struct {
	*life
	latch latch.Latch
	ill   int // consecutive minutes with a visible failure
	well  int // consecutive minutes past the cut without one
}

// lived ticks a site with some workloads for the given minutes.
func (t *tally) lived(r *rand.Rand, workloads, minutes, period int) {
	p, g := policy.Presets()["cope"], policy.DefaultGuards()
	g.Period = time.Duration(period) * time.Minute
	sides := make([]*side, workloads)
	for i := range sides {
		sides[i] = &side{life: newLife(r), latch: latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprint("w", i)}}}
	}
	var budget latch.Budget
	look := policy.Look{Period: g.Period}
	for minute := range minutes {
		for _, s := range sides {
			t.judge(s, p.Cut, period) // with the state after the minute before
			s.step()
		}
		if minute%period != 0 || workloads == 1 && minute < sides[0].gap {
			continue
		}
		look.Last, look.Now = look.Now, epoch.Add(time.Duration(minute)*time.Minute)
		decisions := make([]policy.Decision, workloads)
		for i, s := range sides {
			s.latch, decisions[i] = policy.DecideRollout(p, s.latch, workload.Sample{ID: s.latch.ID, Rollout: s.sample()}, look)
		}
		committed := false
		for i, d := range policy.Afford(g, budget, look.Now, policy.Ride(decisions)) {
			if d.Crosses() {
				committed, sides[i].latch = true, sides[i].latch.Settled(d.ApplyTo(sides[i].latch.Declared))
			}
		}
		if committed {
			budget = policy.Spend(g, budget, look.Now)
			t.commits++
		}
	}
	for _, s := range sides {
		t.rollouts += float64(s.rollouts)
	}
	t.days += float64(minutes) / (24 * 60)
}

// judge adds a minute of a workload to the tally.
func (t *tally) judge(s *side, cut int32, period int) {
	rec := s.latch.Declared.Rollout
	none, old := rec == checkpoint.Rollout{}, rec.Returns == checkpoint.SideFrom
	if !s.flying {
		if s.ill, s.well = 0, 0; old {
			t.wrong["stale old"]++
		}
		return
	}
	t.flight++
	percent, ofTarget := 100*s.target.ready/s.pods, !none && rec.To.Hash == s.target.hash
	undo := s.target != s.revisions[len(s.revisions)-1]
	if s.ill++; !s.life.ill() {
		s.ill = 0
	}
	if s.well++; s.life.ill() || percent < cut {
		s.well = 0
	}
	serves := func(hash string) bool {
		for _, r := range s.revisions {
			if r.hash == hash {
				return r.ready > 0
			}
		}
		return false
	}
	brings := none || ofTarget && !old
	if none && percent < cut {
		t.open++
	}
	switch {
	case none && undo && s.target.stuck < 1:
		t.undone++
	case s.ill > period && brings:
		t.wrong["new, though failed"]++
	case ofTarget && !old && percent < cut:
		t.wrong["new below the cut"]++
	case undo && old && rec.From.Hash != s.target.hash && s.ill == 0:
		t.wrong["stale old"]++
	case ofTarget && old && s.well > 2*period:
		t.wrong["old past the cut"]++
	case none && percent < cut && s.minute-s.began >= 25:
		t.wrong["late"]++
	case old && !serves(rec.From.Hash) && s.target.ready < s.pods:
		t.wrong["dead old"]++
	}
}

// The rollout entries in git are right for most of the time, with few commits.
func TestWhatGitSaysOfRollouts(t *testing.T) {
	all := &tally{wrong: map[string]float64{}}
	for _, period := range []int{1, 5, 15} {
		one := &tally{wrong: map[string]float64{}}
		for i := range *lives {
			one.lived(rand.New(rand.NewPCG(uint64(period), uint64(i))), 1, 12*60, period)
		}
		t.Logf("period %d: %s", period, one)
		all.add(one)
	}
	t.Logf("all: %s", all)
	fmt.Printf("figure rollout_wrong_per_1000 %.1f\n", all.per1000())
	fmt.Printf("figure rollout_commits_per_rollout %.2f\n", all.commits/all.rollouts)

	busy := &tally{wrong: map[string]float64{}}
	for i := range max(3, *lives/700) {
		busy.lived(rand.New(rand.NewPCG(20, uint64(i))), 20, 24*60, 5)
	}
	t.Logf("busy: %s", busy)
	fmt.Printf("figure rollout_busy_commits_per_day %.0f\n", busy.commits/busy.days)
	if all.per1000() > 42 || all.commits/all.rollouts > 0.85 || busy.commits/busy.days > 80 {
		t.Error("git is wrong for longer, or takes more commits, than the rule is for")
	}
}

func (t *tally) add(o *tally) {
	t.flight, t.rollouts, t.commits, t.days, t.undone = t.flight+o.flight, t.rollouts+o.rollouts, t.commits+o.commits, t.days+o.days, t.undone+o.undone
	t.open += o.open
	for kind, minutes := range o.wrong {
		t.wrong[kind] += minutes
	}
}

// per1000 returns the wrong minutes per 1,000 minutes in flight.
func (t *tally) per1000() (all float64) {
	for _, minutes := range t.wrong {
		all += 1000 * minutes / t.flight
	}
	return all
}

func (t *tally) String() string {
	text := fmt.Sprintf("%.1f rollouts and %.1f commits a day, %.2f a rollout; wrong %.1f of 1,000 minutes in flight:", t.rollouts/t.days, t.commits/t.days, t.commits/t.rollouts, t.per1000())
	for _, kind := range wrongs {
		text += fmt.Sprintf(" %s %.1f,", kind, 1000*t.wrong[kind]/t.flight)
	}
	return text + fmt.Sprintf(" a failed undo not recorded %.1f; below the cut and unrecorded at any age %.0f", 1000*t.undone/t.flight, 1000*t.open/t.flight)
}
