package report

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/tick/publish"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// scrape parses metrics strictly in Prometheus' text format. Each metric has its HELP, its
// TYPE and its series, in this order and only once. The names of the series include their
// labels, except for the site.
func scrape(text, site string) (map[string]float64, error) {
	if !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line does not end: %q", text)
	}
	head := regexp.MustCompile(`^# HELP ([a-z_]+) .+\n# TYPE ([a-z_]+) (gauge|counter)\n`)
	series := regexp.MustCompile(`^([a-z_]+)\{site="((?:[^"\\\n]|\\\\|\\"|\\n)*)"((?:,[a-z]+="[-.A-Za-z0-9]+")*)\} ([0-9]+(?:\.[0-9]+)?)\n`)
	found := map[string]float64{}
	for rest := text; rest != ""; {
		h := head.FindStringSubmatch(rest)
		if h == nil || h[1] != h[2] || (h[3] == "counter") != strings.HasSuffix(h[1], "_total") {
			return nil, fmt.Errorf("no help, or no type: %q", rest)
		}
		rest = rest[len(h[0]):]
		for m := series.FindStringSubmatch(rest); m != nil && m[1] == h[1]; m = series.FindStringSubmatch(rest) {
			if got := strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(m[2]); got != site {
				return nil, fmt.Errorf("%s is of site %q", m[1], got)
			}
			name := m[1] + m[3]
			if _, twice := found[name]; twice {
				return nil, fmt.Errorf("the text has %s twice", name)
			}
			value, err := strconv.ParseFloat(m[4], 64)
			if err != nil {
				return nil, err
			}
			found[name] = value
			rest = rest[len(m[0]):]
		}
	}
	return found, nil
}

// A gateway shows the metrics that were written to it, with the labels that a Pushgateway
// adds.
type gateway string

// write writes a report, and returns the metrics in it without the alerts that are not
// open.
func (g *gateway) write(t *testing.T, r tick.Report, now time.Time) map[string]float64 {
	t.Helper()
	next := &text{job: tickJob, site: r.Site, before: string(*g)}
	next.tick(r, now)
	got, err := scrape(next.String(), r.Site)
	if err != nil {
		t.Fatal(err)
	}
	*g = gateway(strings.ReplaceAll(next.String(), "{site=", `{instance="",job="gitlatch",site=`))
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

func TestAPushHasTheStateAndCountsEvents(t *testing.T) {
	t.Parallel()
	var g gateway
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	fresh := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "fresh"} // without an entry
	busy := tick.Report{
		Site:    "prod-eu",
		Fleet:   workload.Fleet{At: noon, Unread: []workload.Unread{{Part: "scaledobjects", Why: "forbidden"}}},
		Notes:   notes.Notes{Conditions: []alert.Condition{{Kind: alert.Blocked}}},
		Decided: policy.Decided{Decisions: []policy.Decision{{ID: web, Verdict: policy.Cross, Count: 180}}},
		Commit:  &publish.Commit{},
	}
	busy.Head.UnpublishedSince = noon.Add(-90 * time.Minute)
	want := map[string]float64{
		"gitlatch_last_tick_timestamp_seconds": float64(noon.Unix()) + .25, "gitlatch_workloads": 1, "gitlatch_level_changes_total": 1,
		"gitlatch_frozen_workloads": 0, "gitlatch_commits_total": 1, "gitlatch_push_failures_total": 1, "gitlatch_unlisted_resources": 1,
		"gitlatch_missing_pods": 180, "gitlatch_pending_level_change_age_seconds": 5400,
		`gitlatch_open_alerts,kind="publishing-blocked",severity="critical"`: 1,
	}
	if got := g.write(t, busy, noon.Add(250*time.Millisecond)); !maps.Equal(got, want) {
		t.Errorf("first: %v, want %v", got, want)
	}
	g.write(t, busy, noon)
	quiet := tick.Report{Site: "prod-eu", Fleet: workload.Fleet{At: noon}, Decided: policy.Decided{Decisions: []policy.Decision{{ID: web, Verdict: policy.Frozen}}}}
	quiet.Latches = latch.LatchesOf(map[workload.ID]latch.Latch{web: {ID: web, Declared: checkpoint.Entry{Replicas: 200}}, fresh: {ID: fresh}})
	want = map[string]float64{
		"gitlatch_last_tick_timestamp_seconds": float64(noon.Unix()) + 300, "gitlatch_workloads": 1, "gitlatch_level_changes_total": 2,
		"gitlatch_frozen_workloads": 1, "gitlatch_commits_total": 2, "gitlatch_push_failures_total": 2, "gitlatch_unlisted_resources": 0,
		"gitlatch_missing_pods": 0, "gitlatch_pending_level_change_age_seconds": 0,
		`gitlatch_level_pods,namespace="shop",kind="deployment",name="web"`: 200,
	}
	if got := g.write(t, quiet, noon.Add(5*time.Minute)); !maps.Equal(got, want) {
		t.Errorf("third: %v, want %v", got, want)
	}
	for name, shown := range map[string]gateway{
		"another site's": `gitlatch_commits_total{instance="",job="gitlatch",site="prod-us"} 7` + "\n",
		"half an answer": `gitlatch_commits_total{instance="",job="gitlatch",site="prod-eu"}`,
		"no number":      `gitlatch_commits_total{instance="",job="gitlatch",site="prod-eu"} many` + "\n",
		"no count":       `gitlatch_commits_total{instance="",job="gitlatch",site="prod-eu"} +Inf` + "\n",
		"under zero":     `gitlatch_commits_total{instance="",job="gitlatch",site="prod-eu"} -5` + "\n",
	} {
		if got := shown.write(t, busy, noon)["gitlatch_commits_total"]; got != 1 {
			t.Errorf("after %s: %v commits", name, got)
		}
	}
}

func TestAPushEscapesItsLabel(t *testing.T) {
	t.Parallel()
	var g gateway
	r := tick.Report{Site: "a\"} 1\n\\n", Commit: &publish.Commit{}}
	g.write(t, r, noon)
	if got := g.write(t, r, noon)["gitlatch_commits_total"]; got != 2 {
		t.Errorf("%v commits", got)
	}
}

// A real Pushgateway is in the tests of package incluster. This server refuses, and
// records the requests.
func TestAPushThatIsRefusedNamesThePushgateway(t *testing.T) {
	t.Parallel()
	refused := http.MethodGet
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.Path)
		if r.Method == refused {
			http.Error(w, "pushed metrics are invalid", http.StatusBadRequest)
		}
	}))
	defer server.Close()
	at := Pushgateway(server.URL + "/")
	r := tick.Report{Site: "prod-eu"}
	if err := at.Push(t.Context(), r, noon); err == nil || err.Error() != "read the counters from the Pushgateway: GET /metrics: it answers 400 Bad Request: pushed metrics are invalid" {
		t.Errorf("error %v", err)
	}
	refused = http.MethodPut
	if err := at.Push(t.Context(), r, noon); err == nil || err.Error() != "push metrics to the Pushgateway: PUT /metrics/job/gitlatch/site/prod-eu: it answers 400 Bad Request: pushed metrics are invalid" {
		t.Errorf("error %v", err)
	}
	refused = ""
	if err := at.PushDrill(t.Context(), drill.Document{Site: "prod-eu"}, noon); err != nil || requests[len(requests)-1] != "PUT /metrics/job/gitlatch-drill/site/prod-eu" {
		t.Errorf("requests %q, error %v", requests, err)
	}
	server.Close()
	if err := at.Push(t.Context(), r, noon); err == nil || !strings.Contains(err.Error(), "read the counters from the Pushgateway: Get ") {
		t.Errorf("error %v", err)
	}
}

func TestAPushgatewayNeedsAURL(t *testing.T) {
	t.Parallel()
	var g Pushgateway
	for _, text := range []string{"pushgateway:9091", "/var/lib/metrics", "ftp://pushgateway", ""} {
		if err := g.Set(text); err == nil || g != "" {
			t.Errorf("%q is taken", text)
		}
	}
	if err := g.Set("http://pushgateway:9091"); err != nil || g.String() != "http://pushgateway:9091" {
		t.Errorf("URL %q, error %v", g, err)
	}
}

// A drill with an unknown coverage omits the coverage.
func TestTheMetricsOfADrillOmitAnUnknownCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fleet drill.Fleet
		want  map[string]float64
	}{
		{drill.Fleet{Coverage: new(.975)}, map[string]float64{"gitlatch_drill_coverage_ratio": .975, "gitlatch_drill_below_target": 1}},
		{drill.Fleet{Nothing: "nothing is asked"}, map[string]float64{"gitlatch_drill_below_target": 1}},
	} {
		b := &text{job: drillJob, site: "prod-eu"}
		pull(b, DrillMetrics(), drill.Document{Site: "prod-eu", Fleet: c.fleet}, noon)
		if got, err := scrape(b.String(), "prod-eu"); err != nil || !maps.Equal(got, c.want) {
			t.Errorf("got %v, want %v, error %v", got, c.want, err)
		}
	}
}

// The rules and the dashboard use only metrics that exist, and the handbook lists each
// alert.
func TestTheRulesUseTheMetricsThatAreWritten(t *testing.T) {
	t.Parallel()
	_, alarms, found := strings.Cut(docs.Text("troubleshooting"), "\n## Alarms\n")
	if !found {
		t.Fatal("the page on troubleshooting has no alarms")
	}
	written := []string{"gitlatch_open_alerts", "gitlatch_level_pods"}
	for _, m := range Metrics() {
		written = append(written, m.Series)
	}
	for _, m := range DrillMetrics() {
		written = append(written, m.Series)
	}
	for _, path := range []string{"../../infra/cluster/prometheus/prometheusrule.yaml", "../../infra/grafana/dashboard.json"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bgitlatch_[a-z_]+`).FindAllString(string(text), -1) {
			if !slices.Contains(written, name) {
				t.Errorf("%s: no tick writes %s", path, name)
			}
		}
		for _, m := range regexp.MustCompile(`- alert: ([A-Za-z]+)`).FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(alarms, "\n| `"+m[1]+"` | ") {
				t.Errorf("the handbook has no row for %s", m[1])
			}
		}
	}
}

// Each metric that the handbook names exists, and each metric is in its table.
func TestTheHandbookNamesTheMetricsThatAreWritten(t *testing.T) {
	t.Parallel()
	text := docs.Text("cluster")
	written := map[string]bool{"gitlatch_open_alerts": true, "gitlatch_level_pods": true}
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
