package law

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/policy"
)

// users reports a change of a user's rollout entry within the edit grace period, and a
// change of a minimum or maximum although the policy does not latch them.
func users(s *Seen) string {
	asked := slices.Clone(s.Asked)
	for i, change := range asked {
		asked[i].From = s.After.Entries[change.ID]
	}
	for _, change := range slices.Concat(s.changes(), asked) {
		from, to := change.From, change.To
		was := s.Before.Latches[change.ID].Proposed() // a proposal stays unchanged until its level changes
		same := from.Min == to.Min && from.Max == to.Max || was.Min == to.Min && was.Max == to.Max
		for _, sample := range s.Told.Samples {
			if !same && sample.ID == change.ID && from.Replicas > 0 && to.Replicas > 0 && s.rule(sample).Bounds != policy.ModeLatch {
				return fmt.Sprintf("the minimum and maximum of %s went from %d and %d to %d and %d", change.ID, from.Min, from.Max, to.Min, to.Max)
			}
		}
	}
	if s.open > 0 {
		return "" // the enclosing tick states how much it could read
	}
	undone := s.Witness.undone
	s.Witness.undone = nil
	return strings.Join(undone, "; ")
}
