package publish

import (
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func byWorkload(a, b checkpoint.Change) int { return workload.Compare(a.ID, b.ID) }

// wanted returns the changes to propose. They are the decisions to review, the earlier
// proposals that are still valid, and every level change if the argument all is set. A
// review is not opened again for a smaller level. The decisions for the level and for the rollout
// of a workload become one change, which shows the difference to the base.
func wanted(latches latch.Latches, decisions []policy.Decision, all bool, now time.Time) []checkpoint.Change {
	var asking []policy.Decision
	review := map[workload.ID]bool{}
	for _, d := range decisions {
		reviewed := d.Verdict == policy.Review
		if reviewed || all && d.Crosses() {
			review[d.ID] = review[d.ID] || reviewed
			d.From = latches.Get(d.ID).Base() // policy.Changes applies the decisions of a workload to the first From
			asking = append(asking, d)
		}
	}
	by := map[workload.ID]checkpoint.Change{}
	for _, c := range policy.Changes(asking) {
		c.From = latches.Get(c.ID).Declared
		by[c.ID] = c
	}
	for _, c := range read.Proposed(latches) {
		next, asked := by[c.ID]
		smaller := asked && review[c.ID] && !next.To.IsZero() && next.To.Replicas < c.To.Replicas
		switch {
		case keptOut(latches.Get(c.ID), asked, now):
			delete(by, c.ID)
		case smaller:
			next.To = next.To.WithScale(c.To)
			by[c.ID] = next
		case !asked && all:
			by[c.ID] = c
		}
	}
	maps.DeleteFunc(by, func(_ workload.ID, c checkpoint.Change) bool { return c.From == c.To })
	return slices.SortedFunc(maps.Values(by), byWorkload)
}

// keptOut reports whether a user keeps the change of a workload out of the proposal. With
// GraceScale, the edit grace period covers the level alone, so what this tick asks for is a
// rollout change, and stays.
func keptOut(l latch.Latch, asked bool, now time.Time) bool {
	inGrace := now.Before(l.GraceUntil) && !(l.GraceScale && asked)
	return l.OptedOut || now.Before(l.PausedUntil) || inGrace
}

// crossings returns changes as decisions, with the reasons of the given decisions if they
// have the same subject.
func crossings(changes []checkpoint.Change, decisions []policy.Decision) (all []policy.Decision) {
	reasons := lists.Index(decisions, policy.Decision.Subject)
	add := func(c checkpoint.Change, of policy.Reading) {
		d := reasons[policy.Subject{ID: c.ID, Reading: of}]
		d.ID = c.ID
		d.Reading = of
		d.From = c.From
		d.To = c.To
		all = append(all, d)
	}
	for _, c := range changes {
		// The removal of an entry is one level change, unless the entry had only a rollout.
		rolloutChanges := c.From.Rollout != c.To.Rollout && (!c.To.IsZero() || c.From.Replicas == 0)
		if c.From.WithRollout(c.To.Rollout) != c.To || !rolloutChanges {
			add(c, policy.ReadingScale)
		}
		if rolloutChanges {
			add(c, policy.ReadingRollout)
		}
	}
	return all
}

// line returns a decision in the form of a commit message.
func line(d policy.Decision) ledger.Crossing {
	return ledger.Crossing{ID: d.ID, Rollout: d.Reading == policy.ReadingRollout, From: d.From, To: d.To, Text: d.Text}
}
