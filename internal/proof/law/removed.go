package law

import (
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// atOnce returns a text if a user's commit opted workloads out although it removed many
// entries of live workloads, for the first time.
func atOnce(s *Seen) string {
	if !s.Calm || s.Told.Stop.Reason == policy.ReasonSecond {
		return ""
	}
	window, descends := s.window(s.After.Tip, s.Before.Head.Agreed.Tip)
	if !descends {
		return ""
	}
	last, times := map[workload.ID]string{}, map[workload.ID]int{}
	for _, c := range window {
		for _, change := range c.Changes {
			last[change.ID] = c.ID
			if change.To.IsZero() {
				times[change.ID]++
			}
		}
	}
	for _, c := range window {
		gone := s.removedBy(c)
		// An entry that a user removed, restored and removed again may count with either commit.
		gone = slices.DeleteFunc(gone, func(id workload.ID) bool { return last[id] != c.ID || times[id] > 1 })
		if !s.manyAtOnce(c, gone) {
			continue
		}
		for _, id := range gone {
			if s.After.Latches[id].OptedOut && !s.Before.Latches[id].OptedOut {
				return fmt.Sprintf("%s removed %d entries at once, and %s is opted out", c.ID, len(gone), id)
			}
		}
	}
	return ""
}

// removedBy returns the live workloads whose level a user's commit removed for the first
// time. It skips an entry that the product cannot know: its checkpoint file was broken before,
// and its latch has an earlier removal, which no longer counts.
func (s *Seen) removedBy(c Commit) (gone []workload.ID) {
	agreed, broken := s.at(s.Before.Head.Agreed.Tip), s.unread(s.Before.Head.Agreed.Tip)
	for _, change := range c.Changes {
		id := change.ID
		sample, runs := s.World.Fleet[id]
		runs = runs && judges(s.rule(sample), sample)
		again := s.Told.At.Before(s.removed[id])
		was := s.Before.Latches[id]
		lost := broken[id.Namespace] != nil && was.Declared.IsZero() && !s.Told.At.Before(was.RemovedUntil)
		if c.By == person && change.To.IsZero() && agreed[id].Replicas > 0 && runs && !again && !lost && !s.offered(c, change) {
			gone = append(gone, id)
		}
	}
	return gone
}

// manyAtOnce reports whether a commit removed enough entries to count as an edit.
func (s *Seen) manyAtOnce(c Commit, gone []workload.ID) bool {
	share := s.Told.Set.Guards.RetireShare * float64(len(s.at(s.Before.Head.Agreed.Tip)))
	files := s.World.Repository.Show(c.ID)
	whole := slices.ContainsFunc(gone, func(id workload.ID) bool {
		_, is := files[checkpoint.RecordPath(s.World.Site, id.Namespace)]
		return !is
	})
	return (len(gone) >= 3 || whole) && float64(len(gone)) > share
}

// noteRemoved remembers the entries whose removal was an edit: a second one opts out.
func (w *Witness) noteRemoved(s *Seen) {
	guards := s.Told.Set.Guards
	for _, n := range s.Told.Notices {
		if n.Kind != notes.Removed {
			continue
		}
		// A tick that died may have saved the latch.
		if id := story.ID(n.Subject); !s.After.Latches[id].RemovedUntil.IsZero() {
			w.removed[id] = s.Told.At.Add(guards.Yield + guards.RetireAfter)
		}
	}
}
