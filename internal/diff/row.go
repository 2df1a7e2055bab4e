package diff

import (
	"fmt"
	"math"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// stateOf returns the state of a workload for a decision.
func stateOf(d policy.Decision) State {
	switch {
	case d.Reason == policy.ReasonAbsent:
		return Absent
	case d.Reason == policy.ReasonUnread, d.Reason == policy.ReasonBroken:
		return Unknown
	case d.Verdict == policy.Quiet:
		return InSync
	case d.Verdict == policy.Frozen:
		return Frozen
	case d.Verdict == policy.Skip:
		return Unlatched
	}
	return Pending
}

// lastingScale adds to a row the result if the scale lasts.
func (r Report) lastingScale(row Row) Row {
	if row.Policy == "" {
		return row // left out: no policy decided
	}
	chosen, _, _ := r.Set.Choose(row.Sample)
	if row.Sample.Scale != nil && row.Declared.Replicas > 0 {
		row.RaiseAbove, row.LowerAt = policy.Thresholds(chosen, row.Declared, *row.Sample.Scale)
	}
	if row.State == InSync && (row.Mismatch != nil || row.Capped) {
		row.State = Bounds
	}
	if row.State == Bounds && row.Capped {
		row.Text = fmt.Sprintf("%d live, but the maximum in git is %d", row.Count, row.Declared.Max)
	}
	if row.State == Pending && !row.To.IsZero() {
		row.Text = crossing(row, chosen)
		if chosen.HoldDown > 0 && row.To.Replicas < row.Declared.Replicas {
			row.State = Waiting
		}
	}
	return row
}

// crossing returns a sentence with the threshold that the replicas passed, and the
// resulting level.
func crossing(row Row, chosen policy.Policy) string {
	s := *row.Sample.Scale
	from := row.Declared.Replicas
	to := row.To.Replicas
	seen := fmt.Sprintf("%d", s.Desired)
	if s.Ready < s.Desired {
		seen = fmt.Sprintf("%d (%d ready)", s.Desired, s.Ready)
	}
	held := "at once"
	if row.Samples > 1 {
		held = fmt.Sprintf("after %d samples in a row", row.Samples)
	}
	var text string
	switch {
	case from == 0:
		text = fmt.Sprintf("git has no level: the replica count %s rounds to level %d", seen, to)
	case to > from && row.RaiseAbove < math.MaxInt32:
		text = fmt.Sprintf("%s is above %d, so the level changes to %d %s", seen, row.RaiseAbove, to, held)
	case to > from:
		text = fmt.Sprintf("%s: level %d %s", seen, to, held)
	case to < from && chosen.HoldDown > 0:
		text = fmt.Sprintf("%s is at or below %d, so the level changes to %d after %s", seen, row.LowerAt, to, policy.Span(chosen.HoldDown))
	case to < from:
		text = fmt.Sprintf("%s is at or below %d, so the level changes to %d %s", seen, row.LowerAt, to, held)
	default:
		text = "the minimum and maximum in git change to " + policy.Bounds{Min: row.To.Min, Max: row.To.Max}.String()
	}
	switch row.Reason {
	case policy.ReasonReport:
		text += "; its policy only reports"
	case policy.ReasonSurge:
		text += "; a surge, which a user should review"
	}
	return text
}

// lastingRollout sets the state Waiting for a change of a rollout entry that waits. One
// sample does not show how long the rollout has been in flight, or what earlier samples
// were.
func lastingRollout(row Row) Row {
	if row.Rides || row.Verdict == policy.Pending && row.Reason == policy.ReasonNone {
		row.State = Waiting
	}
	return row
}

// absent adds to the row of an absent workload what happens to its entry.
func (r Report) absent(row Row) Row {
	if row.Declared.Replicas == 0 && row.Declared.Rollout != (checkpoint.Rollout{}) {
		row.Reading = policy.ReadingRollout
	}
	switch {
	case row.State != Absent:
	case row.Declared.IsZero():
		row.Text = "proposed, but not in the cluster"
	default:
		row.Text = fmt.Sprintf("the workload is not in the cluster. After %s, gitlatch removes the workload's entry from git", policy.Span(r.Set.Guards.RetireAfter))
	}
	return row
}
