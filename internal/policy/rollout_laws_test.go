package policy_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A turn is one sample of a workload. was is the rollout in git before it, and now the
// rollout after it.
type turn struct {
	policy        policy.Policy
	sample        workload.Sample
	before, after latch.Latch // the memory, even if git does not accept the change
	decision      policy.Decision
	was, now      checkpoint.Rollout
}

// flies reports whether the sample saw a rollout in flight and the latch could decide.
func (t turn) flies() bool {
	return t.decision.Verdict != policy.Frozen && t.sample.Rollout.InFlight
}

func (t turn) target() workload.Template { return t.sample.Rollout.Templates[0] }

// begins reports whether the turn adds a rollout entry.
func (t turn) begins() bool {
	return t.now != checkpoint.Rollout{} && (t.was.From.Hash != t.now.From.Hash || t.was.To.Hash != t.now.To.Hash)
}

// lives returns the number of random lives of rollouts that each law is checked with.
func lives() uint64 { return max(600, *histories/10) }

// live checks a law with random lives. Their samples are a minute apart, and some
// cannot see the rollout. Most level changes are saved.
func live(t *testing.T, law func(turn) error) {
	t.Helper()
	t.Parallel()
	for seed := range lives() {
		r := rand.New(rand.NewPCG(seed, 25))
		p, l, view := drawRolloutPolicy(r), latch.Latch{ID: web}, workload.Rollout{}
		look := policy.Look{Now: noon, Period: time.Minute}
		for step := range 40 {
			view = nextRollout(r, view)
			shown := view
			last := turn{policy: p, sample: workload.Sample{ID: web, Rollout: &shown}, before: l, was: l.Declared.Rollout}
			if r.IntN(12) == 0 {
				look.Now = look.Now.Add(time.Hour)
			}
			look.Stop = policy.Stop{}
			switch r.IntN(16) {
			case 0:
				last.sample.Rollout = nil
			case 1:
				look.Stop = policy.Stop{All: true, Reason: policy.ReasonHold, Text: "held"}
			}
			last.after, last.decision = policy.DecideRollout(p, l, last.sample, look)
			l, last.now = last.after, last.was
			if last.decision.Crosses() {
				to := last.decision.ApplyTo(l.Declared)
				if last.now = to.Rollout; r.IntN(10) > 0 {
					l = l.Settled(to)
				}
			}
			if err := law(last); err != nil {
				t.Fatalf("life %d, look %d: git had %+v and is to have %+v: %s %s: %v", seed, step, last.was, last.now, last.decision.Verdict, last.decision.Text, err)
			}
			look.Last, look.Now = look.Now, look.Now.Add(time.Minute)
		}
	}
}

func TestAFailureSaysOldOnTheVeryLook(t *testing.T) {
	live(t, func(last turn) error {
		if last.flies() && last.sample.Rollout.Failure != "" && (last.now.Milestone != 0 || last.now.Returns != checkpoint.SideFrom) {
			return fmt.Errorf("it failed")
		}
		return nil
	})
}

func TestAReturnSaysTheOldTemplateOnTheVeryLook(t *testing.T) {
	live(t, func(last turn) error {
		if last.flies() && last.target().Hash == last.was.From.Hash && (last.now.Milestone != 0 || last.now.Returned() != last.was.From) {
			return fmt.Errorf("it returns to %s", last.was.From.Hash)
		}
		return nil
	})
}

func TestARecordIsOfTheTargetOrOfAReturn(t *testing.T) {
	live(t, func(last turn) error {
		if r := last.now; last.flies() && r != (checkpoint.Rollout{}) && last.target().Hash != r.To.Hash && last.target().Hash != r.From.Hash {
			return fmt.Errorf("it is on its way to %s", last.target().Hash)
		}
		return nil
	})
}

func TestARecordGoesWhenTheRolloutIsOverAndNotBefore(t *testing.T) {
	live(t, func(last turn) error {
		seen := last.decision.Verdict != policy.Frozen
		if over := seen && !last.sample.Rollout.InFlight; seen && (over || last.was != checkpoint.Rollout{}) && over != (last.now == checkpoint.Rollout{}) {
			return fmt.Errorf("over: %t", over)
		}
		return nil
	})
}

// An entry switches from the new template to the old only by a failure or a return, and
// from the old to the new only at the cut.
func TestWhatTurnsARecord(t *testing.T) {
	live(t, func(last turn) error {
		if last.begins() || last.now == (checkpoint.Rollout{}) || last.was.Returns == last.now.Returns {
			return nil
		}
		back := last.target().Hash == last.now.From.Hash
		if old := last.now.Returns == checkpoint.SideFrom; old != (back || last.after.Rollout().Failed) || !old && last.now.Milestone < last.policy.Cut {
			return fmt.Errorf("it turned")
		}
		return nil
	})
}

// Which changes are committed at once, wait for the budget, or wait for the next
// commit.
func TestHowARecordIsCommitted(t *testing.T) {
	const old, none = checkpoint.SideFrom, ""
	ways := map[string]int{}
	live(t, func(last turn) error {
		if !last.decision.Crosses() {
			return nil
		}
		want := "rides"
		switch was, now := last.was.Returns, last.now.Returns; {
		case now == none && was == old, !last.begins() && now == old && was != old:
			want = "at once"
		case now == none, last.begins() && now == old, !last.begins() && now != was:
			want = "waits"
		}
		ways[want]++
		got := map[[2]bool]string{{true, false}: "at once", {false, false}: "waits", {false, true}: "rides"}[[2]bool{last.decision.Urgent, last.decision.Rides}]
		if got != want {
			return fmt.Errorf("it %s, want %s", got, want)
		}
		return nil
	})
	for _, way := range []string{"at once", "waits", "rides"} {
		if ways[way] < 20 {
			t.Errorf("%s: %d times", way, ways[way])
		}
	}
}

func TestWhatStopsARolloutChangesNothingOfIt(t *testing.T) {
	live(t, func(last turn) error {
		was, is := last.before.Rollout(), last.after.Rollout()
		if last.decision.Verdict == policy.Frozen && (last.now != last.was || is.Percent != 0 || is.WasAtCut || is.Target != was.Target || is.Peak != was.Peak || is.Failed != was.Failed || is.Flight.Lost != was.Flight.Lost) {
			return fmt.Errorf("stopped by %s, and then %+v", last.decision.Reason, is)
		}
		return nil
	})
}

// The random lives reach each case of the laws at least 20 times.
func TestRandomLivesOfRolloutsSeeAllThatThereIs(t *testing.T) {
	seen := map[string]int{}
	live(t, func(last turn) error {
		none := checkpoint.Rollout{}
		changes := last.was != last.now
		for what, is := range map[string]bool{
			"begins old":          last.begins() && last.was == none && last.now.Returns == checkpoint.SideFrom && last.now.Phase != checkpoint.PhaseFailed,
			"begins new":          last.begins() && last.now.Returns == checkpoint.SideTo,
			"begins as it fails":  last.begins() && last.was == none && last.now.Phase == checkpoint.PhaseFailed,
			"replaced":            last.begins() && last.was != none,
			"the old one stays":   last.begins() && last.was != none && last.was.From.Hash == last.now.From.Hash,
			"another old one":     last.begins() && last.was != none && last.was.From.Hash != last.now.From.Hash,
			"turns new":           !last.begins() && last.was.Returns == checkpoint.SideFrom && last.now.Returns == checkpoint.SideTo,
			"turns old":           !last.begins() && last.was.Returns == checkpoint.SideTo && last.now.Returns == checkpoint.SideFrom,
			"fails, and was old":  changes && !last.begins() && last.was.Returns == checkpoint.SideFrom && last.now.Phase == checkpoint.PhaseFailed,
			"fails by itself":     last.flies() && last.sample.Rollout.Failure == "" && changes && last.now.Phase == checkpoint.PhaseFailed,
			"returns":             changes && last.now.Phase == checkpoint.PhaseReturning,
			"a milestone":         changes && !last.begins() && last.now.Returns == last.was.Returns && last.now.Milestone > last.was.Milestone,
			"recovers":            last.before.Rollout().Failed && !last.after.Rollout().Failed && last.before.Rollout().Target == last.after.Rollout().Target,
			"an earlier template": last.decision.Reason == policy.ReasonWayBack,
			"halted":              changes && last.now.Phase == checkpoint.PhaseHalted,
			"ends":                changes && last.now == none,
			"stopped":             last.decision.Verdict == policy.Frozen && last.before.Rollout().Target != "",
		} {
			if _, ok := seen[what]; !ok {
				seen[what] = 0
			}
			if is {
				seen[what]++
			}
		}
		return nil
	})
	for what, times := range seen {
		if times < 20 {
			t.Errorf("%s: %d times", what, times)
		}
	}
}
