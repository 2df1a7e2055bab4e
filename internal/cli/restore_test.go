package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/restore"
)

// small returns a world whose cluster started with few replicas, with the earlier levels
// in git.
func small(t *testing.T) *world {
	t.Helper()
	w := settled(t)
	for _, p := range w.api.workloads {
		p.desired, p.ready = 2, 2
	}
	w.api.workloads["shop/deployment/cart"].desired = 0
	w.api.workloads["shop/deployment/web"].most = 40
	delete(w.api.workloads, "pay/statefulset/ledger")
	return w
}

func TestARestoreShowsItsPlanAndWritesNothing(t *testing.T) {
	t.Parallel()
	w := small(t)
	got := w.run("restore")
	golden(t, "restore.txt", got.out)
	if shown := strings.ReplaceAll(strings.TrimSpace(got.out), "\n", "\n    "); !strings.Contains(docs.Text("restore"), "\n    "+shown+"\n") {
		t.Errorf("topic restore does not show\n%s", shown)
	}
	for line := range strings.Lines(got.out) {
		if n := len(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if got.status != 0 || !strings.Contains(got.err, "cluster 1f0c-blue at "+w.api.URL) {
		t.Errorf("status %d, said %s", got.status, got.err)
	}
	for name, p := range w.api.workloads {
		if p.desired > 2 {
			t.Errorf("%s was raised to %d", name, p.desired)
		}
	}
	lines := w.run("restore", "-o", "json", "-n", "shop", "--factor", "0.5")
	var d restore.Report
	if err := json.Unmarshal([]byte(lines.out), &d); err != nil || lines.status != 0 {
		t.Fatalf("%+v %v", lines, err)
	}
	if got := fmt.Sprint(d.Waves); got != "[{priority 0 [{shop/deployment/api 2 25 50 false []} {shop/deployment/web 2 40 100 true []}] 0}]" || !d.DryRun {
		t.Errorf("waves %s", got)
	}
}

func TestARestoreRaisesWithYes(t *testing.T) {
	t.Parallel()
	w := small(t)
	w.api.workloads["shop/deployment/web"].most = 0 // no autoscaler
	got := w.run("restore", "shop/web", "--yes")
	if n := w.api.workloads["shop/deployment/web"].desired; n != 100 || got.status != 0 {
		t.Errorf("web asks for %d: %+v", n, got)
	}
	if !strings.Contains(got.err, "shop/deployment/web: 2 -> 100") || !strings.HasSuffix(got.out, "raised 1 of 1 workload, and set 0 brakes\n") {
		t.Errorf("said %s and %s", got.err, got.out)
	}
	again := w.run("restore", "shop/web", "--yes")
	if again.status != 0 || !strings.HasSuffix(again.out, "  no autoscaler\nThe restore raised no workload, and set 0 brakes; already at the level or above: 1 workload\n") {
		t.Errorf("again: %+v", again)
	}
}

func TestARestoreSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := small(t)
	for _, c := range []struct{ args, want string }{
		{"--factor 0", "--factor: must be above 0 and at most 1, got 0. For more pods, raise the level"},
		{"--factor 1.5", "must be a share such as 10% or 0.1, got 1.5"},
		{"-n Bad_NS", `namespace "Bad_NS": must be a DNS label`},
		{"--factor NaN", `must be a share such as 10% or 0.1, got "NaN"`},
		{"--wait", "--wait requires --yes"},
		{"--wait=ten --yes", "must be a duration such as 5m, 26h or 8d"},
		{"--brake 1s", "--brake: must be from 1m to 168h, got 1s"},
		{"--brake 168h0m1s", "--brake: must be from 1m to 168h, got 168h0m1s: a brake blocks each scale-down of its autoscaler"},
		{"--brake 99999h --factor 0", "--brake: must be from 1m to 168h"},
		{"-o html", "must be one of table, json, yaml"},
		{"-n shop wep", "the site has no workload with this name; there are shop/api"},
		{"shopp pay/ledger", `namespace "shopp": the site has no workload in it; there are the namespaces pay, shop`},
		{"shop/wep", "the site has no workload with this name; there are shop/api, shop/cart, shop/web"},
		{"--release=old", `--release: must be all or expired, got "old"`},
		{"--release expired", "--release covers all autoscalers of the cluster. Remove the targets, and write a value as --release=expired"},
		{"--release -n shop", "--release covers all autoscalers"},
		{"--release --wait --yes", "--wait: only a raise waits"},
	} {
		got := w.run(append([]string{"restore"}, strings.Fields(c.args)...)...)
		if got.status != 2 || !strings.Contains(got.err, c.want) {
			t.Errorf("%s: %+v, want %s", c.args, got, c.want)
		}
	}
	w.api.refuse["priorityclasses"] = 403
	if got := w.run("restore"); got.status != 2 || !strings.Contains(got.err, `priorityclasses: user "ci" gets 403`) {
		t.Errorf("forbidden: %+v", got)
	}
	w.api.Close()
	if got := w.run("restore", "--release"); got.status != 2 || !strings.Contains(got.err, "reach the API server at "+w.api.URL) || !strings.Contains(got.err, "hint: ") {
		t.Errorf("down: %+v", got)
	}
}

func TestAReleaseThatHasNothingToDoSaysSo(t *testing.T) {
	t.Parallel()
	w := small(t)
	if got := w.run("restore", "--release"); got.status != 0 || got.out != "no brake to release.\nNothing was written. To make these changes, run the command again with --yes.\n" {
		t.Errorf("%+v", got)
	}
}
