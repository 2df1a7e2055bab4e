package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
)

func to(d policy.Decision) any {
	if d.To.IsZero() {
		return nil
	}
	return d.To
}

// agree compares the latch's decision for a sample with the oracle's.
func (h *history) agree(l latch.Latch, d policy.Decision, a answer, v view) error {
	want, verdict, reason := h.expect(a, v)
	got := checkpoint.Entry{}
	if !d.To.IsZero() {
		got = d.To
	}
	switch {
	case got != want:
		return fmt.Errorf("declares %+v, the oracle %+v", got, want)
	case d.Verdict != verdict:
		return fmt.Errorf("verdict is %q, the oracle's %q", d.Verdict, verdict)
	case reason != policy.ReasonNone && d.Reason != reason:
		return fmt.Errorf("reason is %q, the oracle's %q", d.Reason, reason)
	case d.Verdict == policy.Frozen && d.Reason == policy.ReasonNone:
		return fmt.Errorf("freezes without a reason")
	case d.Rides != a.rides:
		return fmt.Errorf("rides is %v, the oracle's %v", d.Rides, a.rides)
	case d.Text == "":
		return fmt.Errorf("says nothing")
	case l.Declared != h.oracle.declared:
		return fmt.Errorf("changed what is declared to %+v", l.Declared)
	case !tail(a.streak, l.Up.Levels, max(h.policy.HoldUp, 3)):
		return fmt.Errorf("raise has levels %v, the oracle %v", l.Up.Levels, a.streak)
	case l.Down.Running() != a.running:
		return fmt.Errorf("lowering runs: %v, the oracle's: %v", l.Down.Running(), a.running)
	case a.running && l.Down.Level != a.peak:
		return fmt.Errorf("peak is %d, the oracle's %d", l.Down.Level, a.peak)
	case a.running && l.Down.Elapsed(h.now) != a.elapsed:
		return fmt.Errorf("observed %s, the oracle %s", l.Down.Elapsed(h.now), a.elapsed)
	case a.running && l.Down.Count != min(a.samples, max(1, h.policy.HoldUp)):
		return fmt.Errorf("counted %d samples, the oracle %d", l.Down.Count, a.samples)
	}
	return h.laws(d, a)
}

// tail reports whether kept is the end of all, limited to n values.
func tail(all, kept []int32, n int) bool {
	return slices.Equal(all[max(0, len(all)-n):], kept)
}

// expect is the decision that follows from the oracle's answer.
func (h *history) expect(a answer, v view) (checkpoint.Entry, policy.Verdict, policy.Reason) {
	declared := h.oracle.declared
	switch {
	case a.now.stopped:
		return checkpoint.Entry{}, policy.Frozen, policy.ReasonNone
	case a.to != (checkpoint.Entry{}):
		return h.crossing(a.to, a)
	case len(a.streak) > 0 || declared.Replicas == 0:
		return checkpoint.Entry{}, policy.Pending, policy.ReasonNone
	case a.now.frozen && (a.running || a.now.lowered < declared.Replicas):
		return checkpoint.Entry{}, policy.Frozen, policy.ReasonNone
	case a.running:
		return checkpoint.Entry{}, policy.Pending, policy.ReasonNone
	case h.policy.Bounds == policy.ModeLatch && (declared.Min != v.min || declared.Max != v.max) && !v.contradicts():
		return h.crossing(entry(declared.Replicas, policy.Bounds{Min: v.min, Max: v.max}), a)
	}
	return checkpoint.Entry{}, policy.Quiet, policy.ReasonNone
}

// crossing returns the result of a level change: made, or blocked by the policy.
func (h *history) crossing(to checkpoint.Entry, a answer) (checkpoint.Entry, policy.Verdict, policy.Reason) {
	if h.policy.Bounds == policy.ModeIgnore {
		to.Min, to.Max = h.oracle.declared.Min, h.oracle.declared.Max
	}
	declared := h.oracle.declared.Replicas
	surge := declared > 0 && min(a.now.counted, to.Replicas) > 10*declared
	switch {
	case h.policy.Scale == policy.ModeReport:
		return to, policy.Pending, policy.ReasonReport
	case surge && h.policy.Review:
		return to, policy.Review, policy.ReasonSurge
	}
	return to, policy.Cross, policy.ReasonNone
}

// laws checks the laws for a single sample.
func (h *history) laws(d policy.Decision, a answer) error {
	if d.To.IsZero() {
		return nil
	}
	declared, level := h.oracle.declared.Replicas, d.To.Replicas
	need := slices.Min(append([]int32{a.now.counted}, lastCounts(h.oracle.history, a.now.needs)...))
	switch bounded := a.now.bounds; {
	case d.To.Max > 0 && d.To.Min > d.To.Max:
		return fmt.Errorf("law: bounds that git can hold: declares %+v", d.To)
	case level < 1:
		return fmt.Errorf("law: never 0: declares %d", level)
	case level < floor(bounded) || bounded.Max > 0 && level > bounded.Max:
		return fmt.Errorf("law: always within bounds: %d is not in %+v", level, bounded)
	case level != declared && !h.oracle.wasLevel(level):
		return fmt.Errorf("law: always a level: %d is none of %s", level, h.oracle.rule.series)
	case level > declared && h.policy.Round == policy.RoundUp && level < need && level != bounded.Max:
		return fmt.Errorf("law: never below the sustained need: %d is below %d", level, need)
	case declared > 0 && level < declared && a.now.frozen:
		return fmt.Errorf("law: freezes lower nothing: %d to %d", declared, level)
	case a.now.stopped:
		return fmt.Errorf("law: freezes change nothing: %d to %d", declared, level)
	case declared > 0 && level > declared && d.Urgent != (4*int64(min(a.now.counted, level)) > 5*int64(declared)):
		return fmt.Errorf("urgent is %v for %d of %d over %d", d.Urgent, a.now.counted, level, declared)
	case declared > 0 && d.Surge != (int64(min(a.now.counted, level)) > 10*int64(declared)):
		return fmt.Errorf("surge is %v for %d of %d over %d", d.Surge, a.now.counted, level, declared)
	case declared == 0 && (d.Urgent || d.Surge):
		return fmt.Errorf("the first level of a workload is urgent or a surge")
	}
	return nil
}

// lastCounts returns the counts of the last n samples that were not stopped, limited to
// the maximum of their time.
func lastCounts(history []moment, n int) []int32 {
	var counts []int32
	for i := len(history) - 1; i >= 0 && len(counts) < n; i-- {
		if m := history[i]; !m.stopped {
			if m.bounds.Max > 0 {
				m.counted = min(m.counted, m.bounds.Max)
			}
			counts = append(counts, m.counted)
		}
	}
	return counts
}

// repeats is the law that a second sample at the same instant changes nothing. With the
// same latch, the decision is the same and no timer moves. With the level change saved,
// no level change remains.
func repeats(p policy.Policy, l latch.Latch, d policy.Decision, v view, look policy.Look) error {
	second, again := policy.Decide(p, l, v.sample(web), look)
	switch {
	case !second.Equal(l):
		return fmt.Errorf("law: a second look changes nothing: from %+v to %+v", l, second)
	case again.Verdict != d.Verdict || to(again) != to(d):
		return fmt.Errorf("law: a second look decides the same: %s %v, then %s %v", d.Verdict, to(d), again.Verdict, to(again))
	case d.Verdict != policy.Cross:
		return nil
	}
	settled := l.Settled(d.To)
	second, again = policy.Decide(p, settled, v.sample(web), look)
	if len(second.Up.Levels) == 0 {
		// If the minimum, the maximum or the target moved, the replicas in git may
		// suffice without being on a level. The latch then drops the levels that it
		// collected.
		settled.Up = latch.Up{}
	}
	switch {
	case again.Crosses():
		return fmt.Errorf("law: a second look at what is settled crosses nothing: declares %v, then %v", to(d), to(again))
	case !unfrozen(second).Equal(unfrozen(settled)):
		return fmt.Errorf("law: a second look at what is settled changes nothing: from %+v to %+v", settled, second)
	}
	return nil
}

// lowersByTimer is the law that only a timer lowers. A sample whose instant is not
// after the last one starts no timer, and lowers nothing unless a timer runs.
func lowersByTimer(h *history, look policy.Look) error {
	other := h.fork()
	other.rand = rand.New(rand.NewPCG(seed, uint64(h.now.UnixNano())))
	other.drawBounds()
	v := other.view
	v.desired = other.between(1, 2*max(1, v.desired))
	v.ready = v.desired
	_, d := policy.Decide(h.policy, h.latch, v.sample(web), look)
	if d.Crosses() && d.Lowers() && !h.latch.Down.Running() {
		return fmt.Errorf("law: only a timer lowers: %+v at the same instant lowers %v to %v", v, d.From, d.To)
	}
	return nil
}

// unfrozen returns a latch without its freeze reason, which the next sample after a
// level change erases.
func unfrozen(l latch.Latch) latch.Latch {
	l.Freeze = latch.Freeze{}
	return l
}
