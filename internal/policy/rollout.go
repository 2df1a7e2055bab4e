package policy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	// milestoneHold is how many samples in a row an advance needs, and a record
	// to begin.
	milestoneHold = 2
	// rolloutCommits is how many changes a rollout takes at most, but for those of one
	// that goes on to fail and to come back.
	rolloutCommits = 6
	// soonPeriods is how many looks at most are left of a rollout that is soon
	// over. Of one that came no further than a tenth in two looks nine are.
	soonPeriods = 6
	// endless is how many rollouts in a row one follows where a workload rolls
	// without end, and restless how many where those that get on no more are of it,
	// too, and no beginning is urgent, as where two tools ask for two templates in turn.
	endless, restless = 2, 6
	// wellPercent of the pods that are due of the target must be available in a
	// sample that is in good health.
	wellPercent = 95
)

// DecideRollout looks once at a workload whose rollouts the policy latches. It
// returns the latch with the timer of its milestone advanced, what is declared
// being left as it is, and the decision. A second look at the same instant is
// no new sample.
func DecideRollout(p Policy, l latch.Latch, s workload.Sample, look Look) (latch.Latch, Decision) {
	d := Decision{ID: s.ID, Reading: ReadingRollout, Policy: p.Name, From: l.Declared, Verdict: Quiet}
	if look.gap() > 0 {
		l.Rollout = l.Rollout.Interrupted()
	}
	if stop := stopsRollout(l, s, look); stop.Reason != ReasonNone {
		l.Rollout = l.Rollout.Pause(look.Last)
		d.Verdict, d.Reason, d.Text = Frozen, stop.Reason, stop.Text
		return l, d
	}
	l = l.Yielded(look.Now)
	m := milestone{policy: p, declared: l.Declared, recorded: l.Declared.Rollout, rollout: *s.Rollout}
	switch {
	case p.Rollout == ModeIgnore:
		l.Rollout = l.Rollout.Restarted(m.recorded)
		return l, m.ended(d, look)
	case !s.Rollout.InFlight:
		l.Rollout = m.over(l.Rollout, look)
		return l, m.ended(d, look)
	}
	d.Count = m.target().Available
	m.timer = m.follow(l.Rollout, look)
	m.lasted = m.timer.Elapsed(look.Now)
	m.still = m.stuck(look)
	m.timer.Short = m.since(m.timer.Short, m.short(), look)
	m.rollout.Failure = cmp.Or(m.rollout.Failure, m.stalled(look), m.sank(look))
	m.timer.Levels = m.levels(look)
	m.timer.Served = m.rollout.Served()
	m.timer.Well = m.since(m.timer.Well, m.well() && m.rollout.Percent() >= m.policy.Cut, look)
	m.firm = m.timer.Well.Elapsed(look.Now) >= m.convinces()
	m.stranded = m.strands(look)
	l.Rollout = m.timer
	return l, m.judge(d)
}

// stopsRollout is why nothing is decided of a rollout.
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
		return Stop{Reason: ReasonSuspended, Text: "it is scaled to zero: there is no progress to measure"}
	case look.Now.Before(l.YieldUntil) && !l.YieldScale:
		return Stop{Reason: ReasonYield, Text: "a person set its entry; left alone until " + l.YieldUntil.UTC().Format(time.RFC3339)}
	case !r.InFlight:
		return Stop{}
	case len(r.Templates) == 0 || r.Templates[0].Hash == "":
		return unread("the template that its rollout is on its way to is not known yet")
	case len(r.Templates) == 1 || slices.ContainsFunc(r.Templates, func(t workload.Template) bool { return t.Hash == "" }):
		return unread("the template that its rollout replaces is not known")
	}
	return Stop{}
}

// A milestone is the rollout of one sample against the one that is recorded.
type milestone struct {
	policy   Policy
	declared checkpoint.Entry
	recorded checkpoint.Rollout // zero is none
	rollout  workload.Rollout
	timer    latch.Rollout
	lasted   time.Duration // for which the target was seen
	still    bool          // it gets on no more
	stranded bool          // it gets on no more, and another serves more
	firm     bool          // it was past the cut, in good health, for long enough
}

func (m milestone) target() workload.Template { return m.rollout.Templates[0] }

// NextMilestone is the milestone after the one that is recorded, and how many of
// the desired pods must be available of the target for it; more is false where
// there is none after it.
func NextMilestone(p Policy, recorded checkpoint.Rollout, desired int32) (at, pods int32, more bool) {
	for _, at := range p.Milestones {
		if at > recorded.Milestone {
			return at, int32((int64(at)*int64(desired) + 99) / 100), true
		}
	}
	return 0, 0, false
}

// over is the timer of a workload of which no rollout is in flight: it remembers
// for the policy's hold when one was.
func (m milestone) over(t latch.Rollout, look Look) latch.Rollout {
	before, follows := m.within(t.Seen(look.Last), look), t.Follows
	t = t.Restarted(m.recorded)
	if !before.IsZero() {
		t.Before, t.Follows = before, follows
	}
	return t
}

// within returns the instant where it is less than the policy's hold ago, else
// zero.
func (m milestone) within(at time.Time, look Look) time.Time {
	if at.IsZero() || look.Now.Sub(at) >= m.policy.RolloutHold {
		return time.Time{}
	}
	return at
}

// follow advances the timer by one sample. A target that overtakes another is the
// next rollout in a row; a way back is of the rollout that it is of, unless that
// was not seen for so long that it may be over.
func (m milestone) follow(t latch.Rollout, look Look) latch.Rollout {
	hash := m.target().Hash
	switch {
	case t.Target != hash:
		before, follows := m.within(t.Seen(look.Last), look), t.Follows+1
		switch {
		case before.IsZero():
			follows = 0
		case t.Target != "" && !m.begins():
			before, follows = t.Before, t.Follows
		}
		t = latch.Rollout{Target: hash, Stopwatch: latch.Stopwatch{Since: look.Now}, Before: before, Follows: follows, Commits: t.Commits}
	case look.again():
		return t
	default:
		t.Stopwatch = t.Resume(look.Last).Lose(look.gap())
		t.Soon = m.soon(t, look)
	}
	t.Progress = m.progressed(t.Progress, look)
	return t
}

// progressed advances how far the target has come. A batch that was asked for is
// due only when for the policy's deadline no other was, and no more pods became
// available.
func (m milestone) progressed(p latch.Progress, look Look) latch.Progress {
	target := m.target()
	most := min(p.Available, target.Desired) // of those scaled in none is expected
	once := max(min(p.Once, target.Desired), target.Available)
	next := latch.Progress{Asked: target.Desired, Available: most, Once: once, Due: max(min(p.Due, target.Desired), target.Available), Longest: p.Longest}
	running := p.Resume(look.Last).Lose(look.gap())
	if p.Running() && target.Available > most {
		next.Longest = max(p.Longest, running.Elapsed(look.Now))
	}
	switch {
	case target.Available >= target.Desired:
		next.Available, next.Due = target.Desired, target.Desired
		return next
	case !p.Running(), target.Desired > p.Asked, target.Available > most:
		next.Available, next.Since = target.Available, look.Now
		return next
	}
	next.Stopwatch = running
	if next.Elapsed(look.Now) >= m.deadline(next) {
		next.Due = target.Desired
	}
	return next
}

// deadline is how long a target may come no further: the policy's time, and longer
// where its pods were seen to take longer, each of them, and came.
func (m milestone) deadline(p latch.Progress) time.Duration {
	return max(m.policy.ProgressDeadline, 2*p.Longest)
}

// stuck reports whether the target has not come further since it was first seen,
// or for two looks.
func (m milestone) stuck(look Look) bool {
	still := m.timer.Progress.Elapsed(look.Now)
	return still == m.lasted || still >= 2*look.Period
}

// stalled says that the target made no progress for the policy's deadline; ""
// where it did, or has time left, where a condition of the workload would say so,
// and where somebody wishes it to stay.
func (m milestone) stalled(look Look) string {
	if !m.rollout.Unjudged || m.rollout.Halted != "" || m.timer.Progress.Elapsed(look.Now) < m.deadline(m.timer.Progress) {
		return ""
	}
	return fmt.Sprintf("no more pods of %s became available for %s", m.target().Hash, Span(m.deadline(m.timer.Progress)))
}

// since advances a stopwatch that runs while something is so.
func (m milestone) since(t latch.Stopwatch, is bool, look Look) latch.Stopwatch {
	switch {
	case !is:
		return latch.Stopwatch{}
	case !t.Running():
		return latch.Stopwatch{Since: look.Now}
	}
	return t.Resume(look.Last).Lose(look.gap())
}

// short reports whether git would return to the target, and over half of its pods
// that were available at once are missing. What was asked for and never came does not
// count, so that a scale that moves makes no rollout short.
func (m milestone) short() bool {
	return m.recorded.Returns == checkpoint.SideTo && m.target().Hash == m.recorded.To.Hash && 2*m.target().Available < m.timer.Progress.Once
}

// sank says that over half of the target's pods were missing for the policy's
// deadline; "" where they were not. Who halted it there did not wish for that, nor
// does a longer deadline of the workload speak for it.
func (m milestone) sank(look Look) string {
	if !m.timer.Short.Running() || m.timer.Short.Elapsed(look.Now) < m.policy.ProgressDeadline {
		return ""
	}
	return fmt.Sprintf("%s, and for %s over half of them were missing", m.progress(), Span(m.policy.ProgressDeadline))
}

// hurry is the time within which a rollout is soon over.
func (m milestone) hurry(look Look) time.Duration {
	return min(m.policy.RolloutHold/2, soonPeriods*look.Period)
}

// soon reports whether a rollout that keeps the pace since the sample before is
// soon over. One that stands still, or was seen once, is not known to be.
func (m milestone) soon(before latch.Rollout, look Look) bool {
	if len(before.Levels) == 0 {
		return false
	}
	served := m.rollout.Served()
	more, left := served-before.Served, m.rollout.Desired-served
	needs := float64(left) * look.Now.Sub(look.Last).Seconds()
	return left <= 0 || more > 0 && needs < float64(more)*m.hurry(look).Seconds()
}

// levels are those of the latest consecutive samples, this one among them.
func (m milestone) levels(look Look) []int32 {
	before := m.timer.Levels
	if look.again() && len(before) > 0 {
		return before
	}
	all := append(slices.Clone(before), m.level())
	return all[max(0, len(all)-milestoneHold):]
}

// convinces is for how long a rollout must be past the cut, in good health, for git
// to say so beyond its commits: the policy's deadline, and twice as long with each
// time that it failed since, up to eight times.
func (m milestone) convinces() time.Duration {
	return m.policy.ProgressDeadline << min(3, max(0, m.timer.Commits-rolloutCommits+2)/2)
}

// strands reports whether the target failed or comes no further, and more is served
// by another template.
func (m milestone) strands(look Look) bool {
	late := m.timer.Progress.Elapsed(look.Now) >= m.deadline(m.timer.Progress)
	return (m.rollout.Failure != "" || late) && slices.ContainsFunc(m.rollout.Templates[1:], func(t workload.Template) bool { return t.Available > m.target().Available })
}

// well reports whether a sample is in good health: it did not fail, and not too
// many of the pods that are due are missing.
func (m milestone) well() bool {
	return m.rollout.Failure == "" && 100*int64(m.target().Available) >= wellPercent*int64(m.timer.Progress.Due)
}

// level is the milestone that a sample reached, 0 where it is not in good
// health.
func (m milestone) level() (level int32) {
	if !m.well() {
		return 0
	}
	for _, at := range m.policy.Milestones {
		if at <= m.rollout.Percent() {
			level = at
		}
	}
	return level
}

// share is how far beyond a milestone the rollout is, in percent, where this
// sample is in good health and reached no other; else 0. It rides on commits that
// are made anyway.
func (m milestone) share(level int32) int32 {
	share := min(99, m.rollout.Percent())
	if !m.well() || m.level() != level || share <= level {
		return 0
	}
	return share
}

// reached is the milestone that the last samples held; known is false before
// there were enough of them.
func (m milestone) reached() (level int32, known bool) {
	if len(m.timer.Levels) < milestoneHold {
		return 0, false
	}
	return slices.Min(m.timer.Levels), true
}

// ended decides of a workload without a rollout in flight, or of which none is
// to be recorded.
func (m milestone) ended(d Decision, look Look) Decision {
	switch {
	case m.recorded == checkpoint.Rollout{}:
		d.Text = "there is no rollout to record"
		return d
	case look.Stop.Reason != ReasonNone:
		d.Verdict, d.Reason, d.Text = Frozen, look.Stop.Reason, look.Stop.Text
		return d
	}
	text := "no pods of another template are left"
	if m.rollout.InFlight {
		text = "its rollouts are no longer latched"
	}
	return m.cross(d, checkpoint.Rollout{}, text)
}

// judge turns the timer into a verdict: a way back and a failure count at once,
// the rest for its samples.
func (m milestone) judge(d Decision) Decision {
	hash := m.target().Hash
	switch {
	case m.undone() && m.gone():
		return m.forget(d)
	case m.undone():
		d.Reason, d.Text = ReasonWayBack, fmt.Sprintf("its rollout is on its way back to %s: nothing is recorded of it", hash)
		return d
	case m.begins():
		return m.begin(d)
	case hash == m.recorded.From.Hash:
		return m.drop(d, checkpoint.PhaseReturning, "it is on its way back to "+hash)
	case m.rollout.Failure != "":
		return m.drop(d, checkpoint.PhaseFailed, m.rollout.Failure)
	}
	return m.advance(d)
}

// begins reports whether git says nothing of the target, and should.
func (m milestone) begins() bool { return !m.says(m.target().Hash) && !m.undone() }

// says reports whether git says something of a template.
func (m milestone) says(hash string) bool {
	return m.recorded != (checkpoint.Rollout{}) && (hash == m.recorded.From.Hash || hash == m.recorded.To.Hash)
}

// undone reports whether a rollout of which git says nothing is on its way back: the
// target is known to be older than what it replaces. One that is stranded on its way
// is a rollout like another, and so is one that somebody keeps from its first pod.
func (m milestone) undone() bool {
	target, before := m.target(), m.rollout.Templates[1]
	older := !target.Since.IsZero() && target.Since.Before(before.Since)
	return older && !m.says(target.Hash) && !m.stranded && !m.rollout.Held()
}

// begin records a rollout that is not recorded yet, or in the place of another
// that it overtook.
func (m milestone) begin(d Decision) Decision {
	_, known := m.reached()
	failed := m.rollout.Failure != ""
	if !known && !failed {
		d.Verdict = Pending
		d.Text = fmt.Sprintf("a rollout to %s is in flight: sample %d of %d", m.target().Hash, len(m.timer.Levels), milestoneHold)
		return d
	}
	to := m.beginning()
	if why := m.waits(); why != "" && !failed && m.lasted < m.policy.RolloutHold {
		return m.wait(d, why)
	}
	text := fmt.Sprintf("a rollout from %s to %s: %s", to.From.Hash, to.To.Hash, m.progress())
	if failed {
		text += "; " + m.rollout.Failure
	}
	d.Urgent = failed
	d = m.cross(d, to, text)
	d.Urgent = d.Urgent && m.timer.Follows < restless
	return d
}

// beginning is what is recorded of a rollout that is not recorded yet.
func (m milestone) beginning() checkpoint.Rollout {
	level, _ := m.reached()
	if m.rollout.Failure != "" {
		level = 0
	}
	before := m.before()
	return checkpoint.Rollout{
		Milestone: level, Share: m.share(level), Phase: m.phase(), Returns: m.returns(level), From: identity(before), To: identity(m.target()),
		ImagesOnly: before.ImagesOnly,
	}
}

// waits says why a rollout is recorded only once it lasts for the policy's hold;
// "" where it need not. Of each that is soon over, and of each of a workload that
// rolls without end, a record would be most of what is committed.
func (m milestone) waits() string {
	switch {
	case m.rollout.Halted != "":
	case m.timer.Follows >= restless, !m.still && m.timer.Follows >= endless:
		return fmt.Sprintf("it follows %d in a row, the last in flight at %s", m.timer.Follows, m.timer.Before.UTC().Format(time.RFC3339))
	case m.recorded == checkpoint.Rollout{} && m.timer.Soon:
		return "at its pace it is soon over"
	}
	return ""
}

// wait leaves a rollout unrecorded until it lasts. The record of one that it
// overtook stays, since its templates are what runs; where none of their pods is
// left it says nothing any more, and goes.
func (m milestone) wait(d Decision, why string) Decision {
	hold := Span(m.policy.RolloutHold)
	if m.gone() {
		return m.forget(d)
	}
	d.Verdict = Pending
	d.Text = fmt.Sprintf("a rollout to %s is in flight: recorded if it lasts for %s or fails, since %s", m.target().Hash, hold, why)
	return d
}

// gone reports whether something is recorded of which no pods are left.
func (m milestone) gone() bool {
	return m.recorded != checkpoint.Rollout{} && !m.runs(m.recorded.From.Hash) && !m.runs(m.recorded.To.Hash)
}

// forget takes that out of the record.
func (m milestone) forget(d Decision) Decision {
	return m.cross(d, checkpoint.Rollout{}, fmt.Sprintf("overtaken: no pods of %s or %s are left", m.recorded.From.Hash, m.recorded.To.Hash))
}

// runs reports whether there are pods of a template other than the target.
func (m milestone) runs(hash string) bool {
	return slices.ContainsFunc(m.rollout.Templates[1:], func(t workload.Template) bool { return t.Hash == hash && t.Runs() })
}

// before is the template that a rollout which is to be recorded began with: the one
// that serves most, and of two that serve alike what the record would have returned.
// Where that is the one before another that was not past the cut, or failed, it is
// the one as long as it serves at all.
func (m milestone) before() workload.Template {
	rank := func(t workload.Template) int64 {
		rank := 2 * int64(t.Available)
		if t.Hash == m.recorded.Returned().Hash {
			rank++
			if m.recorded.Returns == checkpoint.SideFrom && t.Available > 0 {
				rank += math.MaxUint32
			}
		}
		return rank
	}
	return slices.MaxFunc(m.rollout.Templates[1:], func(a, b workload.Template) int { return cmp.Compare(rank(a), rank(b)) })
}

// drop takes the milestone to 0 at once.
func (m milestone) drop(d Decision, phase checkpoint.Phase, why string) Decision {
	to := m.recorded
	to.Milestone, to.Share, to.Phase, to.Returns = 0, 0, phase, checkpoint.SideFrom
	same := to
	same.Phase = m.recorded.Phase
	// From one phase that returns the old template to the other nothing is lost
	// by not saying so.
	fell := same == m.recorded && m.fallen()
	if fell && (phase == m.recorded.Phase || !m.room(to)) {
		d.Text = fmt.Sprintf("its rollout is at 0 %%, %s: %s", m.recorded.Phase, why)
		return d
	}
	d.Urgent = !fell
	return m.cross(d, to, why)
}

// fallen reports whether the record says that the rollout failed or returns.
func (m milestone) fallen() bool {
	return m.recorded.Phase == checkpoint.PhaseFailed || m.recorded.Phase == checkpoint.PhaseReturning
}

// advance writes a higher milestone, and which template it returns, where the
// rollout's commits leave room for it.
func (m milestone) advance(d Decision) Decision {
	to := m.recorded
	level, _ := m.reached()
	if level > to.Milestone {
		to.Milestone, to.Share, to.Phase = level, m.share(level), m.phase()
	}
	to.Returns = m.returns(to.Milestone)
	text := fmt.Sprintf("%s in %d samples in a row", m.progress(), milestoneHold)
	switch now := m.timer.Levels[len(m.timer.Levels)-1]; {
	case to == m.recorded && now > to.Milestone:
		d.Verdict = Pending
		d.Text = fmt.Sprintf("%s, which reaches %d %%: sample 1 of %d", m.progress(), now, milestoneHold)
		return d
	case to == m.recorded:
		d.Text = fmt.Sprintf("its rollout is at %d %%: %s", to.Milestone, m.progress())
		return d
	case to.Milestone == m.recorded.Milestone:
		text = fmt.Sprintf("the cut is now at %d %%: a rebuild begins with the template %s", m.policy.Cut, to.Returned().Hash)
	}
	if !m.room(to) && (!m.firm || brings(to) == brings(m.recorded)) {
		d.Reason = ReasonRoom
		d.Text = fmt.Sprintf("its rollout is at %d %% in git, which could be %d %%: the last of its %d commits are kept for what decides", m.recorded.Milestone, to.Milestone, rolloutCommits)
		return d
	}
	return m.cross(d, to, text)
}

// room reports whether a change leaves as many of the rollout's commits as are
// needed for those that decide: its end; a failure of what has not fallen; and
// while it is below the cut, that, and a failure before it that passes.
func (m milestone) room(to checkpoint.Rollout) bool {
	needed := 1
	if to.Phase != checkpoint.PhaseFailed && to.Phase != checkpoint.PhaseReturning {
		needed++
		if to.Milestone < m.policy.Cut {
			needed += 2
		}
	}
	return m.timer.Commits+1+needed <= rolloutCommits
}

// returns is the template that a rebuild should begin with.
func (m milestone) returns(level int32) checkpoint.Side {
	if level >= m.policy.Cut {
		return checkpoint.SideTo
	}
	return checkpoint.SideFrom
}

func (m milestone) phase() checkpoint.Phase {
	switch {
	case m.rollout.Failure != "":
		return checkpoint.PhaseFailed
	case m.rollout.Halted != "":
		return checkpoint.PhaseHalted
	}
	return checkpoint.PhaseProgressing
}

// progress says how far the rollout is.
func (m milestone) progress() string {
	text := fmt.Sprintf("%d of %d pods of %s are available", m.target().Available, m.rollout.Desired, m.target().Hash)
	if m.rollout.Traffic != nil {
		text += fmt.Sprintf(", with %d %% of the traffic", *m.rollout.Traffic)
	}
	if m.rollout.Halted != "" {
		text += ", halted by " + m.rollout.Halted
	}
	return text
}

// cross decides that git should hold another rollout.
func (m milestone) cross(d Decision, to checkpoint.Rollout, text string) Decision {
	if err := checkpoint.FitsRollout(d.ID, to); err != nil {
		d.Verdict, d.Reason, d.Urgent = Skip, ReasonUnfit, false
		d.Text = "its rollout is not recorded: " + err.Error()
		return d
	}
	d.Verdict, d.Text, d.To = Cross, text, m.declared.WithRollout(to)
	d.Urgent = d.Urgent || alters(m.recorded, to) // a rebuild that goes by git would be wrong
	if m.policy.Rollout == ModeReport {
		d.Verdict, d.Reason = Pending, ReasonReport
	}
	return d
}

// alters reports whether a rebuild begins with another template by one record than
// by the other. What a record says of one target it does not say of another.
func alters(was, is checkpoint.Rollout) bool {
	return brings(was) != brings(is) || is.Returns == checkpoint.SideFrom && was.To.Hash != is.To.Hash
}

// brings is the template that a rebuild begins with: the new one where nothing is
// recorded, as the manifests say.
func brings(r checkpoint.Rollout) checkpoint.Side {
	if r.Returns == checkpoint.SideFrom {
		return checkpoint.SideFrom
	}
	return checkpoint.SideTo
}

func identity(t workload.Template) checkpoint.Template {
	return checkpoint.Template{Hash: t.Hash, Images: checkpoint.ImagesOf(t.Images)}
}
