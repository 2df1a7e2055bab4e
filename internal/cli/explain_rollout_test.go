package cli

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// What stands still has so long to get on; a policy that ignores rollouts says
// nothing of them.
func TestExplainSaysHowLongARolloutMadeNoProgress(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	since := latch.Stopwatch{Since: noon.Add(-20 * time.Minute), Lost: 14 * time.Minute}
	timer := latch.Rollout{Target: "db-2", Stopwatch: latch.Stopwatch{Since: noon.Add(-time.Hour)}, Lack: latch.Lack{Stopwatch: since}}
	said := func(mode policy.Mode) string {
		var b strings.Builder
		p := policy.Presets()["cope"]
		p.Rollout = mode
		explainProgress(func(topic, format string, args ...any) { fmt.Fprintf(&b, topic+": "+format+"\n", args...) }, p, timer, noon)
		return b.String()
	}
	want := "timer: a rollout to db-2 seen for 1h\n: no more of its pods available for 6m; after 10m it has failed\n"
	if got := said(policy.ModeLatch); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := said(policy.ModeIgnore); got != "" {
		t.Errorf("%q", got)
	}
}
