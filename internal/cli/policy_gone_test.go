package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// bereft returns a settled world whose branch lost its policy file in a bad merge.
func bereft(t *testing.T) *world {
	t.Helper()
	w := settled(t)
	last := w.origin.Tip("main")
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": gitserver.Removed}, "a bad merge")
	w.origin.Push(t, "main", map[string]string{"apps/web.yaml": "kind: Deployment # moved on\n"}, "go on")
	if last == w.origin.Tip("main") {
		t.Fatal("nothing was removed")
	}
	return w
}

// A command that reads no state reads the last version of the policy from git's
// history, and reports that. With the default policy, diff would find no difference.
func TestCommandsReadTheLastVersionOfARemovedPolicy(t *testing.T) {
	t.Parallel()
	w := bereft(t)
	w.set("shop/deployment/web", 150)
	const gone = "gitlatch.yaml is gone from the branch: its last version is used, of commit "
	past := file(t, "past.csv", pastScale())
	for _, args := range [][]string{{"diff"}, {"diff", "-o", "json"}, {"doctor"}, {"init", "--dry-run"}, {"init", "--dry-run", "-o", "rbac"}, {"backtest", past, "--config", w.path("config.yaml")}} {
		got := w.run(args...)
		if !strings.Contains(got.err, gone) || !strings.Contains(got.err, "mode: observe") {
			t.Errorf("%q does not report it: %+v", args, got)
		}
	}
	if got := w.run("diff", "-o", "json"); !strings.Contains(got.out, `"mode": "latch"`) || got.status != 1 {
		t.Errorf("diff does not use it: %+v", got)
	}
	if got := w.run("init", "--dry-run"); !strings.Contains(got.out, "--- gitlatch.yaml\n"+latching) {
		t.Errorf("init does not restore it: %+v", got)
	}
	if got := w.run("diff", "--tree", w.path("nothing")); strings.Contains(got.err, gone) {
		t.Errorf("a folder has no history: %+v", got)
	}

	// Without a state, a dry run and a drill also read it.
	if err := os.Remove(w.path("state/latch.db")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"tick", "--dry-run"}, {"drill"}} {
		got := w.run(args...)
		if all := got.out + got.err; !strings.Contains(all, "gitlatch.yaml is gone from the branch") || strings.Contains(all, "in mode observe") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := w.run("tick", "--dry-run"); !strings.Contains(got.out, "150 rounds to 200: sample 1 of 2") {
		t.Errorf("a dry run does not use it: %+v", got)
	}
}

// A site that observes while git has entries reports that.
func TestStatusShowsEntriesOfASiteThatObserves(t *testing.T) {
	t.Parallel()
	w := settled(t)
	const words = "observe (entries in git that are not updated: 4)"
	if got := w.run("status"); !strings.Contains(got.out, "mode latch\n") || strings.Contains(got.out, "entries in git") {
		t.Errorf("latching: %+v", got)
	}
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": strings.Replace(latching, "mode: latch", "mode: observe", 1)}, "stop")
	w.tick()
	if got := w.run("status"); got.status != 0 || !strings.Contains(got.out, words) {
		t.Errorf("observing: %+v", got)
	}
	if got := w.run("status", "-o", "json"); !strings.Contains(got.out, `"entries": 4`) {
		t.Errorf("observing: %+v", got)
	}
	fresh := newWorld(t)
	fresh.origin.Push(t, "main", map[string]string{"gitlatch.yaml": gitserver.Removed}, "none yet")
	fresh.tick()
	if got := fresh.run("status"); !strings.Contains(got.out, "mode observe\n") {
		t.Errorf("without entries: %+v", got)
	}
}
