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
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// scrape parses a file strictly in Prometheus' text format. Each metric has its HELP, its
// TYPE and its series, in this order and only once. The names of the series include their
// labels, except for the site.
func scrape(path, site string) (map[string]float64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(string(text), "\n") {
		return nil, fmt.Errorf("the last line does not end: %q", text)
	}
	head := regexp.MustCompile(`^# HELP ([a-z_]+) .+\n# TYPE ([a-z_]+) (gauge|counter)\n`)
	series := regexp.MustCompile(`^([a-z_]+)\{site="((?:[^"\\\n]|\\\\|\\"|\\n)*)"((?:,[a-z]+="[-a-z]+")*)\} ([0-9]+(?:\.[0-9]+)?)\n`)
	found := map[string]float64{}
	for rest := string(text); rest != ""; {
		h := head.FindStringSubmatch(rest)
		if h == nil || h[1] != h[2] || (h[3] == "counter") != strings.HasSuffix(h[1], "_total") {
			return nil, fmt.Errorf("no help, or no type: %q", rest)
		}
		rest = rest[len(h[0]):]
		before := len(found)
		for m := series.FindStringSubmatch(rest); m != nil && m[1] == h[1]; m = series.FindStringSubmatch(rest) {
			if got := strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(m[2]); got != site {
				return nil, fmt.Errorf("%s is of site %q", m[1], got)
			}
			name := m[1] + m[3]
			if _, twice := found[name]; twice {
				return nil, fmt.Errorf("%s stands there twice", name)
			}
			if found[name], err = strconv.ParseFloat(m[4], 64); err != nil {
				return nil, err
			}
			rest = rest[len(m[0]):]
		}
		if len(found) == before {
			return nil, fmt.Errorf("no series of %s: %q", h[1], rest)
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
	alerts := 0
	for name, value := range maps.Clone(got) {
		if strings.HasPrefix(name, "gitlatch_open_alerts,") {
			alerts++
			if value == 0 {
				delete(got, name)
			}
		}
	}
	if alerts != len(alert.Kinds()) {
		t.Errorf("%d kinds of alerts", alerts)
	}
	return got
}

func TestATextfileHasStatesAsTheyAreAndEventsCountedOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gitlatch.prom")
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	busy := tick.Report{
		Site:    "prod-eu",
		Fleet:   workload.Fleet{At: noon, Unread: []workload.Unread{{Part: "scaledobjects", Why: "forbidden"}}},
		Notes:   tick.Notes{Conditions: []alert.Condition{{Kind: alert.Blocked}}},
		Decided: policy.Decided{Decisions: []policy.Decision{{ID: web, Verdict: policy.Cross, Count: 180}}},
		Commit:  &tick.Commit{},
	}
	busy.Head.UnpublishedSince = noon.Add(-90 * time.Minute)
	want := map[string]float64{
		"gitlatch_last_tick_timestamp_seconds": float64(noon.Unix()) + .25, "gitlatch_workloads": 1, "gitlatch_level_changes_total": 1,
		"gitlatch_frozen_workloads": 0, "gitlatch_commits_total": 1, "gitlatch_push_failures_total": 1, "gitlatch_unlisted_resources": 1,
		"gitlatch_missing_pods": 180, "gitlatch_pending_level_change_age_seconds": 5400,
		`gitlatch_open_alerts,kind="publishing-blocked",severity="critical"`: 1,
	}
	if got := scraped(t, path, busy, noon.Add(250*time.Millisecond)); !maps.Equal(got, want) {
		t.Errorf("first: %v, want %v", got, want)
	}
	scraped(t, path, busy, noon)
	quiet := tick.Report{Site: "prod-eu", Fleet: workload.Fleet{At: noon}, Decided: policy.Decided{Decisions: []policy.Decision{{ID: web, Verdict: policy.Frozen}}}}
	want = map[string]float64{
		"gitlatch_last_tick_timestamp_seconds": float64(noon.Unix()) + 300, "gitlatch_workloads": 1, "gitlatch_level_changes_total": 2,
		"gitlatch_frozen_workloads": 1, "gitlatch_commits_total": 2, "gitlatch_push_failures_total": 2, "gitlatch_unlisted_resources": 0,
		"gitlatch_missing_pods": 0, "gitlatch_pending_level_change_age_seconds": 0,
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

// A process that reads the file during a replacement, by name or with a handle that was
// open before, reads one of the two versions completely.
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

// A drill with an unknown coverage leaves it out of the file as well.
func TestADrillHasATextfileOfItsOwn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "gitlatch-drill.prom")
	for _, c := range []struct {
		fleet drill.Fleet
		want  map[string]float64
	}{
		{drill.Fleet{Coverage: new(.975)}, map[string]float64{"gitlatch_drill_coverage_ratio": .975, "gitlatch_drill_below_target": 1}},
		{drill.Fleet{Nothing: "nothing is asked"}, map[string]float64{"gitlatch_drill_below_target": 1}},
	} {
		if err := WriteDrillTextfile(path, drill.Document{Site: "prod-eu", Fleet: c.fleet}, noon); err != nil {
			t.Fatal(err)
		}
		if got, err := scrape(path, "prod-eu"); err != nil || !maps.Equal(got, c.want) {
			t.Errorf("got %v, want %v, error %v", got, c.want, err)
		}
	}
}

// Each metric in the handbook's rules exists, and each metric is in its table.
func TestTheHandbookNamesTheMetricsThatAreWritten(t *testing.T) {
	t.Parallel()
	text := docs.Text("metrics")
	written := map[string]bool{"gitlatch_open_alerts": true}
	for _, m := range Metrics() {
		written[m.Series] = true
		if row := fmt.Sprintf("\n| `%s` | `%s` | ", m.Name, m.Series); !strings.Contains(text, row) {
			t.Errorf("the handbook has no row %s", row)
		}
	}
	for _, m := range DrillMetrics() {
		written[m.Series] = true
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
