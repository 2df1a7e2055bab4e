package law

import (
	"fmt"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// waits measures how long the level of a workload has been wrong.
type waits struct {
	short time.Duration // the observed time in which git had too little, and no user could see why
	under int           // consecutive calm ticks with a level that is too low for a constant need
	over  time.Duration // the calm, unfrozen time with a level that is too high for a constant need, since it was last lowered or the head was lost
	level int32         // the level in git
	scale workload.Scale
	saved time.Time // the instant of the last tick that was saved
}

// wait adds one tick. calm is false if something other than a policy may stop a change.
func (of *life) wait(s *Seen, p policy.Policy, sample workload.Sample, since time.Duration, calm bool) {
	observed := since > 0 && since <= 3*story.Period
	_, looked := s.Told.Kinds.Object(sample.ID.Kind)
	if !s.ruled() || !looked || !latches(p, sample) || sample.Terminating || sample.Scale == nil || sample.Scale.Desired <= 0 {
		of.waits = waits{}
		return
	}
	scale := *sample.Scale
	constant := observed && scale == of.scale
	of.scale = scale
	entry := s.After.Entries[sample.ID]
	levels := levelsOf(p, entry, scale)
	need := needs(scale)
	low := levels.low(entry.Replicas, need)
	capped := entry.Replicas >= levels.ceiling && need > entry.Replicas && (scale.Max == 0 || scale.Desired <= scale.Max)
	if s.settled() {
		of.short += s.Told.At.Sub(of.saved)
		if s.Told.At.Sub(of.saved) > 3*story.Period || s.Told.At.Before(of.saved) || !low && !capped || s.explained(sample.ID) {
			of.short = 0
		}
		of.saved = s.Told.At
	}

	calm = calm && constant && s.read(sample.ID)
	afford := policy.Affords(s.Told.Set.Guards, s.Before.Head.Budget, s.Told.At)
	switch {
	case !calm || !low:
		of.under = 0
	case afford:
		of.under++
	}
	brake := s.Told.At.Before(scale.Brake.Until)
	lowered := entry.Replicas < of.level // to the peak of the time before, which may be above the constant need
	of.level = entry.Replicas
	headless := s.Before.Head.At.IsZero() // timers of lowering start again
	switch {
	case lowered || headless || !calm || brake || s.Told.Stop.Reason != policy.ReasonNone || frozenBy(sample) != "" || !levels.high(entry.Replicas, scale.Desired):
		of.over = 0
	case afford:
		of.over += since
	}
}

// stuck reports a level that does not follow a constant need under calm.
func stuck(s *Seen) string {
	for id, of := range s.lives {
		sample, runs := s.World.Fleet[id]
		if !runs {
			continue // an absent workload has no annotation that chooses its policy
		}
		p := s.rule(sample)
		text := fmt.Sprintf("%s needs %d, git declares %d", id, of.scale.Desired, s.After.Entries[id].Replicas)
		if of.under > holdUp(p, sample)+2 {
			return fmt.Sprintf("%s, and %d calm ticks did not raise it", text, of.under)
		}
		if of.over > 2*p.HoldDown+s.Told.Set.Guards.Yield+time.Hour {
			return fmt.Sprintf("%s, and %s of calm did not lower it", text, of.over)
		}
	}
	return ""
}

// silence is the time for which git may have too little although no user can see why.
const silence = 6 * time.Hour

// silent reports a workload that git has too little for, without an alert or a line of
// status that explains it.
func silent(s *Seen) string {
	if !s.settled() {
		return ""
	}
	for id, of := range s.lives {
		hold := time.Duration(holdUp(s.rule(s.World.Fleet[id]), s.World.Fleet[id])+3) * story.Period // the alert counts from the decision
		if of.short > silence+hold {
			return fmt.Sprintf("%s needs %d, git declares %d, for %s, and neither an alert nor status names a reason",
				id, of.scale.Desired, s.After.Entries[id].Replicas, of.short)
		}
	}
	return ""
}

// explained reports whether an open alert or a line of status explains why git has too
// little for a workload.
func (s *Seen) explained(id workload.ID) bool {
	head, l, now := s.After.Head, s.After.Latches[id], s.Told.At
	if _, proposed := l.Change(); proposed && head.Proposal != nil {
		return true
	}
	if s.Told.Observe || now.Before(head.PausedUntil) || s.leftAlone(id) {
		return true // a user's choice, which status lists
	}
	for _, o := range head.Open {
		if explains(o, id, s.World.Site) {
			return true
		}
	}
	return false
}

// leftAlone reports whether a user paused, edited or opted out a workload, also under an old
// name of its kind until it has an entry.
func (s *Seen) leftAlone(id workload.ID) bool {
	now := s.Told.At
	for other, l := range s.After.Latches {
		former := s.After.Entries[id].IsZero() && sameObject(other, id) && !s.names(other.Kind)
		if (other == id || former) && (now.Before(l.PausedUntil) || now.Before(l.GraceUntil) || l.OptedOut) {
			return true
		}
	}
	return false
}

// explains reports whether an alert is a reason for a level that stays too low.
func explains(o alert.Open, id workload.ID, site string) bool {
	switch o.Kind {
	case alert.Blocked, alert.Stale, alert.SecondCluster, alert.Unread:
		return true
	case alert.Capped:
		return o.Subject == id.String() || strings.Contains(o.Text, id.Short())
	case alert.Invalid:
		return o.Subject == checkpoint.RecordPath(site, id.Namespace) || o.Subject == checkpoint.SitePath(site) || !strings.HasPrefix(o.Subject, "checkpoints/")
	}
	return false
}
