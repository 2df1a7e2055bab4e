package read

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// The outcome of a proposal with head "a" depends on the head of its branch and on the
// host's state.
func TestWhatBecameOfAProposal(t *testing.T) {
	t.Parallel()
	open, merged, closed := repo.ProposalOpen, repo.ProposalMerged, repo.ProposalClosed
	for _, c := range []struct {
		says    string
		branch  string
		ours    bool // the branch's head, if it is another
		host    repo.ProposalState
		moved   bool // the base
		unread  bool
		closing string
		want    Outcome
	}{
		{"waits", "a", false, open, false, false, "", Open},
		{"pushed anew, by a tick that died", "b", true, open, false, false, "", Open},
		{"pushed to by a person", "b", false, open, false, false, "", Taken},
		{"its branch is gone", "", false, open, false, false, "", Closed},
		{"the host has none", "a", false, "", false, false, "", Unopened},
		{"the host has none, nor the branch", "", false, "", false, false, "", Unopened},
		{"the host has none, and a person the branch", "b", false, "", false, false, "", Taken},
		{"merged, and the base lags", "a", false, merged, false, false, "", Unseen},
		{"merged, and something is left", "", false, merged, true, false, "", Closed},
		{"merged, and a file is broken since", "", false, merged, true, true, "", Overtaken},
		{"merged after a tick had pushed it anew", "b", true, merged, true, false, "", Overtaken},
		{"merged, and pushed to by a person", "b", false, merged, true, false, "", Taken},
		{"closed", "a", false, closed, false, false, "", Closed},
		{"closed by gitlatch", "", false, closed, false, false, "a", Withdrawn},
		{"closed by a person, though gitlatch meant to close another", "a", false, closed, false, false, "z", Closed},
		{"closed by gitlatch, and pushed to by a person", "b", false, closed, false, false, "a", Taken},
	} {
		seen := Seen{Branch: c.branch, Ours: c.ours, BaseMoved: c.moved, Unread: c.unread}
		if c.host != "" {
			seen.Host = &repo.Proposal{State: c.host, Head: "a"}
		}
		if got := Judge(latch.Proposal{Head: "a", Closing: c.closing}, seen); got != c.want {
			t.Errorf("%s: %s, want %s", c.says, got, c.want)
		}
	}
}
