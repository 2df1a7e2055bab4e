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

const (
	// milestoneHold is how many samples in a row an advance needs, and a record
	// to begin.
	milestoneHold = 2
	// rolloutCommits is how many changes a rollout takes at most.
	rolloutCommits = 6
	// wellPercent of the pods that the target asked for must be available in a
	// sample that is in good health.
	wellPercent = 95
	// unwell is the level of a sample that is not in good health.
	unwell = -1
)

// DecideRollout looks once at a workload whose rollouts the policy latches. It
// returns the latch with the timer of its milestone advanced, what is declared
// being left as it is, and the decision. A second look at the same instant is
// no new sample.
func DecideRollout(p Policy, l latch.Latch, s workload.Sample, look Look) (latch.Latch, Decision) {
	d := Decision{ID: s.ID, Reading: ReadingRollout, Policy: p.Name, From: entry(l.Declared), Verdict: Quiet}
	if look.gap() > 0 {
		l.Rollout = l.Rollout.Restarted()
	}
	if stop := stopsRollout(l, s, look); stop.Reason != ReasonNone {
		// What was not seen is no sample: those before it and after it are not two
		// in a row.
		l.Rollout = l.Rollout.Restarted()
		d.Verdict, d.Reason, d.Text = Frozen, stop.Reason, stop.Text
		return l, d
	}
	l.YieldUntil = time.Time{}
	m := milestone{policy: p, declared: l.Declared, recorded: l.Declared.Rollout, rollout: *s.Rollout}
	if !s.Rollout.InFlight || p.Rollout == ModeIgnore {
		l.Rollout = l.Rollout.Restarted()
		return l, m.ended(d, look)
	}
	d.Count = m.target().Available
	l.Rollout = m.count(l.Rollout, look)
	m.timer, m.lasted = l.Rollout, look.Now.Sub(l.Rollout.Since)
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
	case look.Now.Before(l.YieldUntil):
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
	lasted   time.Duration // since the target was first seen
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

// count advances the timer by one sample.
func (m milestone) count(t latch.Rollout, look Look) latch.Rollout {
	target := m.target()
	switch {
	case t.Target != target.Hash:
		t = latch.Rollout{Target: target.Hash, Since: look.Now, Commits: t.Commits}
	case look.again():
		return t
	}
	due := target.Desired
	if len(t.Levels) > 0 {
		due = min(due, t.Asked)
	}
	t.Levels = append(slices.Clone(t.Levels), m.level(due))
	t.Levels = t.Levels[max(0, len(t.Levels)-milestoneHold):]
	t.Asked = target.Desired
	return t
}

// level is the milestone that a sample reached, unwell where it is not in good
// health. due is how many pods of the target must be there by now: those that
// were asked for a look ago. A batch that was just asked for does not count
// against it.
func (m milestone) level(due int32) (level int32) {
	available := int64(m.target().Available)
	if m.rollout.Failure != "" || 100*available < wellPercent*int64(due) {
		return unwell
	}
	for _, at := range m.policy.Milestones {
		if int64(at)*int64(m.rollout.Desired) <= 100*available {
			level = at
		}
	}
	return level
}

// reached is the milestone that the last samples held; known is false before
// there were enough of them.
func (m milestone) reached() (level int32, known bool) {
	if len(m.timer.Levels) < milestoneHold {
		return 0, false
	}
	return max(0, slices.Min(m.timer.Levels)), true
}

// goesWell reports whether nothing but time is needed for the rollout to end:
// nobody halted it, and of its last samples one at least was in good health.
func (m milestone) goesWell() bool {
	return m.rollout.Halted == "" && slices.Max(m.timer.Levels) > unwell
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
	hash, from := m.target().Hash, m.recorded.From.Hash
	switch {
	case m.recorded == checkpoint.Rollout{} && m.older():
		d.Reason, d.Text = ReasonWayBack, fmt.Sprintf("its rollout is on its way back to %s: nothing is recorded of it", hash)
		return d
	case m.recorded != checkpoint.Rollout{} && hash == from:
		return m.drop(d, checkpoint.PhaseReturning, "it is on its way back to "+hash)
	case m.recorded != checkpoint.Rollout{} && hash == m.recorded.To.Hash:
		if m.rollout.Failure != "" {
			return m.drop(d, checkpoint.PhaseFailed, m.rollout.Failure)
		}
		return m.advance(d)
	}
	return m.begin(d)
}

// older reports whether the target is known to be older than what it replaces.
func (m milestone) older() bool {
	target, before := m.target().Since, m.rollout.Templates[1].Since
	return !target.IsZero() && target.Before(before)
}

// begin records a rollout that is not recorded yet, or in the place of another
// that it overtook.
func (m milestone) begin(d Decision) Decision {
	level, known := m.reached()
	failed := m.rollout.Failure != ""
	if !known && !failed {
		d.Verdict = Pending
		d.Text = fmt.Sprintf("a rollout to %s is in flight: sample %d of %d", m.target().Hash, len(m.timer.Levels), milestoneHold)
		return d
	}
	if !failed && m.goesWell() && m.lasted < m.policy.RolloutHold {
		return m.wait(d)
	}
	before := m.before()
	to := checkpoint.Rollout{
		Milestone: level, Phase: m.phase(), From: identity(before), To: identity(m.target()),
		ImagesOnly: m.rollout.ImagesOnly && before.Hash == m.rollout.Templates[1].Hash,
	}
	text := fmt.Sprintf("a rollout from %s to %s: %s", before.Hash, to.To.Hash, m.progress())
	if failed {
		to.Milestone, text = 0, text+"; "+m.rollout.Failure
	}
	to.Returns = m.returns(to.Milestone)
	d.Urgent = failed
	return m.cross(d, to, text)
}

// wait leaves a rollout that goes well unrecorded until it lasts: most are soon
// over, and a record of each would be most of what is committed. A record of the
// one that it overtook says nothing any more, and goes.
func (m milestone) wait(d Decision) Decision {
	text := fmt.Sprintf("a rollout to %s goes well: recorded once it lasts for %s", m.target().Hash, Span(m.policy.RolloutHold))
	if m.recorded != (checkpoint.Rollout{}) {
		return m.cross(d, checkpoint.Rollout{}, "overtaken: "+text)
	}
	d.Verdict, d.Text = Pending, text
	return d
}

// before is the template that a rollout which is to be recorded began with:
// what the record would have returned, where that still has pods, else the one
// with the most that are available.
func (m milestone) before() workload.Template {
	others := m.rollout.Templates[1:]
	most := others[0]
	for _, t := range others {
		if t.Hash == m.recorded.Returned().Hash {
			return t
		}
		if t.Available > most.Available {
			most = t
		}
	}
	return most
}

// drop takes the milestone to 0 at once.
func (m milestone) drop(d Decision, phase checkpoint.Phase, why string) Decision {
	to := m.recorded
	to.Milestone, to.Phase, to.Returns = 0, phase, checkpoint.SideFrom
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
		to.Milestone, to.Phase = level, m.phase()
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
	if !m.room(to) {
		d.Reason = ReasonRoom
		d.Text = fmt.Sprintf("its rollout is at %d %% in git, which could be %d %%: the last of its %d commits are kept for what decides", m.recorded.Milestone, to.Milestone, rolloutCommits)
		return d
	}
	d.Urgent = to.Returns != m.recorded.Returns
	return m.cross(d, to, text)
}

// room reports whether a change leaves as many of the rollout's commits as are
// needed for those that decide: its end, a failure of what has not fallen, and
// the cut while it is below.
func (m milestone) room(to checkpoint.Rollout) bool {
	needed := 1
	if to.Phase != checkpoint.PhaseFailed && to.Phase != checkpoint.PhaseReturning {
		needed++
		if to.Milestone < m.policy.Cut {
			needed++
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
	d.Verdict, d.Text, d.To = Cross, text, entry(m.declared.WithRollout(to))
	if m.policy.Rollout == ModeReport {
		d.Verdict, d.Reason = Pending, ReasonReport
	}
	return d
}

func identity(t workload.Template) checkpoint.Template {
	return checkpoint.Template{Hash: t.Hash, Images: checkpoint.ImagesOf(t.Images)}
}
