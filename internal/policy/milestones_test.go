package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A turn is one look at a workload, and a push where it crosses, most of which
// land.
type turn struct {
	policy   policy.Policy
	sample   workload.Sample
	look     policy.Look
	gap      bool // too long after the one before
	before   latch.Latch
	looked   latch.Latch // what the look made of it, before anything was settled
	decision policy.Decision
	// was is the rollout that git declared, and now the one that it is to declare.
	was, now checkpoint.Rollout
	pushed   bool
}

// seen reports whether the look saw the rollout, and nothing kept it from
// deciding.
func (t turn) seen() bool { return t.decision.Verdict != policy.Frozen }

func (t turn) flies() bool { return t.seen() && t.sample.Rollout.InFlight }

// fails reports whether the rollout failed, by a condition, for lack of progress,
// or as over half of its pods went.
func (t turn) fails() bool { return t.sample.Rollout.Failure != "" || t.stalls() || t.sinks() }

// sinks reports whether they were missing for too long; the oracle knows that it is
// measured rightly.
func (t turn) sinks() bool {
	short := t.looked.Rollout.Short
	return short.Running() && short.Elapsed(t.look.Now) >= t.policy.ProgressDeadline
}

// stalls reports whether its lack of progress lasts; the oracle knows that it is
// measured rightly.
func (t turn) stalls() bool {
	r := t.sample.Rollout
	return r.Unjudged && r.Halted == "" && t.looked.Rollout.Progress.Elapsed(t.look.Now) >= max(t.policy.ProgressDeadline, 2*t.looked.Rollout.Progress.Longest)
}

// target is the template that the rollout is on its way to.
func (t turn) target() workload.Template { return t.sample.Rollout.Templates[0] }

// begins reports whether the turn declares a rollout that was not declared.
func (t turn) begins() bool {
	return t.now != checkpoint.Rollout{} && (t.was == checkpoint.Rollout{} || t.was.To.Hash != t.now.To.Hash)
}

// lost is the percentage that the turn took from what git declares.
func (t turn) lost() int32 {
	if t.begins() || t.now == (checkpoint.Rollout{}) {
		return 0
	}
	return t.was.Milestone - t.now.Milestone
}

// lives are how many random lives of rollouts each law is held against.
func lives() uint64 {
	if testing.Short() {
		return 600
	}
	return 2000
}

// live holds a law against random lives: the law is told each turn, the last of
// all so far.
func live(t *testing.T, law func(all []turn, last turn) error) {
	t.Helper()
	t.Parallel()
	for seed := range lives() {
		r := rand.New(rand.NewPCG(seed, 25))
		p := policy.Presets()["cope"]
		p.Milestones = pick(r, p.Milestones, []int32{50}, []int32{1, 99})
		p.Cut = pick[int32](r, 50, 1, 90, 99)
		p.ProgressDeadline = pick(r, 2*time.Minute, 10*time.Minute)
		l, view, past := latch.Latch{ID: web}, workload.Rollout{}, make([]turn, 0, 40)
		look := policy.Look{Now: noon, Period: time.Minute}
		for range 40 {
			view = nextRollout(r, view)
			shown := view
			last := turn{policy: p, sample: workload.Sample{ID: web, Rollout: &shown}, before: l, was: l.Declared.Rollout}
			if last.gap = r.IntN(12) == 0; last.gap {
				look.Now = look.Now.Add(time.Hour)
			}
			look.Stop = policy.Stop{}
			switch r.IntN(16) {
			case 0:
				last.sample.Rollout = nil
			case 1:
				look.Stop = policy.Stop{All: true, Reason: policy.ReasonHold, Text: "held"}
			}
			last.look = look
			last.looked, last.decision = policy.DecideRollout(p, l, last.sample, look)
			l, last.now = last.looked, last.was
			if last.decision.Crosses() {
				to := last.decision.On(l.Declared)
				last.now, last.pushed = to.Rollout, r.IntN(10) > 0
				if last.pushed {
					l = l.Settled(to)
				}
			}
			past = append(past, last)
			if err := law(past, last); err != nil {
				t.Fatalf("life %d, turn %d: git had %+v and is to have %+v: %s %s: %v", seed, len(past)-1, last.was, last.now, last.decision.Verdict, last.decision.Text, err)
			}
			look.Last, look.Now = look.Now, look.Now.Add(time.Minute)
		}
	}
}

// well reports whether a turn reached a milestone in good health: so many pods
// are available, and of those that were in the turn before at most one in twenty
// is not.
func well(before *turn, t turn, milestone int32) bool {
	due := int32(0)
	if before != nil {
		due = min(t.target().Desired, before.target().Available)
	}
	available := t.target().Available
	return !t.fails() && 20*available >= 19*due && 100*available >= milestone*t.sample.Rollout.Desired
}

// inARow reports whether two turns follow on one another and see one rollout.
func inARow(a, b turn) bool {
	return a.flies() && b.flies() && !b.gap && a.target().Hash == b.target().Hash
}

// earlier is the turn before the one with the number, where both saw one rollout
// in a row; nil where they did not.
func earlier(all []turn, i int) *turn {
	if i == 0 || !inARow(all[i-1], all[i]) {
		return nil
	}
	return &all[i-1]
}

func TestAMilestoneAdvancesByTwoHealthySamplesInARowOnly(t *testing.T) {
	live(t, func(all []turn, last turn) error {
		if last.now.Milestone == 0 || !last.begins() && last.now.Milestone <= last.was.Milestone {
			return nil
		}
		n := len(all) - 1
		if earlier(all, n) == nil {
			return fmt.Errorf("it saw %+v, and not the same rollout a sample ago", last.sample.Rollout)
		}
		if !well(earlier(all, n-1), all[n-1], last.now.Milestone) || !well(&all[n-1], last, last.now.Milestone) {
			return fmt.Errorf("the samples are %+v and %+v", all[n-1].sample.Rollout, last.sample.Rollout)
		}
		return nil
	})
}

func TestAMilestoneIsNeverAboveWhatWasAvailableInHealth(t *testing.T) {
	live(t, func(all []turn, last turn) error {
		if last.now.Reached() == 0 {
			return nil
		}
		for i, at := range all {
			if at.flies() && at.target().Hash == last.now.To.Hash && well(earlier(all, i), at, last.now.Reached()) {
				return nil
			}
		}
		return fmt.Errorf("no sample had %d %% of its pods available in good health", last.now.Reached())
	})
}

func TestAShareNeverMakesACommit(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		now := last.now
		if now.Share = last.was.Share; now == last.was && last.now != last.was {
			return fmt.Errorf("nothing but its share changed")
		}
		return nil
	})
}

func TestAFailureIsAtZeroOnTheVeryLook(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		if !last.flies() || !last.fails() || last.decision.Reason == policy.ReasonWayBack {
			return nil
		}
		older := last.target().Since.Before(last.sample.Rollout.Templates[1].Since)
		if older && last.now == (checkpoint.Rollout{}) && last.was != last.now { // it was on its way back beside a record of others
			return nil
		}
		if last.now == (checkpoint.Rollout{}) || last.now.Reached() != 0 || last.now.Returns != checkpoint.SideFrom || last.now.Returned().Hash == last.target().Hash && last.now.To.Hash == last.target().Hash {
			return fmt.Errorf("it failed")
		}
		if last.now.To.Hash == last.target().Hash && last.now.Phase != checkpoint.PhaseFailed && last.now.Phase != checkpoint.PhaseReturning {
			return fmt.Errorf("it failed, and is said to be %s", last.now.Phase)
		}
		return nil
	})
}

func TestAWayBackIsAtZeroOnTheVeryLook(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		if last.flies() && last.target().Hash == last.was.From.Hash && (last.now.Milestone != 0 || last.now.Returned() != last.was.From) {
			return fmt.Errorf("it is on its way back to %s", last.was.From.Hash)
		}
		return nil
	})
}

func TestAMilestoneFallsByAFailureOrAWayBackOnly(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		if last.lost() > 0 && !last.fails() && last.target().Hash != last.was.From.Hash {
			return fmt.Errorf("it lost %d %% of %+v", last.lost(), last.sample.Rollout)
		}
		return nil
	})
}

// From the commit that begins a record to the one that ends it, or puts another in
// its place, which is the last of the six. Only a failure of what has not fallen, and
// the cut once it was held for long, are told all the same.
func TestARolloutTakesAtMostSixCommits(t *testing.T) {
	live(t, func(all []turn, last turn) error {
		commits := last.looked.Rollout.Commits
		if !last.decision.Crosses() || last.begins() || commits < 5 || last.now == (checkpoint.Rollout{}) {
			return nil
		}
		if last.was.Phase != checkpoint.PhaseFailed && last.was.Phase != checkpoint.PhaseReturning && last.now.Milestone == 0 {
			return nil
		}
		long := time.Duration(0)
		for _, at := range slices.Backward(all) {
			if at.seen() && (!at.flies() || at.target().Hash != last.target().Hash || !well(nil, at, last.policy.Cut)) {
				break
			}
			if long >= last.policy.ProgressDeadline<<min(3, (commits-4)/2) {
				return nil
			}
			if !at.gap {
				long += at.look.Now.Sub(at.look.Last)
			}
		}
		return fmt.Errorf("its commit %d, %s past the cut", commits+1, long)
	})
}

// A record says what runs until it is replaced: a target that overtakes takes
// nothing from it while pods of one of its templates are left.
func TestARecordStaysUntilAnotherTakesItsPlace(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		if last.now != (checkpoint.Rollout{}) || last.was == (checkpoint.Rollout{}) || !last.flies() {
			return nil
		}
		for _, template := range last.sample.Rollout.Templates {
			if template.Runs() && (template.Hash == last.was.From.Hash || template.Hash == last.was.To.Hash) {
				return fmt.Errorf("it went while %s runs", template.Hash)
			}
		}
		return nil
	})
}

func TestASecondLookAtTheSameInstantChangesNothing(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		look := last.look
		look.Last = look.Now
		again, d := policy.DecideRollout(last.policy, last.looked, last.sample, look)
		if !again.Equal(last.looked) || d.Verdict != last.decision.Verdict || d.Reason != last.decision.Reason || d.On(last.before.Declared) != last.decision.On(last.before.Declared) {
			return fmt.Errorf("then %+v, and %s %s", again.Rollout, d.Verdict, d.Text)
		}
		settled := last.looked
		if last.decision.Crosses() {
			settled = settled.Settled(last.decision.On(settled.Declared))
		}
		if after, d := policy.DecideRollout(last.policy, settled, last.sample, look); d.Crosses() || !after.Equal(settled) {
			return fmt.Errorf("settled, it is %+v, and %s %s", after.Rollout, d.Verdict, d.Text)
		}
		return nil
	})
}

func TestARolloutOfLessThanTwoLooksLeavesNothing(t *testing.T) {
	live(t, func(all []turn, last turn) error {
		if last.begins() && !last.fails() && (earlier(all, len(all)-1) == nil) {
			return fmt.Errorf("it was seen once: %+v", last.sample.Rollout)
		}
		return nil
	})
}

func TestARolloutThatIsDoneLeavesTheRecord(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		if last.seen() && !last.sample.Rollout.InFlight && (last.now != checkpoint.Rollout{} || last.looked.Settled(last.decision.On(last.looked.Declared)).Rollout.Commits != 0) {
			return fmt.Errorf("it is done")
		}
		return nil
	})
}

func TestARebuildBeginsWithTheNewTemplateFromTheCutOnOnly(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		if r := last.now; r != (checkpoint.Rollout{}) && (r.Returns == checkpoint.SideTo) != (r.Milestone >= last.policy.Cut) {
			return fmt.Errorf("the cut is %d %%", last.policy.Cut)
		}
		return nil
	})
}

func TestOnlyWhatDecidesIsUrgent(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		if !last.decision.Crosses() {
			return nil
		}
		failed := last.begins() && last.fails()
		fell := !last.begins() && last.now != checkpoint.Rollout{} && last.now.Phase != last.was.Phase &&
			last.was.Phase != checkpoint.PhaseFailed && last.was.Phase != checkpoint.PhaseReturning &&
			(last.now.Phase == checkpoint.PhaseFailed || last.now.Phase == checkpoint.PhaseReturning)
		// What a rebuild begins with; where nothing is recorded, with the new template.
		other := (last.was.Returns == checkpoint.SideFrom) != (last.now.Returns == checkpoint.SideFrom) ||
			last.begins() && last.now.Returns == checkpoint.SideFrom
		calm := !last.begins() || last.looked.Rollout.Follows < 6
		if want := calm && (failed || fell || other); last.decision.Urgent != want {
			return fmt.Errorf("urgent is %t", last.decision.Urgent)
		}
		return nil
	})
}

func TestWhatStopsARolloutChangesNothingOfIt(t *testing.T) {
	live(t, func(_ []turn, last turn) error {
		if !last.seen() && (last.now != last.was || last.looked.Rollout.Commits != last.before.Rollout.Commits) {
			return fmt.Errorf("stopped by %s", last.decision.Reason)
		}
		return nil
	})
}

// Lives in which the law would have nothing to say prove nothing.
func TestRandomLivesOfRolloutsSeeAllThatThereIs(t *testing.T) {
	seen := map[string]int{}
	live(t, func(all []turn, last turn) error {
		for what, is := range map[string]bool{
			"advance":      !last.begins() && last.now.Milestone > last.was.Milestone,
			"fall":         last.lost() > 0,
			"overtaken":    last.begins() && last.was != checkpoint.Rollout{},
			"begins high":  last.begins() && last.now.Milestone > 0,
			"begins low":   last.begins() && last.now.Milestone == 0 && last.now.Phase != checkpoint.PhaseFailed,
			"failed":       last.begins() && last.now.Phase == checkpoint.PhaseFailed,
			"no room":      last.decision.Reason == policy.ReasonRoom,
			"way back":     last.decision.Reason == policy.ReasonWayBack,
			"returning":    last.now.Phase == checkpoint.PhaseReturning && last.was.Phase != checkpoint.PhaseReturning,
			"halted":       last.now.Phase == checkpoint.PhaseHalted && last.was != last.now,
			"unsettled":    last.decision.Verdict == policy.Pending,
			"stalled":      last.flies() && last.stalls() && last.now != last.was,
			"goes on":      last.was.Phase == checkpoint.PhaseFailed && last.now.Milestone > 0 && last.looked.Rollout.Target == last.was.To.Hash,
			"waits":        last.decision.Verdict == policy.Pending && len(last.looked.Rollout.Levels) == 2,
			"left alone":   last.decision.Verdict == policy.Pending && last.was != checkpoint.Rollout{} && len(last.looked.Rollout.Levels) == 2,
			"says nothing": last.flies() && last.was != checkpoint.Rollout{} && last.now == checkpoint.Rollout{},
			"stopped":      !last.seen() && len(all) > 1 && all[len(all)-2].flies(),
		} {
			if is {
				seen[what]++
			}
		}
		return nil
	})
	for _, what := range []string{"advance", "fall", "overtaken", "begins high", "begins low", "failed", "no room", "way back", "returning", "halted", "unsettled", "stalled", "goes on", "waits", "left alone", "says nothing", "stopped"} {
		if seen[what] < 20 {
			t.Errorf("%s was seen %d times", what, seen[what])
		}
	}
}
