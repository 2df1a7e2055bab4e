package anomaly

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// effect states the pods of a rebuild by the level in git after the tick, and why it is that
// level if this needs a reason.
func (c *candidate) effect() string {
	d := c.decision
	inGit := level(c.latch.Declared)
	_, proposed := c.latch.Change()
	for _, w := range []struct {
		applies bool
		words   string
	}{
		{d.Crosses() && c.latch.Declared.WithRollout(d.To.Rollout) == d.To, ". This tick set the level"},
		{proposed, ". A pull request proposes a new level"},
		{d.Crosses(), ". A level change could not be committed"},
		{d.Reason == policy.ReasonReport, ". The level does not change, because the policy of the workload only reports"},
		{d.Verdict == policy.Frozen, ". The level does not change: " + d.Text},
	} {
		if w.applies {
			return inGit + w.words
		}
	}
	return inGit
}

// level states the pods of a rebuild by the level of an entry. The zero entry has no level.
func level(e checkpoint.Entry) string {
	if e.Replicas == 0 {
		return "git has no level for the workload, so a rebuild uses the replicas in its manifest (default 1)"
	}
	return fmt.Sprintf("a rebuild starts the workload with %s, its level in git", term.Count(e.Replicas, "pod"))
}

// fixOf returns the fix of a rule for a workload. {key} is the entry of the workload in {file}.
func (l *Look) fixOf(fix string, id workload.ID) string {
	return strings.NewReplacer(
		"{site}", l.Site, "{namespace}", id.Namespace, "{workload}", string(id.Kind)+"/"+id.Name,
		"{file}", checkpoint.RecordPath(l.Site, id.Namespace), "{key}", string(id.Kind)+"."+id.Name,
		"{level}", strconv.Itoa(int(l.Latches.Get(id).Declared.Replicas)),
	).Replace(fix)
}

// span states how long an episode has lasted: "since 2026-03-02T08:00:00Z, for 2h".
func (c *candidate) span(was *latch.Episode) string {
	if was == nil || !was.Since.Before(c.Now) {
		return "since now"
	}
	return fmt.Sprintf("since %s, for %s", instant(was.Since), policy.Span(c.Now.Sub(was.Since)))
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }
