package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// pushes is a server that takes pushes like a Pushgateway and shows no metrics. Package
// incluster tests a real Pushgateway.
type pushes struct {
	url string

	mu   sync.Mutex
	last map[string]string // the last push by its path
	n    int
}

func startPushes(t *testing.T) *pushes {
	p := &pushes{last: map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.Method == http.MethodPut {
			p.last[r.URL.Path] = string(body)
			p.n++
		}
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// has checks the number of pushes so far, and the lines in the last push of a job.
func (p *pushes) has(t *testing.T, n int, job string, lines ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n != n {
		t.Errorf("%d pushes, want %d", p.n, n)
	}
	text := p.last["/metrics/job/"+job+"/site/prod-eu"]
	for _, line := range lines {
		if !strings.Contains(text, "\n"+line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
}

// The pushed heartbeat is from the last completed tick. A failed tick, a tick that found
// another one running, and a dry run push nothing.
func TestATickPushesItsMetrics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := startPushes(t)
	heartbeat := func(at time.Time) string {
		return fmt.Sprintf("gitlatch_last_tick_timestamp_seconds{site=\"prod-eu\"} %d\n", at.Unix())
	}
	for range 3 {
		if got := w.tick("--pushgateway", p.url); got.status != 0 || got.err != "" {
			t.Fatalf("%+v", got)
		}
	}
	last := w.now.Add(-5 * time.Minute)
	p.has(t, 3, "gitlatch", heartbeat(last), "gitlatch_workloads{site=\"prod-eu\"} 6\n",
		`gitlatch_level_pods{site="prod-eu",namespace="shop",kind="deployment",name="web"} `)

	w.lease(t, "another run", w.now.Add(time.Minute))
	if got := w.run("tick", "--pushgateway", p.url); got.status != 0 {
		t.Errorf("held: %+v", got)
	}
	w.now = w.now.Add(5 * time.Minute)
	if got := w.run("tick", "--dry-run", "--pushgateway", p.url); got.status != 2 || !strings.Contains(got.err, "specify only one of --pushgateway and --dry-run: a dry run writes nothing") {
		t.Errorf("dry: %+v", got)
	}
	away := w.origin.Dir + ".away"
	must(t, os.Rename(w.origin.Dir, away))
	if got := w.tick("--pushgateway", p.url); got.status != 2 {
		t.Errorf("failed: %+v", got)
	}
	must(t, os.Rename(away, w.origin.Dir))
	p.has(t, 3, "gitlatch", heartbeat(last))

	// A tick is complete even if parts of the cluster could not be listed.
	w.api.refuse["statefulsets"] = 403
	if got := w.run("tick", "--pushgateway", p.url); got.status != 1 {
		t.Errorf("unread: %+v", got)
	}
	p.has(t, 4, "gitlatch", heartbeat(w.now), "gitlatch_unlisted_resources{site=\"prod-eu\"} 1\n")

	got := w.tick("--pushgateway", "http://127.0.0.1:1")
	if got.status != 2 || !strings.Contains(got.err, "read the counters from the Pushgateway: ") || !strings.Contains(got.out, "no commit: statefulsets could not be listed") {
		t.Errorf("no Pushgateway: %+v", got)
	}
	if got := w.run("tick", "--pushgateway", "pushgateway:9091"); got.status != 2 || !strings.Contains(got.err, "must be the URL of a Pushgateway, such as http://pushgateway:9091") {
		t.Errorf("no URL: %+v", got)
	}
}

// The metrics of a drill have a separate job, for a pass and for a failure.
func TestADrillPushesItsMetrics(t *testing.T) {
	t.Parallel()
	w := keeping(t)
	p := startPushes(t)
	if got := w.run("drill", "--pushgateway", p.url); got.status == 2 {
		t.Fatalf("%+v", got)
	}
	p.has(t, 1, "gitlatch-drill", `gitlatch_drill_coverage_ratio{site="prod-eu"} `, `gitlatch_drill_below_target{site="prod-eu"} `)
}
