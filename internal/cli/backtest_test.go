package cli_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/internal/docs"
)

// pastScale contains three days of two workloads that swing, with a sample every five
// minutes. One of them is absent in between.
func pastScale() string {
	var b strings.Builder
	b.WriteString("time,workload,replicas,min,max\n")
	begin := time.Date(2026, 9, 14, 0, 0, 0, 0, time.UTC)
	for i := range 3 * 24 * 12 {
		at := begin.Add(time.Duration(i) * 5 * time.Minute)
		swing := 0.55 - 0.45*math.Cos(2*math.Pi*float64(i)/(24*12))
		fmt.Fprintf(&b, "%s,shop/web,%d,10,2000\n", at.Format(time.RFC3339), int(math.Ceil(1000*swing)))
		if i < 300 || i > 400 {
			fmt.Fprintf(&b, "%s,search/statefulset/index,%d,,\n", at.Format(time.RFC3339), int(math.Ceil(40*swing)))
		}
	}
	return b.String()
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestBacktestIsReadAtEightyColumns(t *testing.T) {
	t.Parallel()
	past := file(t, "past.csv", pastScale())
	for name, args := range map[string][]string{
		"backtest.txt":       {"backtest", past},
		"backtest-index.txt": {"backtest", past, "--workload", "search/index"},
	} {
		got := run(time.Time{}, args...)
		if got.status != 0 || got.err != "" {
			t.Fatalf("%+v", got)
		}
		golden(t, name, got.out)
		for line := range strings.Lines(got.out) {
			if n := utf8.RuneCountInString(line) - 1; n > 80 {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
		if shown := strings.ReplaceAll("\n"+strings.TrimSpace(got.out), "\n", "\n    "); name == "backtest.txt" && !strings.Contains(docs.Text("backtest"), strings.ReplaceAll(shown, "    \n", "\n")) {
			t.Errorf("topic backtest does not show\n%s", got.out)
		}
		if strings.Contains(got.out, "\x1b") || strings.Contains(got.out, "\r") {
			t.Errorf("%s: colour, or a line written anew, where there is no terminal", name)
		}
	}
}

// tried contains the fields of the JSON output that a test checks.
type tried struct {
	APIVersion, Kind string
	From, To         time.Time
	Workloads        int
	Samples          int64
	Period, Step     string
	Policies         []struct {
		Name          string
		CommitsPerDay float64
		Levels        int
		Coverage      *struct {
			Worst         struct{ Needed, Met int }
			Mean, Surplus float64
		}
	}
}

func backtested(t *testing.T, got outcome) (d tried) {
	t.Helper()
	if got.status != 0 || got.err != "" {
		t.Fatalf("%+v", got)
	}
	must(t, json.Unmarshal([]byte(got.out), &d))
	return d
}

func (d tried) names() (all []string) {
	for _, p := range d.Policies {
		all = append(all, p.Name)
	}
	return all
}

func TestBacktestForMachines(t *testing.T) {
	t.Parallel()
	d := backtested(t, run(time.Time{}, "backtest", file(t, "past.csv", pastScale()), "-o", "json"))
	if d.Samples != 864+763 || d.Step != "5m0s" || d.Period != "5m0s" || d.Workloads != 2 || d.To.Sub(d.From) != 72*time.Hour-5*time.Minute {
		t.Errorf("%+v", d)
	}
	if d.APIVersion != "gitlatch.dev/v1alpha1" || d.Kind != "Backtest" {
		t.Errorf("it is a %s %s", d.APIVersion, d.Kind)
	}
	if !slices.Equal(d.names(), []string{"hourly job", "cope", "closest"}) {
		t.Errorf("%v", d.names())
	}
	for _, p := range d.Policies {
		if c := p.Coverage; p.CommitsPerDay <= 0 || p.Levels != 2 || c == nil || c.Mean <= 0.5 || c.Mean > 1 || c.Surplus <= 0 || c.Worst.Met >= c.Worst.Needed {
			t.Errorf("%+v", p)
		}
	}
}

// The candidates are the policy on the site's branch, a policy file, and presets.
func TestBacktestTriesWhatItIsAskedTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latching + "commitsPerDay: 1\n"}, "be quiet")
	past := file(t, "past.csv", pastScale())
	proposed := file(t, "gitlatch.yaml", "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\npolicies: [{name: default, match: {}, series: tens, hold: {down: 0m}}]\n")

	d := backtested(t, run(w.now, "backtest", past, "--config", w.path("config.yaml"), "--policy", proposed, "-o", "json"))
	if !slices.Equal(d.names(), []string{"hourly job", "prod-eu", proposed}) {
		t.Errorf("%v", d.names())
	}
	if quiet, busy := d.Policies[1], d.Policies[2]; quiet.CommitsPerDay > 4 || busy.CommitsPerDay < 10 {
		t.Errorf("%+v and %+v", quiet, busy)
	}
	if d := backtested(t, run(w.now, "backtest", past, "--period", "10m", "-o", "json")); d.Period != "10m0s" {
		t.Errorf("%+v", d)
	}
}

// Hourly samples among five-minute samples are more than three periods apart. Their
// intervals count as not observed, and backtest reports that.
func TestBacktestSaysWhatItDidNotObserve(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(pastScale())
	begin := time.Date(2026, 9, 14, 0, 0, 0, 0, time.UTC)
	for i := range 72 {
		fmt.Fprintf(&b, "%d,shop/slow,7,,\n", begin.Add(time.Duration(i)*time.Hour).Unix())
	}
	got := run(time.Time{}, "backtest", file(t, "past.csv", b.String()))
	if got.status != 0 || !strings.Contains(got.out, "1 of 3 with cope, 1 of 3 with closest") || !strings.Contains(got.out, "more than three periods apart") {
		t.Errorf("%+v", got)
	}
}

func TestBacktestLooksNoOftenerThanWasSampled(t *testing.T) {
	t.Parallel()
	past := file(t, "past.csv", "time,workload,replicas\n0,shop/web,3\n3600,shop/web,30\n7200,shop/web,30\n10800,shop/web,30\n")
	if d := backtested(t, run(time.Time{}, "backtest", past, "-o", "json")); d.Period != "1h0m0s" || d.Policies[1].CommitsPerDay == 0 {
		t.Errorf("%+v", d)
	}
	got := run(time.Time{}, "backtest", past, "--period", "5m")
	if got.status != 2 || !strings.Contains(got.err, "1h apart") || !strings.Contains(got.err, "--period 1h,") {
		t.Errorf("%+v", got)
	}
}

func TestBacktestSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	past := file(t, "past.csv", pastScale())
	bad := file(t, "bad.csv", "time,workload,replicas\n0,shop/web,x\n")
	none := file(t, "none.csv", "time,workload,replicas\n0,shop/web,\n")
	policy := file(t, "gitlatch.yaml", "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nprest: cope\n")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"one or more files", "--help"}},
		{[]string{past + "x"}, []string{"past.csvx: no such file", "Give the path of an existing file"}},
		{[]string{bad}, []string{"bad.csv: line 2: replicas", `"x"`}},
		{[]string{none}, []string{"none.csv", "the data has no samples"}},
		{[]string{past, past}, []string{"shop/web", "past.csv", "sort the samples and the files by time", "max by"}},
		{[]string{past, "--workload", "shop/wep"}, []string{`--workload: workload "shop/wep": the files have no workload with this name; there are shop/web`}},
		{[]string{past, "--period", "0s"}, []string{"--period: must be a multiple of 1s, above 0 and at most 24h, got 0s"}},
		{[]string{past, "--period", "-1ns"}, []string{"--period", "must be a duration such as 5m, 26h or 8d", `"-1ns"`}},
		{[]string{past, "-o", "xml"}, []string{"--output", "table, json, yaml, html"}},
		{[]string{past, "--policy", policy}, []string{"prest"}},
		{[]string{past, "--period", "1500ms"}, []string{"--period", "must be a multiple of 1s"}},
	} {
		got := run(time.Time{}, append([]string{"backtest"}, c.args...)...)
		if got.status != 2 || got.out != "" {
			t.Errorf("%v: %+v", c.args, got)
		}
		for _, want := range c.want {
			if !strings.Contains(got.err, want) {
				t.Errorf("%v: does not say %q: %s", c.args, want, got.err)
			}
		}
	}
}

// backtest also works with short past data: the text uses the singular for one, and the
// axis of the chart fits the time.
func TestBacktestOfAShortPast(t *testing.T) {
	t.Parallel()
	rows := func(n int, apart time.Duration) string {
		var b strings.Builder
		b.WriteString("time,workload,replicas\n")
		for i := range n {
			fmt.Fprintf(&b, "%s,shop/web,%d.5\n", time.Date(2026, 9, 14, 7, 30, 0, 0, time.UTC).Add(time.Duration(i)*apart).Format(time.RFC3339), 3+i)
		}
		return b.String()
	}
	for _, c := range []struct {
		n     int
		apart time.Duration
		want  []string
	}{
		{1, 0, []string{"1 workload with 1 sample,\nfrom 2026-09-14 07:30 to 2026-09-14 07:30. A simulated tick runs every 5m.\n", "\n  cope                  0      -  -            -     -        -\n", "\nSome workloads never got a level: 1 of 1 with hourly job, 1 of 1 with cope,"}},
		{2, 5 * time.Minute, []string{"\n  cope                  0      -  -            -     -        -\n"}},
		{3, 5 * time.Minute, []string{"1 workload with a total of 3 samples at intervals of 5m,\n", "   minutes since 2026-09-14 07:30\n", "\n         0      1      2      3 "}},
		{30, 5 * time.Minute, []string{"   hours since 2026-09-14 07:30\n", "\n         0                           1                            2\n"}},
		{80, time.Hour, []string{"   days since 2026-09-14 07:30\n"}},
	} {
		got := run(time.Time{}, "backtest", file(t, "past.csv", rows(c.n, c.apart)))
		if got.status != 0 || got.err != "" {
			t.Errorf("%d samples: %+v", c.n, got)
		}
		for _, want := range c.want {
			if !strings.Contains(got.out, want) {
				t.Errorf("%d samples: no %q in\n%s", c.n, want, got.out)
			}
		}
	}
}

// Help shows defaults in the form that a user would give them, each once.
func TestHelpShowsDefaultsThatCanBeGiven(t *testing.T) {
	t.Parallel()
	got := run(time.Time{}, "backtest", "--help")
	for _, odd := range []string{"[]", "-1ns", "Slice", "whichever is longer) (default"} {
		if strings.Contains(got.out, odd) {
			t.Errorf("help says %q:\n%s", odd, got.out)
		}
	}
	for _, want := range []string{"--period duration", "whichever is longer)"} {
		if !strings.Contains(strings.Join(strings.Fields(got.out), " "), want) {
			t.Errorf("help does not say %q:\n%s", want, got.out)
		}
	}
}
