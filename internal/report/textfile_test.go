package report

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// scrape reads a file as strictly as Prometheus' text format is defined: for each
// metric its HELP, its TYPE and its one series, in this order, each once.
func scrape(path, site string) (map[string]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(string(text), "\n") {
		return nil, fmt.Errorf("the last line does not end: %q", text)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines)%3 != 0 {
		return nil, fmt.Errorf("%d lines", len(lines))
	}
	series := regexp.MustCompile(`^([a-z_]+)\{site="((?:[^"\\\n]|\\\\|\\"|\\n)*)"\} ([0-9]+(?:\.[0-9]+)?)$`)
	found := map[string]float64{}
	for i := 0; i < len(lines); i += 3 {
		m := series.FindStringSubmatch(lines[i+2])
		if m == nil {
			return nil, fmt.Errorf("no series: %q", lines[i+2])
		}
		name := m[1]
		if got := strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(m[2]); got != site {
			return nil, fmt.Errorf("%s is of site %q", name, got)
		}
		kind := "gauge"
		if strings.HasSuffix(name, "_total") {
			kind = "counter"
		}
		if help := "# HELP " + name + " "; !strings.HasPrefix(lines[i], help) || len(lines[i]) == len(help) {
			return nil, fmt.Errorf("no help of %s: %q", name, lines[i])
		}
		if lines[i+1] != "# TYPE "+name+" "+kind {
			return nil, fmt.Errorf("no type of %s: %q", name, lines[i+1])
		}
		if _, twice := found[name]; twice {
			return nil, fmt.Errorf("%s stands there twice", name)
		}
		if found[name], err = strconv.ParseFloat(m[3], 64); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// scraped writes a report to the file, and reads it back.
func scraped(t *testing.T, path string, r tick.Report, now time.Time) map[string]float64 {
	t.Helper()
	if err := WriteTextfile(path, r, now); err != nil {
		t.Fatal(err)
	}
	got, err := scrape(path, r.Site)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestATextfileHasStatesAsTheyAreAndEventsCountedOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gitlatch.prom")
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	busy := tick.Report{
		Site: "prod-eu", At: noon, UnpublishedSince: noon.Add(-90 * time.Minute),
		Unread:     []workload.Unread{{Part: "scaledobjects", Why: "forbidden"}},
		Conditions: []alert.Condition{{Kind: alert.Blocked}},
		Decisions:  []policy.Decision{{ID: web, Verdict: policy.Cross, Count: 180}},
		Commit:     &tick.Commit{},
	}
	want := map[string]float64{
		"gitlatch_heartbeat_timestamp_seconds": float64(noon.Unix()) + .25, "gitlatch_workloads": 1, "gitlatch_crossings_total": 1,
		"gitlatch_frozen": 0, "gitlatch_commits_total": 1, "gitlatch_push_failures_total": 1, "gitlatch_unread": 1,
		"gitlatch_under_declared_pods": 180, "gitlatch_checkpoint_age_seconds": 5400,
	}
	if got := scraped(t, path, busy, noon.Add(250*time.Millisecond)); !maps.Equal(got, want) {
		t.Errorf("first: %v, want %v", got, want)
	}
	scraped(t, path, busy, noon)
	quiet := tick.Report{Site: "prod-eu", At: noon, Decisions: []policy.Decision{{ID: web, Verdict: policy.Frozen}}}
	want = map[string]float64{
		"gitlatch_heartbeat_timestamp_seconds": float64(noon.Unix()) + 300, "gitlatch_workloads": 1, "gitlatch_crossings_total": 2,
		"gitlatch_frozen": 1, "gitlatch_commits_total": 2, "gitlatch_push_failures_total": 2, "gitlatch_unread": 0,
		"gitlatch_under_declared_pods": 0, "gitlatch_checkpoint_age_seconds": 0,
	}
	if got := scraped(t, path, quiet, noon.Add(5*time.Minute)); !maps.Equal(got, want) {
		t.Errorf("third: %v, want %v", got, want)
	}
	for name, content := range map[string]string{
		"another site's": "gitlatch_commits_total{site=\"prod-us\"} 7\n",
		"half a file":    "gitlatch_commits_total{site=\"prod-eu\"}",
		"no number":      "gitlatch_commits_total{site=\"prod-eu\"} many\n",
		"no count":       "gitlatch_commits_total{site=\"prod-eu\"} +Inf\n",
		"under zero":     "gitlatch_commits_total{site=\"prod-eu\"} -5\n",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := scraped(t, path, busy, noon)["gitlatch_commits_total"]; got != 1 {
			t.Errorf("after %s: %v commits", name, got)
		}
	}
}

func TestATextfileEscapesItsLabel(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gitlatch.prom")
	r := tick.Report{Site: "a\"} 1\n\\n", Commit: &tick.Commit{}}
	scraped(t, path, r, noon)
	if got := scraped(t, path, r, noon)["gitlatch_commits_total"]; got != 2 {
		t.Errorf("%v commits", got)
	}
}

// Whoever reads the file while it is replaced, by name or by a handle that was
// open before, reads one of the two whole.
func TestATextfileIsReplacedInOneStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "gitlatch.prom")
	r := tick.Report{Site: "prod-eu", Commit: &tick.Commit{}}
	scraped(t, path, r, noon)
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	scraped(t, path, r, noon)
	held := make([]byte, len(first)+1)
	if n, _ := old.Read(held); string(held[:n]) != string(first) {
		t.Errorf("a handle that was open reads %q", held[:n])
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside it: %v %v", entries, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("the collector cannot read it: %v %v", info.Mode(), err)
	}
}

func TestATextfileThatCannotBeWrittenLeavesWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := tick.Report{Site: "prod-eu"}
	if err := WriteTextfile(filepath.Join(dir, "gone", "a.prom"), r, noon); err == nil || !strings.Contains(err.Error(), "write metrics to ") {
		t.Errorf("no folder: %v", err)
	}
	if err := WriteTextfile(dir, r, noon); err == nil || !strings.Contains(err.Error(), "read the metrics of the last tick") {
		t.Errorf("a folder in its place: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left: %v %v", entries, err)
	}
}

// The rules that the handbook proposes are about metrics that there are, and each
// metric is in its table.
func TestTheHandbookNamesTheMetricsThatAreWritten(t *testing.T) {
	t.Parallel()
	text := docs.Text("metrics")
	written := map[string]bool{}
	for _, m := range Metrics() {
		name, _ := m.pulled()
		written[name] = true
		if row := fmt.Sprintf("\n| `%s` | `%s` | ", m.Name, name); !strings.Contains(text, row) {
			t.Errorf("the handbook has no row %s", row)
		}
	}
	named := regexp.MustCompile(`\bgitlatch_[a-z_]+`).FindAllString(text, -1)
	if len(named) == 0 {
		t.Error("it names none")
	}
	for _, name := range named {
		if !written[name] {
			t.Errorf("no tick writes %s", name)
		}
	}
}
