package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// DecideRollout decides about one sample of a workload whose rollouts the policy latches. It
// returns the latch with advanced stopwatches, and the decision. It does not change the
// declared entry. A second sample at the same instant advances nothing. This is the
// rule, as users read it:
//
// A rollout entry names the workload's old template and its new template (the target of the
// rollout). It also contains the rollout's progress, and selects one of the two templates for
// a rebuild.
//
//   - gitlatch writes the rollout entry when the rollout has been in progress for 15 minutes
//     (`after`), or when the rollout fails, whichever comes first. The 15 minutes include any
//     time in which the rollout is halted. They do not start again if the target changes.
//   - As soon as two healthy samples in a row show progress of at least 50 % (`cut`), the
//     rollout entry selects the new template. Until then, the rollout entry selects the old
//     template.
//   - If the rollout fails, the rollout entry selects the old template. It selects the new
//     template only if all samples of the last 10 minutes (`progressDeadline`) were healthy and
//     the last two samples showed progress of at least 50 %.
//   - When the rollout ends, gitlatch removes the rollout entry. During a rollback to the old
//     template, the rollout entry stays in git and selects the old template. If a third
//     template becomes the target, gitlatch replaces the rollout entry with a new one.
//   - If a rollout replaces several templates at once, a new rollout entry names the template
//     with the most available pods as the old template. However, if the previous rollout
//     entry selects an old template that still has available pods, the new rollout entry
//     keeps this template.
//   - When a workload without a rollout entry returns to an earlier template, gitlatch writes
//     a rollout entry only if this rollback fails.
//
// A rollout is stalled if some of its new pods are not available and no further new pod has
// become available for 10 minutes (`progressDeadline`). A rollout counts as failed in any of
// these cases:
//
//   - The controller of the workload reports a failure.
//   - The rollout is stalled but not halted, and its controller does not detect stalled
//     rollouts.
//   - The rollout is stalled, and the number of available new pods has fallen below half of
//     the peak.
//
// A sample is healthy if it shows no failure and the number of available new pods is at least
// 95 % of the peak.
//
// gitlatch commits changes at these times (until then, the previous entry stays in git):
//
//	| change | commit |
//	|---|---|
//	| A rollout entry now selects the old pod template. | at once |
//	| gitlatch removes a rollout entry that selects the old pod template. | at once |
//	| gitlatch writes a new rollout entry that selects the old pod template. | when the commit budget allows it |
//	| A rollout entry now selects the new pod template. | when the commit budget allows it |
//	| gitlatch removes a rollout entry that selects the new pod template. | when the commit budget allows it |
//	| gitlatch writes a new rollout entry that selects the new pod template. | with the next commit of the site |
//	| The progress of a rollout reaches 25, 50 or 75 %. | with the next commit of the site |
//	| The rollout fails, but its entry already selects the old pod template. | with the next commit of the site |
func DecideRollout(p Policy, l latch.Latch, s workload.Sample, look Look) (latch.Latch, Decision) {
	d := Decision{ID: s.ID, Reading: ReadingRollout, Policy: p.Name, From: l.Base(), Verdict: Quiet}
	if stop := stopsRollout(l, s, look); stop.Reason != ReasonNone {
		return l.WithRollout(l.Rollout().Pause(look.Last)), d.stopped(stop)
	}
	l = l.Yielded(look.Now)
	f := flight{policy: p, declared: l.Base(), recorded: l.Base().Rollout, rollout: *s.Rollout}
	if p.Rollout == ModeIgnore || !s.Rollout.InFlight {
		l.Flight = nil
		return l, f.end(d, look)
	}
	l = l.WithRollout(f.observe(l.Rollout(), look))
	d.Count = f.target().Available
	return l, f.judge(d, look)
}

// stopsRollout returns the reason for no decision about a rollout; the zero Stop if
// gitlatch can decide.
func stopsRollout(l latch.Latch, s workload.Sample, look Look) Stop {
	unread := func(text string) Stop { return Stop{Reason: ReasonUnread, Text: text} }
	r := s.Rollout
	switch {
	case look.Stop.All, look.Stop.Reason == ReasonOther:
		return look.Stop
	case s.Terminating:
		return Stop{Reason: ReasonTerminating, Text: "it is being deleted"}
	case r == nil:
		return unread("its rollout is unknown: " + cmp.Or(s.Unknown, "it could not be read"))
	case s.Scale != nil && s.Scale.Desired <= 0, r.InFlight && r.Desired <= 0:
		return Stop{Reason: ReasonSuspended, Text: "it is scaled to zero, so its rollout makes no progress"}
	case look.Now.Before(l.PausedUntil) || look.Now.Before(l.GraceUntil) && !l.GraceScale:
		return leftAlone(l, look.Now)
	case !r.InFlight:
		return Stop{}
	case len(r.Templates) == 0 || r.Templates[0].Hash == "":
		return unread("the target template of its rollout is unknown")
	case len(r.Templates) == 1 || slices.ContainsFunc(r.Templates, func(t workload.Template) bool { return t.Hash == "" }):
		return unread("the template that its rollout replaces is unknown")
	}
	return Stop{}
}

// A flight is the rollout of one sample, with the rollout entry.
type flight struct {
	policy   Policy
	declared checkpoint.Entry
	recorded checkpoint.Rollout // the rollout entry; zero without an entry
	rollout  workload.Rollout
	timer    latch.Rollout
	failure  string // the failure that this sample shows; "" without a failure
}

func (f *flight) target() workload.Template { return f.rollout.Templates[0] }

// observe advances the state of the rollout by one sample. A new target starts again, except
// for the time in flight.
func (f *flight) observe(t latch.Rollout, look Look) latch.Rollout {
	target := f.target()
	repeated := look.repeated() && t.Target == target.Hash
	if t.Target != target.Hash {
		t = latch.Rollout{Target: target.Hash, Flight: t.Flight}
	}
	if !repeated {
		most := min(t.Peak, target.Desired)
		if target.Available > most { // a pod came
			t.Stalled = latch.Stopwatch{}
		}
		t.Flight = while(t.Flight, true, look)
		t.Stalled = while(t.Stalled, target.Available < target.Desired, look)
		t.Peak = max(most, target.Available)
	}
	f.failure = f.fails(t, look.Now)
	if healthy := f.healthy(t); !healthy {
		t.Healthy = latch.Stopwatch{}
		t.WasAtCut = false
		t.Percent = 0
	} else if !repeated {
		t.Healthy = while(t.Healthy, true, look)
		t.WasAtCut, t.Percent = t.Percent >= f.policy.Cut && look.gap() == 0, min(99, f.rollout.Percent())
	}
	t.Failed = f.failure != "" || t.Failed && t.Healthy.Elapsed(look.Now) < f.policy.ProgressDeadline
	f.timer = t
	return t
}

// while advances a stopwatch that runs while a condition is true, from the first sample with
// the condition. A gap is not observed time, and neither is a time in the future.
func while(t latch.Stopwatch, is bool, look Look) latch.Stopwatch {
	switch {
	case !is:
		return latch.Stopwatch{}
	case !t.Running(), t.Elapsed(look.Now) < 0:
		return latch.Stopwatch{Since: look.Now}
	}
	return t.Resume(look.Last).Lose(look.gap())
}

// fails returns the reason if the rollout has failed; "" otherwise.
func (f *flight) fails(t latch.Rollout, now time.Time) string {
	target, unjudged := f.target(), f.rollout.Unjudged && f.rollout.Halted == ""
	stalled := t.Stalled.Running() && t.Stalled.Elapsed(now) >= f.policy.ProgressDeadline
	switch halfLost := 2*target.Available < t.Peak; {
	case f.rollout.Failure != "":
		return f.rollout.Failure
	case stalled && halfLost:
		return fmt.Sprintf("%s; it had %d, and no new pod became available for %s", f.progress(), t.Peak, Span(f.policy.ProgressDeadline))
	case stalled && unjudged:
		return fmt.Sprintf("%s, and no new pod became available for %s", f.progress(), Span(f.policy.ProgressDeadline))
	}
	return ""
}

// wellPercent is the minimum share of available pods in a healthy sample, of the target's
// peak or of its desired pods if they are fewer.
const wellPercent = 95

func (f *flight) healthy(t latch.Rollout) bool {
	target := f.target()
	return f.failure == "" && 100*int64(target.Available) >= wellPercent*int64(min(t.Peak, target.Desired))
}

// end decides for a workload without a rollout in flight, or whose policy ignores
// rollouts.
func (f *flight) end(d Decision, look Look) Decision {
	switch {
	case f.recorded == checkpoint.Rollout{}:
		return d.as(Quiet, ReasonNone, "no rollout is in flight")
	case look.Stop.Reason != ReasonNone:
		return d.stopped(look.Stop)
	case f.rollout.InFlight:
		return f.cross(d, checkpoint.Rollout{}, "its policy no longer latches rollouts")
	}
	return f.cross(d, checkpoint.Rollout{}, "the rollout is over")
}

// judge returns the decision for the state of the rollout.
func (f *flight) judge(d Decision, look Look) Decision {
	hash, unrecorded := f.target().Hash, f.recorded == checkpoint.Rollout{}
	lasted := f.timer.Flight.Elapsed(look.Now)
	switch {
	case unrecorded && !f.timer.Failed && f.earlier():
		return d.as(Quiet, ReasonWayBack, fmt.Sprintf("its rollout goes back to the earlier template %s. gitlatch adds a rollout entry only if the rollout fails", hash))
	case unrecorded && !f.timer.Failed && lasted < f.policy.RolloutAfter:
		return d.as(Pending, ReasonNone, fmt.Sprintf(
			"a rollout to %s has been in progress for %s. gitlatch adds a rollout entry after %s, or when the rollout fails", hash, Elapsed(lasted), Span(f.policy.RolloutAfter)))
	}
	if to := f.record(); to != f.recorded {
		return f.cross(d, to, f.why(to))
	}
	d.Text = fmt.Sprintf("its rollout is at %d %%, %s: %s", f.recorded.Milestone, f.recorded.Phase, f.progress())
	switch {
	case f.timer.Failed && f.failure == "" && hash == f.recorded.To.Hash:
		d.Text += fmt.Sprintf("; healthy for %s of %s since it failed", Span(f.timer.Healthy.Elapsed(look.Now)), Span(f.policy.ProgressDeadline))
	case f.recorded.Returns == checkpoint.SideFrom && hash == f.recorded.To.Hash && f.timer.Percent >= f.policy.Cut:
		d.Verdict = Pending
		d.Text += ", the first sample at the cut"
	}
	return d
}

// earlier reports whether the target is older than the template that it replaces. It is false
// if the revisions are unknown.
func (f *flight) earlier() bool {
	target, before := f.target(), f.rollout.Templates[1]
	return !target.Since.IsZero() && target.Since.Before(before.Since)
}

// record returns the rollout entry that git should have.
func (f *flight) record() checkpoint.Rollout {
	to, hash := f.recorded, f.target().Hash
	begins := hash != to.From.Hash && hash != to.To.Hash
	if begins {
		before := f.before()
		to = checkpoint.Rollout{Returns: checkpoint.SideFrom, From: identity(before), To: identity(f.target()), ImagesOnly: before.ImagesOnly}
	}
	twiceAtCut := f.timer.WasAtCut && f.timer.Percent >= f.policy.Cut
	switch {
	case hash == to.From.Hash:
		to.Milestone = 0
		to.Phase = checkpoint.PhaseReturning
		to.Returns = checkpoint.SideFrom
	case f.timer.Failed:
		to.Milestone = 0
		to.Phase = checkpoint.PhaseFailed
		to.Returns = checkpoint.SideFrom
	case begins, to.Phase == checkpoint.PhaseFailed, to.Phase == checkpoint.PhaseReturning,
		twiceAtCut && to.Returns == checkpoint.SideFrom, f.passes(to.Milestone):
		to.Milestone, to.Phase = f.timer.Percent, checkpoint.PhaseProgressing
		if f.rollout.Halted != "" {
			to.Phase = checkpoint.PhaseHalted
		}
		if twiceAtCut {
			to.Returns = checkpoint.SideTo
		}
	}
	return to
}

// passes reports whether the rollout has reached a milestone above the one in the entry.
func (f *flight) passes(recorded int32) bool {
	return slices.ContainsFunc(Milestones(), func(at int32) bool { return recorded < at && at <= f.timer.Percent })
}

// before returns the old template for a new entry.
func (f *flight) before() workload.Template {
	others := f.rollout.Templates[1:]
	stays := func(t workload.Template) bool { return t.Hash == f.recorded.From.Hash && t.Available > 0 }
	if i := slices.IndexFunc(others, stays); i >= 0 && f.recorded.Returns == checkpoint.SideFrom {
		return others[i]
	}
	return slices.MaxFunc(others, func(a, b workload.Template) int { return cmp.Compare(a.Available, b.Available) })
}

// why returns the reason for a change of the entry.
func (f *flight) why(to checkpoint.Rollout) string {
	failed := "the rollout failed a short time ago"
	if f.failure != "" {
		failed = "the rollout failed: " + f.failure
	}
	switch begins := to.From.Hash != f.recorded.From.Hash || to.To.Hash != f.recorded.To.Hash; {
	case begins && f.timer.Failed:
		return fmt.Sprintf("a rollout from %s to %s: %s; %s", to.From.Hash, to.To.Hash, f.progress(), failed)
	case begins:
		return fmt.Sprintf("a rollout from %s to %s: %s", to.From.Hash, to.To.Hash, f.progress())
	case to.Phase == checkpoint.PhaseReturning:
		return "it returns to " + to.From.Hash
	case f.timer.Failed:
		return failed
	case to.Returns != f.recorded.Returns:
		return f.progress() + ", so a rebuild starts with this template"
	}
	return f.progress()
}

// progress returns the progress of the rollout in words.
func (f *flight) progress() string {
	text := fmt.Sprintf("%d of %d pods of template %s are available", f.target().Available, f.rollout.Desired, f.target().Hash)
	if f.rollout.Traffic != nil {
		text += fmt.Sprintf(", with %d %% of the traffic", *f.rollout.Traffic)
	}
	if f.rollout.Halted != "" {
		text += ", halted by " + f.rollout.Halted
	}
	return text
}

// cross returns the decision for another rollout entry.
func (f *flight) cross(d Decision, to checkpoint.Rollout, text string) Decision {
	if err := checkpoint.FitsRollout(d.ID, to); err != nil {
		return d.as(Skip, ReasonUnfit, "its rollout gets no entry: "+err.Error())
	}
	d.To = f.declared.WithRollout(to)
	d.Urgent, d.Rides = urgency(f.recorded, to)
	if f.policy.Rollout == ModeReport {
		return d.as(Pending, ReasonReport, text)
	}
	return d.as(Cross, ReasonNone, text)
}

// urgency reports whether a change is committed at once, or waits for another commit (rides).
// If both are false, it waits for the budget.
func urgency(was, is checkpoint.Rollout) (atOnce, rides bool) {
	saysOld := func(r checkpoint.Rollout) bool { return r.Returns == checkpoint.SideFrom }
	switch {
	case is == checkpoint.Rollout{}: // a removal
		return saysOld(was), false
	case is.From.Hash != was.From.Hash, is.To.Hash != was.To.Hash: // a new entry
		return false, !saysOld(is)
	case saysOld(is) != saysOld(was): // a switch
		return saysOld(is), false
	}
	return false, true
}

func identity(t workload.Template) checkpoint.Template {
	return checkpoint.Template{Hash: t.Hash, Images: checkpoint.ImagesOf(t.Images)}
}
