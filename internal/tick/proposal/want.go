package proposal

import (
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Changes returns the changes that the latches propose, in the order of workload.Compare.
func Changes(latches latch.Latches) (changes []checkpoint.Change) {
	for l := range latches.All() {
		if c, ok := l.Change(); ok {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, byWorkload)
	return changes
}

func byWorkload(a, b checkpoint.Change) int { return workload.Compare(a.ID, b.ID) }

// Want returns the changes to propose. They are the decisions to review, the earlier
// proposals that are still valid, and every level change if the argument all is set. A
// review is not opened again for a smaller level.
func Want(latches latch.Latches, decisions []policy.Decision, all bool, now time.Time) (wanted []checkpoint.Change) {
	var asking []policy.Decision
	review := map[workload.ID]bool{}
	for _, d := range decisions {
		reviewed := d.Verdict == policy.Review
		if reviewed || all && d.Crosses() {
			review[d.ID] = review[d.ID] || reviewed
			d.From = latches.Get(d.ID).Effective().Declared
			asking = append(asking, d)
		}
	}
	by := map[workload.ID]checkpoint.Change{}
	for _, c := range policy.Changes(asking) {
		c.From = latches.Get(c.ID).Declared
		by[c.ID] = c
	}
	for _, c := range Changes(latches) {
		next, asked := by[c.ID]
		l := latches.Get(c.ID)
		switch {
		case l.OptedOut, now.Before(l.PausedUntil):
			delete(by, c.ID)
		case now.Before(l.GraceUntil) && !(l.GraceScale && asked): // with GraceScale, the edit grace period covers the level alone
			delete(by, c.ID)
		case asked && review[c.ID] && !next.To.IsZero() && c.To.Replicas > next.To.Replicas:
			next.To = next.To.WithScale(c.To)
			by[c.ID] = next
		case !asked && all:
			by[c.ID] = c
		}
	}
	maps.DeleteFunc(by, func(_ workload.ID, c checkpoint.Change) bool { return c.From == c.To })
	return slices.SortedFunc(maps.Values(by), byWorkload)
}

// Crossings returns changes as decisions, with the reasons of the given decisions if they
// have the same subject.
func Crossings(changes []checkpoint.Change, decisions []policy.Decision) (crossings []policy.Decision) {
	reasons := lists.Index(decisions, policy.Decision.Subject)
	add := func(c checkpoint.Change, of policy.Reading) {
		d := reasons[policy.Subject{ID: c.ID, Reading: of}]
		d.ID = c.ID
		d.Reading = of
		d.From = c.From
		d.To = c.To
		crossings = append(crossings, d)
	}
	for _, c := range changes {
		rolloutChanges := c.From.Rollout != c.To.Rollout && (!c.To.IsZero() || c.From.Replicas == 0)
		if c.From.WithRollout(c.To.Rollout) != c.To || !rolloutChanges {
			add(c, policy.ReadingScale)
		}
		if rolloutChanges {
			add(c, policy.ReadingRollout)
		}
	}
	return crossings
}

// Line returns a decision in the form of a commit message.
func Line(d policy.Decision) ledger.Crossing {
	return ledger.Crossing{ID: d.ID, Rollout: d.Reading == policy.ReadingRollout, From: d.From, To: d.To, Text: d.Text}
}

// Merged returns the number of proposed changes that users merged, squashed or not, and
// that the base still has.
func Merged(changes, merged []checkpoint.Change, base map[workload.ID]checkpoint.Entry) int {
	inBase := map[workload.ID]bool{}
	for _, m := range merged {
		inBase[m.ID] = inBase[m.ID] || m.To == base[m.ID]
	}
	return lists.Count(changes, func(c checkpoint.Change) bool { return inBase[c.ID] })
}
