package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Decision is what a policy makes of one look at one workload. Its timers are
// in the latch that comes with it.
type Decision struct {
	ID workload.ID
	// Reading says whether the decision is about the workload's scale or its rollout.
	// The two decisions are independent of one another.
	Reading Reading
	Policy  string // name of the policy that decided; "" for Skip
	Verdict Verdict
	// Reason is what stops or withholds a change; ReasonNone if nothing does.
	Reason Reason
	// Text is the verdict in a sentence, with the numbers that led to it.
	Text string

	// Count is the scale that was seen, in pods; 0 if it is unknown. For a rollout,
	// Count is the available pods of the target.
	Count int32
	// Samples is the number of samples like this one after which the scale was decided:
	// 1, or more if Site.Lasting asks what a sample leads to if it lasts.
	Samples int
	// From is the declared entry. To is the entry that a crossing declares, or would
	// declare if it were not withheld; zero is no entry. To differs from From in the
	// Reading only. A Cross of the scale to no entry is a retirement, which also
	// removes the rollout.
	From, To checkpoint.Entry

	// Urgent is true for a crossing that does not wait for the budget. Surge is true
	// for a raise beyond the policy's surge ratio.
	Urgent, Surge bool
	// Rides is true for a crossing that causes no commit, and goes with the site's
	// next commit.
	Rides bool
	// Capped is true if the accepted upper bound is below the need, while the live
	// upper bound is not.
	Capped bool
	// AcceptRisk is true if the policy writes a level without evidence.
	AcceptRisk bool
	// Mismatch is the live bounds if they differ from the declared bounds. Nil means
	// that they are the same, or that the policy ignores bounds.
	Mismatch *Bounds
}

// Bounds are an autoscaler's bounds in pods; 0 is no bound.
type Bounds struct {
	Min int32 `json:"min"`
	Max int32 `json:"max"`
}

// String is the bounds in words: "2 to 300", "2 and up", "up to
// 300", "none".
func (b Bounds) String() string {
	switch {
	case b == Bounds{}:
		return "none"
	case b.contradict():
		return fmt.Sprintf("%d to %d (the minimum is above the maximum)", b.Min, b.Max)
	case b.Max == 0:
		return fmt.Sprintf("%d and up", b.Min)
	case b.Min == 0:
		return fmt.Sprintf("up to %d", b.Max)
	}
	return fmt.Sprintf("%d to %d", b.Min, b.Max)
}

// contradict reports whether the minimum is above the maximum, as in a ScaledObject
// that KEDA refuses.
func (b Bounds) contradict() bool { return b.Max > 0 && b.Min > b.Max }

// Crosses reports whether the decision is to change what git declares.
func (d Decision) Crosses() bool { return d.Verdict == Cross }

// Retires reports whether the decision is to remove the workload's entry
// because the workload is gone.
func (d Decision) Retires() bool { return d.Crosses() && d.Reading == ReadingScale && d.To.IsZero() }

// Lowers reports whether a crossing of the scale declares less than before.
func (d Decision) Lowers() bool {
	return d.Reading == ReadingScale && d.To.Replicas < d.From.Replicas
}

// ApplyTo returns the entry with what the decision wants. Only the decision's Reading
// changes; the zero entry is no entry.
func (d Decision) ApplyTo(entry checkpoint.Entry) checkpoint.Entry {
	switch {
	case d.Reading == ReadingRollout:
		return entry.WithRollout(d.To.Rollout)
	case d.To.IsZero():
		return d.To
	}
	return entry.WithScale(d.To)
}

// Changes merges decisions into one change of the checkpoint for each workload, in
// the order of workload.Compare.
func Changes(decisions []Decision) []checkpoint.Change {
	by := map[workload.ID]*checkpoint.Change{}
	for _, d := range decisions {
		c := by[d.ID]
		if c == nil {
			c = &checkpoint.Change{ID: d.ID, From: d.From, To: d.From}
			by[d.ID] = c
		}
		c.To = d.ApplyTo(c.To)
	}
	changes := make([]checkpoint.Change, 0, len(by))
	for _, id := range slices.SortedFunc(maps.Keys(by), workload.Compare) {
		changes = append(changes, *by[id])
	}
	return changes
}

// A Reading is one of the two things that a sample measures of a workload.
type Reading string

// The readings.
const (
	ReadingScale   Reading = ""
	ReadingRollout Reading = "rollout"
)

// Of returns the reading's number in an entry: a level in pods, or a milestone in percent.
// nil is none.
func (r Reading) Of(e checkpoint.Entry) *int32 {
	switch {
	case r == ReadingScale && e.Replicas > 0:
		return &e.Replicas
	case r == ReadingRollout && e.Rollout != checkpoint.Rollout{}:
		return &e.Rollout.Milestone
	}
	return nil
}

// A Verdict is the kind of a decision.
type Verdict string

// The verdicts.
const (
	Quiet   Verdict = "quiet"   // within its thresholds
	Pending Verdict = "pending" // beyond a threshold, not yet for its hold; or waiting for the reason given
	Cross   Verdict = "cross"   // a threshold was passed for its hold
	Frozen  Verdict = "freeze"  // timers stand still, for the reason given
	Review  Verdict = "review"  // a person should make this change
	Skip    Verdict = "skip"    // the policy does not latch it, for the reason given
)

// A Reason is a stable name for why something does not happen. Logs, reports
// and stored state carry it.
type Reason string

// The reasons, in four groups. The first group pauses all timers of a latch. The
// second stops lowering only. The third withholds a crossing. With the fourth a
// workload is not latched at all, and with the last a rollout is not.
const (
	ReasonNone Reason = ""

	ReasonUnread      Reason = "unread"         // its scale is not known, or whether it is absent
	ReasonTerminating Reason = "terminating"    // it is being deleted
	ReasonSuspended   Reason = "suspended"      // scaled to zero
	ReasonYield       Reason = "yield"          // a user edited its entry, or declined a proposal
	ReasonHold        Reason = "hold"           // a user paused the site or the workload
	ReasonSecond      Reason = "second-cluster" // two live clusters share the site
	ReasonBroken      Reason = "broken-record"  // git's record cannot be read

	ReasonBlind    Reason = "blind"         // its autoscaler cannot judge
	ReasonUnready  Reason = "unready"       // too many of its pods are not ready
	ReasonRollout  Reason = "rollout"       // it has pods of more than one template
	ReasonMassDrop Reason = "mass-drop"     // much of the fleet halved at once
	ReasonOther    Reason = "other-cluster" // the cluster was not adopted
	ReasonPartial  Reason = "partial"       // part of the cluster could not be read

	ReasonObserve Reason = "observe" // the site is in mode observe
	ReasonReport  Reason = "report"  // the policy reports only
	ReasonBudget  Reason = "budget"  // the day's commits are spent
	ReasonRides   Reason = "rides"   // the change goes with the site's next commit
	ReasonSurge   Reason = "surge"   // out of the ordinary, and the policy asks for review
	ReasonMany    Reason = "many"    // too many are absent for any to retire
	ReasonFlush   Reason = "flush"   // the drill raises only
	// ReasonNoEvidence means that nothing proves the checkpoint inert: it may act on
	// the live cluster.
	ReasonNoEvidence Reason = "no-evidence"

	ReasonAbsent   Reason = "absent"     // it is not in the cluster
	ReasonUndriven Reason = "undriven"   // no autoscaler drives it
	ReasonIgnored  Reason = "ignored"    // the policy ignores scale
	ReasonOptedOut Reason = "opted-out"  // an annotation or a deleted entry says so
	ReasonSystem   Reason = "system"     // in kube-system, which no rule names
	ReasonNoScale  Reason = "no-scale"   // its kind has no scale
	ReasonName     Reason = "unfit-name" // its name is too long for the record

	ReasonUnfit   Reason = "unfit-rollout" // the record cannot hold its templates
	ReasonWayBack Reason = "way-back"      // a rollout to an earlier template, which is recorded only if it fails
)

// A Stop is a reason not to lower anything in the fleet or, with All, not to change
// anything. The zero value stops nothing.
type Stop struct {
	All    bool   `json:"all"`
	Reason Reason `json:"reason"`
	Text   string `json:"text"`
}

// String says what is stopped, and why.
func (s Stop) String() string {
	what := "lowered"
	if s.All {
		what = "changed"
	}
	return fmt.Sprintf("nothing is %s (%s): %s", what, s.Reason, s.Text)
}

// A Look is the instant of a sample, with what the tick knows of time and
// fleet.
type Look struct {
	Now time.Time
	// Last is the instant of the look before; zero if there was none.
	Last time.Time
	// Period is the time from one look to the next, as planned.
	Period time.Duration
	Stop   Stop
	Flush  Flush
}

// repeated reports whether Now is not after Last: the same look again, or a clock
// that went back.
func (k Look) repeated() bool { return !k.Last.IsZero() && !k.Now.After(k.Last) }

// gap is the time since the last look if it is more than three periods, so that
// nobody observed it. 0 is no gap.
func (k Look) gap() time.Duration {
	if k.Last.IsZero() {
		return 0
	}
	if d := k.Now.Sub(k.Last); d > 3*k.Period {
		return d
	}
	return 0
}

// Span is a duration as a person writes it, in minutes and hours: "26h", "1h30m",
// "0m".
func Span(d time.Duration) string {
	text := strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	if text == "" {
		return "0m"
	}
	if strings.HasSuffix(text, "h0m") {
		return strings.TrimSuffix(text, "0m")
	}
	return text
}
