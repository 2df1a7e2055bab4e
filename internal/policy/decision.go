package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Decision is the result of a policy for one sample of one workload. The timers are in the
// latch.
type Decision struct {
	ID workload.ID
	// Reading is the subject of the decision: the workload's scale or its rollout. The two
	// decisions are independent of each other.
	Reading Reading
	Policy  string // name of the policy; "" for Skip
	Verdict Verdict
	// Reason is the reason that stops or blocks a change; ReasonNone without one.
	Reason Reason
	// Text is the decision in a sentence, with its numbers.
	Text string

	// Count is the desired replicas, in pods; 0 if unknown. For a rollout, Count is the
	// available pods of the target.
	Count int32
	// Samples is the number of samples that led to the decision: 1, or more if Site.Lasting
	// repeats the sample.
	Samples int
	// From is the declared entry. To is the entry that a level change declares, also if the
	// change is blocked; zero removes the entry. To differs from From in the Reading only. A
	// Cross of the scale to the zero entry is a retirement, which also removes the rollout.
	From, To checkpoint.Entry

	// Urgent is true for a change that does not wait for the budget. Surge is true for a
	// raise above the policy's surge ratio.
	Urgent, Surge bool
	// Rides is true for a change that causes no commit, and waits for the site's next commit.
	Rides bool
	// Capped is true if the accepted maximum is below the desired replicas, and the live
	// maximum is not.
	Capped bool
	// Mismatch is the live bounds if they differ from the declared bounds. It is nil if they
	// are equal, or if the policy ignores bounds.
	Mismatch *Bounds
}

// Bounds are the minimum and maximum replicas of an autoscaler; 0 is unbounded.
type Bounds struct {
	Min int32 `json:"min"`
	Max int32 `json:"max"`
}

// String returns the bounds in words: "2 to 300 replicas", "2 or more
// replicas", "up to 300 replicas", "any number of replicas".
func (b Bounds) String() string {
	switch {
	case b == Bounds{}:
		return "any number of replicas"
	case b.contradict():
		return fmt.Sprintf("%d to %d replicas (the minimum is above the maximum)", b.Min, b.Max)
	case b.Max == 0:
		return fmt.Sprintf("%d or more replicas", b.Min)
	case b.Min == 0:
		return fmt.Sprintf("up to %d replicas", b.Max)
	}
	return fmt.Sprintf("%d to %d replicas", b.Min, b.Max)
}

// contradict reports whether the minimum is above the maximum, as in a ScaledObject
// that KEDA refuses.
func (b Bounds) contradict() bool { return b.Max > 0 && b.Min > b.Max }

// A Subject is the subject of a decision: one reading of one workload.
type Subject struct {
	ID      workload.ID
	Reading Reading
}

// Subject returns the subject of the decision.
func (d Decision) Subject() Subject { return Subject{d.ID, d.Reading} }

// as returns the decision with a verdict, its reason and its text.
func (d Decision) as(v Verdict, why Reason, text string) Decision {
	d.Verdict = v
	d.Reason = why
	d.Text = text
	return d
}

// stopped returns the decision with timers that a stop pauses.
func (d Decision) stopped(by Stop) Decision { return d.as(Frozen, by.Reason, by.Text) }

// Crosses reports whether the decision changes the entry in git.
func (d Decision) Crosses() bool { return d.Verdict == Cross }

// Retires reports whether the decision removes the entry of an absent workload.
func (d Decision) Retires() bool { return d.Crosses() && d.Reading == ReadingScale && d.To.IsZero() }

// Lowers reports whether a level change declares fewer pods than before.
func (d Decision) Lowers() bool {
	return d.Reading == ReadingScale && d.To.Replicas < d.From.Replicas
}

// ApplyTo returns the entry after the decision. Only the decision's Reading changes. The zero
// entry means that the entry is removed.
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
	return lists.Map(slices.SortedFunc(maps.Keys(by), workload.Compare), func(id workload.ID) checkpoint.Change { return *by[id] })
}

// A Reading is one of the two measurements of a workload in a sample.
type Reading string

// The readings.
const (
	ReadingScale   Reading = ""
	ReadingRollout Reading = "rollout"
)

// Of returns the reading's number in an entry: a level in pods, or a milestone in
// percent. It returns nil if the entry does not have the number.
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
	Pending Verdict = "pending" // beyond a threshold, but not for long enough; or blocked, see Reason
	Cross   Verdict = "cross"   // beyond a threshold for long enough: a level change
	Frozen  Verdict = "freeze"  // the timers are paused, see Reason
	Review  Verdict = "review"  // a user should review this change
	Skip    Verdict = "skip"    // the policy does not latch the workload, see Reason
)

// A Reason is a stable name for the cause of a decision without a change. Logs, reports and
// the stored state contain it.
type Reason string

// The reasons, in five groups. The first group pauses all timers of a latch. The second stops
// lowering only. The third blocks a level change. With the fourth, gitlatch does not latch
// the workload. With the fifth, it does not latch the rollout.
const (
	ReasonNone Reason = ""

	ReasonUnread      Reason = "unread"         // the workload or its kind could not be listed
	ReasonTerminating Reason = "terminating"    // it is being deleted
	ReasonSuspended   Reason = "suspended"      // scaled to zero
	ReasonYield       Reason = "yield"          // a user edited its entry, or declined a proposal
	ReasonHold        Reason = "hold"           // a user paused the site or the workload
	ReasonSecond      Reason = "second-cluster" // two live clusters share the site
	ReasonBroken      Reason = "broken-record"  // the checkpoint file in git is broken

	ReasonBlind    Reason = "blind"         // its autoscaler cannot judge
	ReasonUnready  Reason = "unready"       // too many of its pods are not ready
	ReasonRollout  Reason = "rollout"       // it has pods of more than one template
	ReasonBraked   Reason = "braked"        // a restore braked its autoscaler
	ReasonMassDrop Reason = "mass-drop"     // many workloads of the site halved at once
	ReasonOther    Reason = "other-cluster" // the cluster was not adopted
	ReasonPartial  Reason = "partial"       // a part of the cluster could not be listed

	ReasonObserve Reason = "observe" // the site is in mode observe
	ReasonReport  Reason = "report"  // the policy reports only
	ReasonBudget  Reason = "budget"  // the day's commits are spent
	ReasonRides   Reason = "rides"   // the change waits for the site's next commit
	ReasonSurge   Reason = "surge"   // a surge, and the policy asks for review
	ReasonMany    Reason = "many"    // too many are absent for any to retire
	ReasonFlush   Reason = "flush"   // the drill raises only

	ReasonAbsent   Reason = "absent"     // it is not in the cluster
	ReasonUndriven Reason = "undriven"   // it has no autoscaler
	ReasonIgnored  Reason = "ignored"    // the policy ignores scale
	ReasonOptedOut Reason = "opted-out"  // by an annotation or a deleted entry
	ReasonSystem   Reason = "system"     // in kube-system, which no rule names
	ReasonNoScale  Reason = "no-scale"   // its kind has no scale
	ReasonName     Reason = "unfit-name" // its name is too long for a checkpoint file

	ReasonUnfit   Reason = "unfit-rollout" // its templates do not fit into a checkpoint file
	ReasonWayBack Reason = "way-back"      // a rollout to an earlier template, which gets an entry only if it fails
)

// A Stop is a reason for not lowering any level in the site. With All, it is a reason for not
// changing any level. The zero value stops nothing.
type Stop struct {
	All    bool   `json:"all"`
	Reason Reason `json:"reason"`
	Text   string `json:"text"`
	Fix    string `json:"fix,omitempty"` // the remedy, for a Stop of the site
}

// String returns the effect of the stop and its reason, without the remedy.
func (s Stop) String() string {
	what := "lowered"
	if s.All {
		what = "changed"
	}
	return fmt.Sprintf("no level is %s (%s): %s", what, s.Reason, s.Text)
}

// A Look is the instant of a sample, with the time of the sample before it and the limits of
// the site.
type Look struct {
	Now time.Time
	// Last is the instant of the sample before; zero for the first sample.
	Last time.Time
	// Period is the scheduled time from one sample to the next.
	Period time.Duration
	Stop   Stop
	Flush  bool // a drill declares the present need, and lowers nothing
}

// repeated reports whether Now is not after Last: the same sample again, or a clock that went
// back.
func (k Look) repeated() bool { return !k.Last.IsZero() && !k.Now.After(k.Last) }

// gap returns the time since the previous sample if it is more than three periods: gitlatch
// did not observe the workload in this time. It returns 0 without a gap.
func (k Look) gap() time.Duration {
	if k.Last.IsZero() {
		return 0
	}
	if d := k.Now.Sub(k.Last); d > 3*k.Period {
		return d
	}
	return 0
}

// Span returns a duration in minutes and hours: "26h", "1h30m", "0m".
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

// Elapsed returns the time that something has lasted, as Span does. It returns "less than 1m"
// instead of "0m".
func Elapsed(d time.Duration) string {
	text := Span(d)
	if text == "0m" {
		return "less than 1m"
	}
	return text
}
