package law

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func lowers(s *Seen) string {
	for _, change := range s.lowerings() {
		if why := s.early(change, 1); why != "" {
			return fmt.Sprintf("%s went from %d to %d although %s", change.ID, change.From.Replicas, change.To.Replicas, why)
		}
	}
	return ""
}

// alone reports a commit that only lowers levels before twice the hold of each. A raise that
// the commit lost in a race justifies it.
func alone(s *Seen) string {
	justified := func(d policy.Decision) bool { return d.Crosses() && !d.Rides && !d.Lowers() }
	if s.World.Flush || slices.ContainsFunc(s.Told.Decisions, justified) {
		return ""
	}
	other := func(c checkpoint.Change) bool {
		return c.From.Rollout != c.To.Rollout || c.To.Replicas == 0 || c.To.Replicas >= c.From.Replicas
	}
	due := func(c checkpoint.Change) bool { return s.early(c, 2) == "" }
	for _, c := range s.Mine {
		if len(c.Changes) > 0 && !slices.ContainsFunc(c.Changes, other) && !slices.ContainsFunc(c.Changes, due) {
			return fmt.Sprintf("%s lowers %s, and %s", subject(c), c.Changes[0].ID, s.early(c.Changes[0], 2))
		}
	}
	return ""
}

func brakes(s *Seen) string {
	for _, change := range s.lowerings() {
		of := s.lives[change.ID]
		if of == nil || len(of.looks) == 0 {
			continue
		}
		if until := of.looks[len(of.looks)-1].braked; s.Told.At.Before(until) {
			return fmt.Sprintf("%s went from %d to %d, and is braked until %s",
				change.ID, change.From.Replicas, change.To.Replicas, until.Format(time.TimeOnly))
		}
	}
	return ""
}

// lowerings returns the changes in this tick's commits and in its proposal that lower a
// level.
func (s *Seen) lowerings() []checkpoint.Change {
	return slices.DeleteFunc(slices.Concat(s.changes(), s.Asked), func(c checkpoint.Change) bool {
		return c.To.Replicas == 0 || c.To.Replicas >= c.From.Replicas
	})
}

// changes returns the changes in this tick's commits to the base.
func (s *Seen) changes() (all []checkpoint.Change) {
	for _, c := range s.Mine {
		all = append(all, c.Changes...)
	}
	return all
}

// early returns a text if a lowering was earlier than a number of its holds.
func (s *Seen) early(change checkpoint.Change, holds time.Duration) string {
	of := s.lives[change.ID]
	if of == nil || len(of.looks) == 0 {
		return "nobody looked at it"
	}
	next := of.looks[len(of.looks)-1]
	if next.frozen != "" {
		return next.frozen
	}
	if s.World.Flush {
		return "a drill only raises"
	}
	sample := s.World.Fleet[change.ID]
	p, maximum := s.rule(sample), change.To.Max
	if sample.Scale != nil {
		maximum = levelsOf(p, change.To, *sample.Scale).ceiling
	}
	under, hold := time.Duration(0), max(holds*p.HoldDown, time.Duration(p.HoldUp-1)*story.Period)-story.Period
	for _, l := range slices.Backward(of.looks[:len(of.looks)-1]) {
		if next.runs && next.frozen == "" {
			under += l.before(next)
		}
		switch next = l; {
		case under >= hold:
			return ""
		case (l.frozen == "" || l.seen) && l.least > change.To.Replicas && change.To.Replicas != maximum:
			return fmt.Sprintf("it needed %d at %s", l.need, l.at.Format(time.TimeOnly))
		}
	}
	return fmt.Sprintf("it was seen under its threshold for %s", under)
}

// renamed reports whether the policy no longer has the name of a workload's kind, and the
// workload has an entry under another name.
func (w *Witness) renamed(entries map[workload.ID]checkpoint.Entry, id workload.ID) bool {
	if w.names(id.Kind) {
		return false
	}
	for other, e := range entries {
		if sameObject(other, id) && e.Replicas > 0 {
			return true
		}
	}
	return false
}

// names reports whether the policy has the name of a kind.
func (w *Witness) names(kind workload.Kind) bool {
	_, is := w.set.Kinds.Object(kind)
	return is
}

// sameObject reports whether two workloads may be one object under two names of its kind.
func sameObject(a, b workload.ID) bool {
	return a.Kind != b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
}

func retires(s *Seen) string {
	before := len(s.retired)
	for _, change := range s.changes() {
		if change.To.Replicas != 0 || change.From.Replicas == 0 || s.renames(change.ID) {
			continue
		}
		_, runs := s.World.Fleet[change.ID]
		absent := s.absent(change.ID)
		switch {
		case runs:
			return fmt.Sprintf("%s runs, and its entry was removed", change.ID)
		case absent < s.Told.Set.Guards.RetireAfter-story.Period:
			return fmt.Sprintf("%s was retired after %s", change.ID, absent)
		}
		s.retired[change.ID] = retired{-s.observed(), len(s.Before.Entries)}
	}
	if len(s.retired) == before {
		return "" // a user may remove the other entries
	}
	return s.many()
}

// renames reports whether a commit of the tick has an entry of a workload under another name of
// its kind.
func (s *Seen) renames(id workload.ID) bool {
	return slices.ContainsFunc(s.Mine, func(c Commit) bool { return s.renamed(s.at(c.ID), id) })
}

// retired is an entry that was removed: the observed time from then to the last saved tick, and
// the number of entries before.
type retired struct {
	since time.Duration
	of    int
}

// observed returns the observed time from the last saved tick to this one.
func (s *Seen) observed() time.Duration {
	return (&look{at: s.Before.Head.At}).before(&look{at: s.Told.At})
}

// age adds a saved tick to the time since each entry was removed. An instant would not do: a
// clock that was ahead comes to the same hour again.
func (w *Witness) age(s *Seen) {
	if !s.settled() {
		return
	}
	for id, r := range w.retired {
		r.since += s.observed()
		w.retired[id] = r
	}
}

// many returns a text if more entries were removed within RetireAfter than the guards
// allow.
func (s *Seen) many() string {
	guards, observed := s.Told.Set.Guards, s.observed()
	maps.DeleteFunc(s.retired, func(_ workload.ID, r retired) bool { return r.since+observed >= guards.RetireAfter })
	n, entries := len(s.retired), 0
	for _, r := range s.retired {
		entries = max(entries, r.of) // a user may remove other entries in between
	}
	if n > 1 && float64(n) > guards.RetireShare*float64(entries) {
		return fmt.Sprintf("%d entries of %d were removed within %s", n, entries, guards.RetireAfter)
	}
	return ""
}

// absent returns the observed time of a workload's absence.
func (s *Seen) absent(id workload.ID) (d time.Duration) {
	if s.lives[id] == nil {
		return 0
	}
	looks := s.lives[id].looks
	for i := len(looks) - 1; i > 0 && !looks[i].runs; i-- {
		if looks[i].frozen == "" {
			d += looks[i-1].before(looks[i])
		}
	}
	return d
}

// ask notes the changes in this tick's proposal. On a site that proposes, they count as
// entries in git. The previous proposal is the one in the last call of ask, because
// another tick may have run in between.
func (w *Witness) ask(s *Seen) {
	if s.Told.NotRun != "" {
		return
	}
	before, after := w.proposal, s.After.Head.Proposal
	w.proposal = after
	if before != nil && after == nil {
		w.asked = nil
	}
	if after == nil || before != nil && before.Head == after.Head {
		return
	}
	log, _, err := w.story.Repository.History(context.Background(), after.Head, "", 1)
	if err != nil || len(log[0].Parents) == 0 {
		return
	}
	c, was := w.commit(log[0]), w.asked
	w.asked = map[workload.ID]int32{}
	for _, change := range c.Changes {
		w.asked[change.ID] = change.To.Replicas
		asked, again := was[change.ID]
		if change.From.Replicas == change.To.Replicas {
			continue // the proposal no longer contains the level
		}
		latched := s.Before.Latches[change.ID].Proposed().Replicas
		if latched > 0 && s.World.Propose { // a review of a surge writes no level
			change.From.Replicas = latched
		}
		if c.By == ours && c.When.Equal(s.Told.At) && !(again && asked == change.To.Replicas) && latched != change.To.Replicas && !w.touched[change.ID] && !w.all {
			s.Asked = append(s.Asked, change)
		}
	}
}
