package law

import (
	"fmt"
	"math"
)

// overpays returns a text if the budget paid for more pushes than there were: twice for
// one commit, or for commits that users merged.
func overpays(s *Seen) string {
	for _, c := range s.New {
		if c.By == ours {
			s.Witness.owed++
		}
	}
	if c := s.Told.Commit; c != nil && s.known[c.ID].ID == "" {
		s.Witness.owed++ // a user removed it from the branch in the same tick
	}
	pushed := s.World.Proposed - s.proposed
	if was, is := s.Before.Head.Proposal, s.After.Head.Proposal; is != nil && (was == nil || was.ID != is.ID) {
		pushed = max(1, pushed) // proposed again with the same commit
	}
	s.Witness.owed, s.Witness.proposed = s.owed+pushed, s.World.Proposed
	before, after := s.Before.Head.Budget, s.After.Head.Budget
	if before.At.IsZero() || after == before {
		return ""
	}
	perDay := float64(s.Told.Set.Guards.CommitsPerDay)
	earned := max(0, after.At.Sub(before.At).Hours()/24*perDay)
	paid := min(max(1, perDay/4), before.Tokens+earned) - after.Tokens
	if paid > float64(s.owed)+0.001 {
		return fmt.Sprintf("%.2f commits were paid for, and %d pushed", paid, s.owed)
	}
	s.Witness.owed = max(0, s.owed-int(math.Round(paid)))
	return ""
}
