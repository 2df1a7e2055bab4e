package diff

import (
	"fmt"
	"math"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A pair is one workload as it was seen, and what is declared of it; the zero
// entry is nothing.
type pair struct {
	report   Report
	sample   workload.Sample
	declared checkpoint.Entry
}

func (p pair) row(r policy.Reading) Row {
	return Row{ID: p.sample.ID, Reading: r, Sample: p.sample, Declared: p.declared}
}

func (p pair) latch() latch.Latch { return latch.Latch{ID: p.sample.ID, Declared: p.declared} }

// broken is a row whose record cannot be read; ok is false where it can.
func (p pair) broken(row Row) (Row, bool) {
	if p.report.Tree.Broken[p.sample.ID.Namespace] == nil {
		return row, false
	}
	row.State, row.Reason, row.Text = Unknown, policy.ReasonBroken, "the record of its namespace cannot be read"
	return row, true
}

// scale compares the scale.
func (p pair) scale() Row {
	row := p.row(policy.ReadingScale)
	chosen, skip, latched := p.report.Set.Choose(p.sample)
	if !latched {
		row.State, row.Reason, row.Text = Unlatched, skip.Reason, skip.Text
		return row
	}
	if err := checkpoint.Fits(p.sample.ID); err != nil {
		row.State, row.Reason, row.Text = Unlatched, policy.ReasonName, err.Error()
		return row
	}
	row.Policy = chosen.Name
	if row, broken := p.broken(row); broken {
		return row
	}
	d, samples := lasting(chosen, p.look(chosen.HoldDown), func(look policy.Look, l latch.Latch) (latch.Latch, policy.Decision) {
		return policy.Decide(chosen, l, p.sample, look)
	}, p.latch())
	row = decided(row, d)
	row.Mismatch, row.Capped = d.Mismatch, d.Capped
	if s := p.sample.Scale; s != nil && p.declared.Replicas > 0 {
		row.RaiseAbove, row.LowerAt = policy.Thresholds(chosen, p.declared, *s)
	}
	if row.State == InSync && (row.Mismatch != nil || row.Capped) {
		row.State = Bounds
	}
	if row.State == Bounds && row.Capped {
		row.Text = fmt.Sprintf("%d run, and the accepted max is %d", d.Count, p.declared.Max)
	}
	if row.State == Pending && !row.To.IsZero() {
		row.Text = p.crossing(row, chosen, samples)
		if chosen.HoldDown > 0 && row.To.Replicas < p.declared.Replicas {
			row.State = Waiting
		}
	}
	_, covered := p.report.Tree.Evidence.Covers(p.sample.ID)
	row.Unproven = p.report.Set.Latch && chosen.Scale == policy.ModeLatch && !chosen.AcceptRisk && !covered && (p.declared.Replicas > 0 || !row.To.IsZero())
	return row
}

// crossing says which threshold is passed, and what would come of it.
func (p pair) crossing(row Row, chosen policy.Policy, samples int) string {
	s, from, to := *p.sample.Scale, p.declared.Replicas, row.To.Replicas
	seen := fmt.Sprintf("%d", s.Desired)
	if s.Ready < s.Desired {
		seen = fmt.Sprintf("%d, %d of them ready,", s.Desired, s.Ready)
	}
	held := "at once"
	if samples > 1 {
		held = fmt.Sprintf("once %d samples in a row are", samples)
	}
	var text string
	switch {
	case from == 0:
		text = fmt.Sprintf("nothing is declared: %s rounds to %d", seen, to)
	case to > from && row.RaiseAbove < math.MaxInt32:
		text = fmt.Sprintf("%s is above %d: %d %s", seen, row.RaiseAbove, to, held)
	case to > from:
		text = fmt.Sprintf("%s: %d %s", seen, to, held)
	case to < from && chosen.HoldDown > 0:
		text = fmt.Sprintf("%s is at or under %d: %d after %s of it", seen, row.LowerAt, to, policy.Span(chosen.HoldDown))
	case to < from:
		text = fmt.Sprintf("%s is at or under %d: %d %s", seen, row.LowerAt, to, held)
	default:
		text = "its bounds are followed: " + policy.Bounds{Min: row.To.Min, Max: row.To.Max}.String()
	}
	switch row.Reason {
	case policy.ReasonReport:
		text += "; its policy only reports that"
	case policy.ReasonSurge:
		text += "; a surge, which a person should make"
	}
	return text
}

// rollout compares the rollout; ok is false where none is in flight and none is
// declared.
func (p pair) rollout() (row Row, ok bool) {
	row = p.row(policy.ReadingRollout)
	chosen := p.report.Set.ChooseRollout(p.sample)
	recorded := p.declared.Rollout != checkpoint.Rollout{}
	flies := p.sample.Rollout != nil && p.sample.Rollout.InFlight && chosen.Rollout != policy.ModeIgnore
	if checkpoint.Fits(p.sample.ID) != nil || !recorded && !flies {
		return row, false
	}
	row.Policy = chosen.Name
	if row, broken := p.broken(row); broken {
		return row, true
	}
	// One look tells neither for how long it has been in flight nor what the samples
	// before it were.
	_, d := policy.DecideRollout(chosen, p.latch(), p.sample, p.look(0))
	row = decided(row, d)
	if d.Rides || d.Verdict == policy.Pending && d.Reason == policy.ReasonNone {
		row.State = Waiting
	}
	return row, true
}

// look is an instant of a time in which looks are so far apart that a hold is
// over by the next.
func (p pair) look(hold time.Duration) policy.Look {
	return policy.Look{Now: p.report.Fleet.At, Period: max(p.report.Set.Guards.Period, hold), Stop: p.report.Stop}
}

// decided is a row by what was decided of it.
func decided(row Row, d policy.Decision) Row {
	row.To, row.Reason, row.Text = d.To, d.Reason, d.Text
	switch d.Verdict {
	case policy.Quiet:
		row.State = InSync
	case policy.Frozen:
		row.State = Frozen
		if d.Reason == policy.ReasonUnread {
			row.State = Unknown
		}
	case policy.Skip:
		row.State = Unlatched
	default:
		row.State = Pending
	}
	return row
}

// lasting decides of a sample that stays as it is, and counts the looks that it
// took.
func lasting(p policy.Policy, look policy.Look, decide func(policy.Look, latch.Latch) (latch.Latch, policy.Decision), l latch.Latch) (d policy.Decision, samples int) {
	for most := max(p.HoldUp, policy.RolloutHold) + 1; samples < most; samples++ {
		if l, d = decide(look, l); !d.To.IsZero() || d.Verdict != policy.Pending {
			return d, samples + 1
		}
		look.Last, look.Now = look.Now, look.Now.Add(look.Period)
	}
	return d, samples
}
