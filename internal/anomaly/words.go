package anomaly

import (
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// effect states the level in git after the tick, and why it is that level if this needs a
// reason.
func (c *candidate) effect() string {
	d := c.decision
	inGit := level(c.latch.Declared)
	_, proposed := c.latch.Change()
	for _, w := range []struct {
		applies bool
		words   string
	}{
		{d.Crosses() && c.latch.Declared.WithRollout(d.To.Rollout) == d.To, ", set by this tick"},
		{proposed, ", and a pull request proposes another"},
		{d.Crosses(), ", because its level change could not be committed"},
		{d.Reason == policy.ReasonReport, ", because its policy only reports"},
		{d.Verdict == policy.Frozen, ": " + d.Text},
	} {
		if w.applies {
			return inGit + w.words
		}
	}
	return inGit
}

// level states the level of an entry. The zero entry has no level.
func level(e checkpoint.Entry) string {
	if e.Replicas == 0 {
		return "git has no level for it"
	}
	return fmt.Sprintf("its level in git is %d", e.Replicas)
}

// span states how long an episode has lasted: "since 2026-03-02T08:00:00Z, for 2h".
func (c *candidate) span(was *latch.Episode) string {
	if was == nil || !was.Since.Before(c.Now) {
		return "since now"
	}
	return fmt.Sprintf("since %s, for %s", instant(was.Since), policy.Span(c.Now.Sub(was.Since)))
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
