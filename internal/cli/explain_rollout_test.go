package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// explain shows the running timers of a rollout with their durations, and its entry. It
// makes no prediction.
func TestExplainSaysWhatIsKnownOfARollout(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	hour := latch.Stopwatch{Since: noon.Add(-time.Hour)}
	record := checkpoint.Entry{Rollout: checkpoint.Rollout{Milestone: 30, Phase: checkpoint.PhaseProgressing, Returns: checkpoint.SideFrom,
		From: checkpoint.Template{Hash: "db-1"}, To: checkpoint.Template{Hash: "db-2"}}}
	for name, c := range map[string]struct {
		of   latch.Latch
		want string
	}{
		"none":      {latch.Latch{}, ""},
		"in flight": {latch.Latch{Flight: &latch.Rollout{Target: "db-2", Flight: hour, Healthy: hour}}, "timer: the rollout has been in progress for 1h\ntimer: the rollout has been healthy for 1h\n"},
		"missing pods": {latch.Latch{Flight: &latch.Rollout{Target: "db-2", Flight: hour, Stalled: latch.Stopwatch{Since: noon.Add(-20 * time.Minute), Lost: 14 * time.Minute}}},
			"timer: the rollout has been in progress for 1h\ntimer: pods of db-2 are missing. No new pod became available for 6m\n"},
		"recorded": {latch.Latch{Declared: record}, "rollout: from template db-1 to db-2. In git: milestone 30 %, phase \"progressing\". A rebuild starts with template db-1.\n" +
			": If the rollout is healthy and at 50 % or more in two samples in a row, a rebuild starts with template db-2. If the rollout fails, or if the workload returns to its old template, a rebuild starts with template db-1. When the rollout is over, gitlatch removes the rollout entry.\n"},
	} {
		var b strings.Builder
		var lines term.Topics
		explanation{At: noon, of: tick.Report{Set: policy.DefaultSet()}, latch: c.of}.explainRollout(&lines)
		for _, l := range lines {
			fmt.Fprintf(&b, "%s: %s\n", l[0], l[1])
		}
		if got := b.String(); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}

// A pause and an edit grace period each have a command that ends them.
func TestExplainNamesTheWayOutOfAPauseAndAnEdit(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	for _, c := range []struct {
		reason, site policy.Reason
		want         string
	}{
		{policy.ReasonYield, policy.ReasonNone, ". To end the edit grace period now, run \"gitlatch adopt shop/web\"."},
		{policy.ReasonHold, policy.ReasonNone, ". To end the pause now, run \"gitlatch pause shop/web --until now\"."},
		{policy.ReasonHold, policy.ReasonHold, ". To end the pause now, run \"gitlatch pause --until now\"."},
		{policy.ReasonUnready, policy.ReasonNone, ""},
	} {
		var lines term.Topics
		explainDecision(&lines, policy.Decision{ID: web, Verdict: policy.Frozen, Reason: c.reason, Text: "why"}, policy.Stop{Reason: c.site})
		if _, got, _ := strings.Cut(lines[0][1], ": why"); got != c.want {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
	}
}
