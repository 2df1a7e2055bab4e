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

// RolloutHold is the minimum number of consecutive samples for a raise while a rollout is in
// flight, because autoscalers overshoot then.
const RolloutHold = 3

// Decide decides about one sample of a workload that the policy latches. It returns the latch
// with advanced timers, which run against its base, and the decision. It does not change the
// declared entry. A second
// sample at the same instant advances no timer and leads to the same decision. Cross means
// that git should have Decision.To. The caller changes the latch when git has it.
func Decide(p Policy, l latch.Latch, s workload.Sample, look Look) (latch.Latch, Decision) {
	l.ID, l.Missing = s.ID, latch.Stopwatch{}
	d := Decision{ID: s.ID, Policy: p.Name, From: l.Base()}
	if s.Scale != nil {
		d.Count = s.Scale.Desired
	}
	if look.gap() > 0 {
		l.Up = latch.Up{}
	}
	if stop := stopsAll(l, s, look); stop.Reason != ReasonNone {
		return frozen(paused(p, l, s, look), stop.Reason, look), d.stopped(stop)
	}
	l = l.Yielded(look.Now)

	bounds := acceptedBounds(p, l.Base(), *s.Scale)
	r := newRounding(p, bounds, *s.Scale)
	d.Mismatch, d.Capped = CompareBounds(p, l.Base(), *s.Scale)

	stop := stopsLowering(s, look)
	l.Up = advanceUp(l, r, s, look)
	l = advanceDown(l, r, *s.Scale, look, stop)
	d = judge(judgement{Decision: d, rounding: r, latch: l, scale: *s.Scale, inFlight: inFlight(s), look: look, stop: stop, bounds: bounds})
	if look.Flush {
		d = raiseOnly(d)
	}
	return l, d
}

// Skipped returns the latch of a workload that this tick leaves out. A skipped sample ends a
// row of samples for a raise, and pauses the timer of a lowering; its desired replicas still
// count towards the peak. A sample ends an absence. The zero sample is an absent workload, and
// pauses the absence.
func Skipped(p Policy, l latch.Latch, s workload.Sample, look Look) latch.Latch {
	l.Up, l.Missing = latch.Up{}, l.Missing.Pause(look.Last)
	if s.ID == l.ID {
		l.Missing = latch.Stopwatch{}
	}
	return paused(p, l, s, look)
}

// A judgement is the input of a decision: the timers after the sample, and what stops a
// lowering.
type judgement struct {
	Decision // without a verdict
	rounding
	latch    latch.Latch
	scale    workload.Scale
	inFlight bool // a rollout is in flight or unknown
	look     Look
	stop     Stop
	bounds   checkpoint.Entry
}

// judge returns the first decision that applies.
func judge(j judgement) Decision {
	for _, decide := range []func(judgement) (Decision, bool){
		judgement.flush,
		judgement.raise,
		judgement.first,
		judgement.lower,
		judgement.rebound,
	} {
		d, applies := decide(j)
		if applies {
			return d
		}
	}
	return j.quiet()
}

// declared returns the level that the timers run against; 0 if git has none.
func (j judgement) declared() int32 { return j.latch.Base().Replicas }

// cross returns the decision for a level change.
func (j judgement) cross(level int32, text string) Decision {
	base := j.latch.Base()
	level = j.within(level)
	d := j.as(Cross, ReasonNone, text)
	d.To = base.WithScale(j.bounds)
	d.To.Replicas = level
	if j.policy.Bounds == ModeIgnore {
		d.To.Min, d.To.Max = base.Min, base.Max
	}
	if base.Replicas > 0 {
		// The replicas that the raise adds room for, divided by the level before.
		need := float64(min(raiseNeed(j.scale), level)) / float64(base.Replicas)
		d.Urgent = need > Urgent
		d.Surge = need > Surge
	}
	if d.Surge && j.policy.Review {
		d.Verdict = Review
		d.Reason = ReasonSurge
	}
	if j.policy.Scale == ModeReport {
		d.Verdict = Pending
		d.Reason = ReasonReport
	}
	return d
}

// flush decides for a drill, which raises to the present need without timers.
func (j judgement) flush() (Decision, bool) {
	level, text, due := flushed(j.rounding, j.declared(), j.scale)
	if !due || !j.look.Flush {
		return Decision{}, false
	}
	return j.cross(level, text), true
}

// raise decides if the latest samples need more than the level.
func (j judgement) raise() (Decision, bool) {
	hold := j.policy.HoldUp
	if j.inFlight {
		hold = max(hold, RolloutHold)
	}
	n := len(j.latch.Up.Levels)
	if n == 0 {
		return Decision{}, false
	}
	if n < hold {
		d := j.as(Pending, ReasonNone, fmt.Sprintf("%s%d rounds to %d: sample %d of %d", onlyReady(j.scale), raiseNeed(j.scale), j.latch.Up.Levels[n-1], n, hold))
		if j.stop.Reason == ReasonUnready || j.stop.Reason == ReasonRollout {
			d.Reason = j.stop.Reason
		}
		return d, true
	}
	level := slices.Min(j.latch.Up.Levels[n-hold:])
	if hold == 1 {
		return j.cross(level, fmt.Sprintf("%s1 sample of %s rounded to level %d or higher", onlyReady(j.scale), pods(raiseNeed(j.scale)), level)), true
	}
	return j.cross(level, fmt.Sprintf("%s%d samples in a row rounded to level %d or higher (last sample: %s)", onlyReady(j.scale), hold, level, pods(raiseNeed(j.scale)))), true
}

// first decides about a workload without a level, which cannot be lowered.
func (j judgement) first() (Decision, bool) {
	return j.as(Pending, j.stop.Reason, "git has no level yet: "+j.stop.Text), j.declared() == 0
}

// lower decides if the desired replicas are below the threshold, or their timer runs.
func (j judgement) lower() (Decision, bool) {
	down := j.latch.Down
	below := j.lowered(j.scale.Desired) < j.declared()
	elapsed := down.Elapsed(j.look.Now)
	switch {
	case j.stop.Reason != ReasonNone && below:
		return j.stopped(j.stop), true
	case down.Running() && down.Count >= j.policy.HoldUp && elapsed >= j.policy.HoldDown:
		d := j.cross(down.Level, fmt.Sprintf("for %s, since %s, no sample rounded to more than level %d (last sample: %s)",
			Span(elapsed), down.Since.UTC().Format(time.RFC3339), down.Level, pods(j.scale.Desired)))
		d.Rides = elapsed < 2*j.policy.HoldDown
		return d, true
	case down.Running():
		return j.as(Pending, ReasonNone, fmt.Sprintf("the desired replicas have been below the threshold for %s. If this lasts for %s, the level falls to the rounded peak, currently %d",
			Elapsed(elapsed), Span(j.policy.HoldDown), down.Level)), true
	case below: // a repeated sample starts no timer
		return j.as(Pending, ReasonNone, fmt.Sprintf("%d is under the threshold of %d, but this sample is not later than the last one: the next one starts the timer",
			j.scale.Desired, j.declared())), true
	}
	return Decision{}, false
}

// rebound decides if the policy latches new bounds.
func (j judgement) rebound() (Decision, bool) {
	if j.policy.Bounds != ModeLatch || j.Mismatch == nil || j.Mismatch.contradict() {
		return Decision{}, false
	}
	return j.cross(j.declared(), fmt.Sprintf("the cluster now allows %s", j.Mismatch)), true
}

// quiet is the decision about a workload at its level.
func (j judgement) quiet() Decision {
	return j.as(Quiet, ReasonNone, fmt.Sprintf("%sthe replica count of %d is within the thresholds of level %d", onlyReady(j.scale), raiseNeed(j.scale), j.declared()))
}

// advanceUp advances the timer of a raise by one sample.
func advanceUp(l latch.Latch, r rounding, s workload.Sample, look Look) latch.Up {
	need := raiseNeed(*s.Scale)
	if need <= 0 || !r.exceeds(need, l.Base().Replicas) {
		return latch.Up{}
	}
	if look.repeated() {
		return l.Up
	}
	levels := append(slices.Clone(l.Up.Levels), r.raised(need))
	return latch.Up{Levels: levels[max(0, len(levels)-max(r.policy.HoldUp, RolloutHold)):]}
}

// advanceDown advances the timer of a lowering by one sample, or pauses the timer for
// the reason in stop.
func advanceDown(l latch.Latch, r rounding, s workload.Scale, look Look, stop Stop) latch.Latch {
	down, under := r.see(l.Down, l.Base().Replicas, s.Desired)
	l.Down = down
	if stop.Reason != ReasonNone && under {
		l = frozen(l, stop.Reason, look)
		l.Down.Stopwatch = l.Down.Pause(look.Last)
		return l
	}
	l.Freeze = latch.Freeze{}
	switch {
	case !under, look.repeated():
	case l.Down.Elapsed(look.Now) < 0: // the clock was ahead
		l.Down.Stopwatch = latch.Stopwatch{Since: look.Now}
	case !l.Down.Running():
		l.Down = latch.Down{Level: r.raised(s.Desired), Count: 1, Stopwatch: latch.Stopwatch{Since: look.Now}}
	default:
		l.Down.Stopwatch = l.Down.Resume(look.Last).Lose(look.gap())
		l.Down.Count = min(l.Down.Count+1, r.policy.HoldUp)
	}
	return l
}

// paused pauses the timer of a lowering. The desired replicas still count towards the peak.
func paused(p Policy, l latch.Latch, s workload.Sample, look Look) latch.Latch {
	if s.Scale != nil {
		r := newRounding(p, acceptedBounds(p, l.Base(), *s.Scale), *s.Scale)
		l.Down, _ = r.see(l.Down, l.Base().Replicas, s.Scale.Desired)
	}
	l.Down.Stopwatch = l.Down.Pause(look.Last)
	return l
}

// see enters a replica count into the timer of a lowering, paused or not. The count raises
// the peak of a running timer. A count at or above the threshold ends the timer.
func (r rounding) see(down latch.Down, declared, count int32) (_ latch.Down, under bool) {
	if r.lowered(count) >= declared {
		return latch.Down{}, false
	}
	if down.Running() {
		down.Level = max(down.Level, r.raised(count))
	}
	return down, true
}

func frozen(l latch.Latch, why Reason, look Look) latch.Latch {
	if l.Freeze.Reason != string(why) {
		l.Freeze = latch.Freeze{Reason: string(why), Since: look.Now}
	}
	return l
}

// raiseNeed returns the replicas that a raise uses: the desired replicas, or the ready
// replicas if too many are not ready.
func raiseNeed(s workload.Scale) int32 {
	if Unready(s) {
		return s.Ready
	}
	return s.Desired
}

// pods returns a number of pods in words.
func pods(n int32) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

// onlyReady returns the start of a reason that names the ready pods, or "" if the desired
// replicas count.
func onlyReady(s workload.Scale) string {
	if !Unready(s) {
		return ""
	}
	return fmt.Sprintf("%d of %d pods are ready, and a raise counts only ready pods: ", s.Ready, s.Desired)
}

// Unready reports whether too many desired pods are not ready: more than 1, and more
// than 10 %.
func Unready(s workload.Scale) bool { return s.Desired-s.Ready > max(1, s.Desired/10) }

// inFlight reports whether a rollout is in flight or unknown.
func inFlight(s workload.Sample) bool { return s.Rollout == nil || s.Rollout.Mixed() }

// stopsAll returns the reason for pausing all timers of a latch; the zero Stop if they run.
func stopsAll(l latch.Latch, s workload.Sample, look Look) Stop {
	switch {
	case look.Stop.All:
		return look.Stop
	case s.Terminating:
		return Stop{Reason: ReasonTerminating, Text: "it is being deleted"}
	case s.Scale == nil:
		return Stop{Reason: ReasonUnread, Text: "its scale is unknown: " + cmp.Or(s.Unknown, "it could not be read")}
	case s.Scale.Desired <= 0:
		return Stop{Reason: ReasonSuspended, Text: "it is scaled to zero, and a level is never 0"}
	}
	return leftAlone(l, look.Now)
}

// leftAlone returns the Stop of a pause or an edit grace period; the zero Stop if there
// is neither.
func leftAlone(l latch.Latch, now time.Time) Stop {
	switch {
	case now.Before(l.PausedUntil):
		return Stop{Reason: ReasonHold, Text: "a user paused the workload until " + l.PausedUntil.UTC().Format(time.RFC3339)}
	case now.Before(l.GraceUntil):
		return Stop{Reason: ReasonYield, Text: "a user edited its entry or declined a proposal; edit grace period until " + l.GraceUntil.UTC().Format(time.RFC3339)}
	}
	return Stop{}
}

// stopsLowering returns the reason for not lowering a latch; the zero Stop without a reason.
func stopsLowering(s workload.Sample, look Look) Stop {
	switch {
	case look.Stop.Reason != ReasonNone:
		return look.Stop
	case s.Scale.Blind != "":
		return Stop{Reason: ReasonBlind, Text: "the autoscaler cannot compute a replica count (" + s.Scale.Blind + ")"}
	case Unready(*s.Scale):
		return Stop{Reason: ReasonUnready, Text: fmt.Sprintf("only %d of %d pods are ready", s.Scale.Ready, s.Scale.Desired)}
	case s.Rollout == nil:
		return Stop{Reason: ReasonRollout, Text: "its rollout is unknown: " + cmp.Or(s.Unknown, "it could not be read")}
	case s.Rollout.Mixed():
		return Stop{Reason: ReasonRollout, Text: "a rollout is in flight: it has pods of more than one template"}
	case look.Now.Before(s.Scale.Brake.Until):
		return Stop{Reason: ReasonBraked, Text: s.Scale.Brake.String()}
	}
	return Stop{}
}

// acceptedBounds returns the bounds that clamp levels and that a level change writes: the
// live bounds, or the bounds in git if the policy only reports a difference. A live minimum
// above the maximum sets no bounds.
func acceptedBounds(p Policy, declared checkpoint.Entry, s workload.Scale) checkpoint.Entry {
	live := Bounds{Min: s.Min, Max: s.Max}
	switch {
	case p.Bounds == ModeReport && declared.Replicas > 0:
		return checkpoint.Entry{Min: declared.Min, Max: declared.Max}
	case live.contradict():
		return checkpoint.Entry{}
	}
	return checkpoint.Entry{Min: live.Min, Max: live.Max}
}

// CompareBounds compares the live bounds with the bounds in git. live is nil if they
// are the same, nothing is declared or the policy ignores bounds. tooLow is true if
// the accepted max is below the desired pods, while the live max is not.
func CompareBounds(p Policy, declared checkpoint.Entry, s workload.Scale) (live *Bounds, tooLow bool) {
	accepted := acceptedBounds(p, declared, s)
	tooLow = accepted.Max > 0 && s.Desired > accepted.Max && (s.Max == 0 || s.Desired <= s.Max)
	if p.Bounds == ModeIgnore || declared.Replicas == 0 || declared.Min == s.Min && declared.Max == s.Max {
		return nil, tooLow
	}
	return &Bounds{Min: s.Min, Max: s.Max}, tooLow
}
