package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The heartbeat in the file is from the last completed tick. A failed tick, a tick that
// found another one running, and a dry run do not change the file.
func TestATickWritesItsMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := w.path("gitlatch.prom")
	read := func() string {
		text, err := os.ReadFile(file)
		must(t, err)
		return string(text)
	}
	has := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			if text := read(); !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("no line %q in\n%s", line, text)
			}
		}
	}
	heartbeat := func(at time.Time) string {
		return fmt.Sprintf(`gitlatch_last_tick_timestamp_seconds{site="prod-eu"} %d`, at.Unix())
	}
	for range 3 {
		if got := w.tick("--metrics-file", file); got.status != 0 || got.err != "" {
			t.Fatalf("%+v", got)
		}
	}
	last := w.now.Add(-5 * time.Minute)
	has(heartbeat(last), `gitlatch_commits_total{site="prod-eu"} 1`, `gitlatch_workloads{site="prod-eu"} 6`)

	before := read()
	w.lease(t, "another run", w.now.Add(time.Minute))
	if got := w.run("tick", "--metrics-file", file); got.status != 0 || read() != before {
		t.Errorf("held: %+v\n%s", got, read())
	}
	w.now = w.now.Add(5 * time.Minute)
	if got := w.run("tick", "--dry-run", "--metrics-file", file); got.status != 2 || !strings.Contains(got.err, "specify only one of --metrics-file and --dry-run: a dry run writes nothing") || read() != before {
		t.Errorf("dry: %+v\n%s", got, read())
	}
	must(t, os.Rename(w.origin.Dir, w.origin.Dir+".away"))
	if got := w.tick("--metrics-file", file); got.status != 2 || read() != before {
		t.Errorf("failed: %+v\n%s", got, read())
	}
	must(t, os.Rename(w.origin.Dir+".away", w.origin.Dir))

	// A tick is complete even if parts of the cluster could not be listed.
	w.api.refuse["statefulsets"] = 403
	if got := w.run("tick", "--metrics-file", file); got.status != 1 {
		t.Errorf("unread: %+v", got)
	}
	has(heartbeat(w.now), `gitlatch_unlisted_resources{site="prod-eu"} 1`, `gitlatch_commits_total{site="prod-eu"} 1`)

	got := w.tick("--metrics-file", w.path("nowhere/gitlatch.prom"))
	if got.status != 2 || !strings.Contains(got.err, "write metrics to "+w.path("nowhere/gitlatch.prom")) || !strings.Contains(got.out, "no commit: statefulsets could not be listed") {
		t.Errorf("no folder: %+v", got)
	}
}

// The score of a drill is in a separate file, for a pass and for a failure.
func TestADrillWritesItsMetrics(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	file := w.path("gitlatch-drill.prom")
	if got := w.run("drill", "--metrics-file", file); got.status == 2 {
		t.Fatalf("%+v", got)
	}
	text, err := os.ReadFile(file)
	must(t, err)
	for _, name := range []string{"gitlatch_drill_coverage_ratio", "gitlatch_drill_below_target"} {
		if !strings.Contains(string(text), "\n"+name+`{site="prod-eu"} `) {
			t.Errorf("no %s in\n%s", name, text)
		}
	}
}
