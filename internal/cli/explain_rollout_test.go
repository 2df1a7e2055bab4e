package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// What stands still has so long to get on; a policy that ignores rollouts says
// nothing of them.
func TestExplainSaysHowLongARolloutMadeNoProgress(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	since := latch.Stopwatch{Since: noon.Add(-20 * time.Minute), Lost: 14 * time.Minute}
	timer := latch.Rollout{Target: "db-2", Stopwatch: latch.Stopwatch{Since: noon.Add(-time.Hour)}, Progress: latch.Progress{Stopwatch: since}}
	said := func(mode policy.Mode, r *workload.Rollout) string {
		var b strings.Builder
		p := policy.Presets()["cope"]
		p.Rollout = mode
		explainProgress(func(topic, format string, args ...any) { fmt.Fprintf(&b, topic+": "+format+"\n", args...) }, p, r, timer, noon)
		return b.String()
	}
	seen := "timer: a rollout to db-2 seen for 1h\n: no more of its pods available for 6m; after 10m "
	for name, c := range map[string]struct {
		mode policy.Mode
		of   *workload.Rollout
		want string
	}{
		"unjudged": {policy.ModeLatch, &workload.Rollout{Unjudged: true}, seen + "it has failed\n"},
		"judged":   {policy.ModeLatch, &workload.Rollout{}, seen + "it is not in good health\n"},
		"halted":   {policy.ModeLatch, &workload.Rollout{Unjudged: true, Halted: "paused"}, seen + "it is not in good health\n"},
		"unread":   {policy.ModeLatch, nil, seen + "it is not in good health\n"},
		"ignored":  {policy.ModeIgnore, &workload.Rollout{Unjudged: true}, ""},
	} {
		if got := said(c.mode, c.of); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
