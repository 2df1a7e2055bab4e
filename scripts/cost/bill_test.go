package main

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/tick"
)

func defaults(t *testing.T) (List, Requests) {
	t.Helper()
	l, err := DefaultList()
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadRequests(requestsFile)
	if err != nil {
		t.Fatal(err)
	}
	return l, r
}

func output(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out := &strings.Builder{}
	err := run(append([]string{"-requests", requestsFile}, args...), out)
	return out.String(), err
}

// cells returns the cells of a Markdown table, by row.
func cells(table string) (rows [][]string) {
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		row := strings.Split(strings.Trim(strings.ReplaceAll(line, "*", ""), "|\n"), "|")
		for i, cell := range row {
			row[i] = strings.TrimSpace(cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// The displayed numbers add up: each sum is the sum of the amounts above it, and each
// amount is quantity times price, rounded up to a cent.
func TestTheSumIsItsParts(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		nil,
		{"-set", "period_minutes=1", "-set", "metrics=17"},
		{"-set", "secrets=0", "-set", "codecommit_users=1", "-set", "dashboards=1"},
		{"-set", "alarm_month=0.15", "-set", "hours=744", "-set", "zones=3", "-set", "period_minutes=0.5", "-set", "lambda_seconds=1000"},
	} {
		table, err := output(t, append(args, "-o", "markdown")...)
		if err != nil {
			t.Fatal(err)
		}
		number := func(text string) float64 {
			n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		sum, sums := int64(0), 0
		for _, row := range cells(table) {
			if row[1] == "quantity" {
				continue
			}
			shown := int64(math.Round(100 * number(row[3])))
			if row[1] == "" {
				if sums++; shown != sum {
					t.Errorf("%v: %s shows %d cents, its parts are %d", args, row[0], shown, sum)
				}
				sum = 0
				continue
			}
			sum += shown
			// Quantities are shown rounded: to two digits, or to an integer from 10 on.
			exact := 100 * number(row[1]) * number(row[2])
			if off := float64(shown) - exact; off < -0.06*exact-1e-6 || off > 1+0.06*exact {
				t.Errorf("%v: %s: %s x %s is shown as %s", args, row[0], row[1], row[2], row[3])
			}
		}
		if sums != 3 {
			t.Errorf("%v: %d sums", args, sums)
		}
	}
}

func TestAmountsAreRoundedUpToTheCent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quantity, price float64
		want            int64
	}{
		{1, 0.0001, 1}, {1, 0.01, 1}, {1, 0.0101, 2}, {9, 0.3, 270}, {3, 0.1, 30}, {4380, 0.01, 4380},
	} {
		if got := cents(c.quantity * c.price); got != c.want {
			t.Errorf("%v x %v is %d cents, want %d", c.quantity, c.price, got, c.want)
		}
	}
}

// Each name is a price or a usage, and the bill depends on each.
func TestTheBillDependsOnEveryName(t *testing.T) {
	t.Parallel()
	l, r := defaults(t)
	// If one factor of a line is 0, the other factor has no effect.
	maps.Copy(l.Usage, map[string]float64{"dashboards": 1, "codecommit_users": 1, "queue_requests_per_tick": 2.1})
	before := NewBill(l, r)
	sum := func(b Bill) (cents int64) {
		for _, p := range append([]Part{b.Site}, b.Extra...) {
			cents += p.Cents()
		}
		return cents
	}
	for _, values := range []map[string]float64{l.Prices, l.Usage} {
		for name, value := range values {
			values[name] = 1e6 * value
			if sum(NewBill(l, r)) == sum(before) {
				t.Errorf("%s makes no difference", name)
			}
			values[name] = value
		}
	}
	for name := range l.Prices {
		if _, ok := l.Usage[name]; ok {
			t.Errorf("%s is both a price and a usage", name)
		}
	}
	for _, c := range slices.Concat(siteCharges, endpointCharges, natCharges) {
		if _, ok := l.Prices[c.price]; !ok {
			t.Errorf("%s: there is no price %s", c.what, c.price)
		}
	}
}

func TestWhatIsUnknownIsRefusedByName(t *testing.T) {
	t.Parallel()
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "ours.yaml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-set", "lambda_secs=1"}, []string{`unknown name "lambda_secs"`, "lambda_seconds"}},
		{[]string{"-set", "metric_month"}, []string{"want name=number"}},
		{[]string{"-set", "metric_month=cheap"}, []string{"want name=number"}},
		{[]string{"-set", "metric_month=-1"}, []string{"metric_month must not be -1"}},
		{[]string{"-set", "metric_month=NaN"}, []string{"metric_month must not be NaN"}},
		{[]string{"-set", "period_minutes=0"}, []string{"period_minutes must be above 0"}},
		{[]string{"-prices", file("prices: {metrik_month: 1, alarm: 2}\nusage: {hour: 1}\n")},
			[]string{`prices: unknown name "metrik_month"`, `prices: unknown name "alarm"`, `usage: unknown name "hour"`, "ours.yaml"}},
		{[]string{"-prices", file("prices: {hours: 1}\n")}, []string{`prices: unknown name "hours"`}},
		{[]string{"-prices", file("prizes: {}\n")}, []string{"prizes", "ours.yaml"}},
		{[]string{"-prices", file("prices: {metric_month: many}\n")}, []string{"many", "ours.yaml"}},
		{[]string{"-prices", "nowhere.yaml"}, []string{"nowhere.yaml"}},
		{[]string{"-requests", "nowhere.json"}, []string{"nowhere.json"}},
		{[]string{"-o", "yaml"}, []string{"-o yaml: want text or markdown"}},
		{[]string{"more"}, []string{`unknown argument "more"`}},
	} {
		text, err := output(t, c.args...)
		if err == nil {
			t.Errorf("%q: printed\n%s", c.args, text)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: does not say %q: %v", c.args, want, err)
			}
		}
	}
}

func TestTheLaterReplacesTheEarlier(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ours.yaml")
	if err := os.WriteFile(path, []byte("currency: EUR\nregion: eu-central-1\nprices: {metric_month: 0.27}\nusage: {metrics: 100}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-prices", path}, "| Metrics | 100 | 0.27 | 27.00 |"},
		{[]string{"-prices", path, "-set", "metrics=10"}, "| Metrics | 10 | 0.27 | 2.70 |"},
		{[]string{"-set", "metrics=10", "-prices", path}, "| Metrics | 100 | 0.27 | 27.00 |"},
	} {
		text, err := output(t, append(c.args, "-o", "markdown")...)
		if err != nil || !strings.Contains(text, c.want) || !strings.Contains(text, "list prices of eu-central-1 in EUR") || !strings.Contains(text, "| price | EUR |") {
			t.Errorf("%q: error %v, want %s in\n%s", c.args, err, c.want, text)
		}
	}
}

// A day of 288 ticks has 8 ticks that commit. With another period, a day has the same
// number of commits.
func TestAMonthIsMadeOfDays(t *testing.T) {
	t.Parallel()
	asked := func(reads float64, publishes int) Asked {
		return Asked{ReadUnits: reads, Calls: map[string]map[string]int{"sns": {"Publish": publishes}}}
	}
	day := Day{
		Ticks: map[Kind]int{Quiet: 210, Timers: 70, Crossing: 6, Crossings: 2},
		Asked: map[Kind]Asked{Quiet: asked(210, 1), Timers: asked(700, 0), Crossing: asked(600, 2), Crossings: asked(2000, 1)},
	}
	const days = 30
	for period, want := range map[float64]float64{
		5:   days * (210 + 700 + 600 + 2000),
		1:   days * ((1440-8)*(910.0/280) + 2600),
		360: days * 4 * (2600.0 / 8), // all ticks commit
	} {
		m := newMonth(map[string]float64{"hours": days * 24, "period_minutes": period}, day)
		if math.Abs(m.asked.reads-want) > 1e-6 || m.ticks != days*1440/period || m.asked.publishes != days*4 {
			t.Errorf("period of %v minutes: %+v, want %v reads", period, m, want)
		}
	}
}

// The values in the list equal their sources in the template and in the code.
func TestTheListIsTheTemplates(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Parameters map[string]struct {
			Default string `yaml:"Default"`
		} `yaml:"Parameters"`
		Resources map[string]struct {
			Type       string `yaml:"Type"`
			Properties struct {
				Events map[string]struct {
					Type string `yaml:"Type"`
				} `yaml:"Events"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	has := map[string]float64{}
	for _, r := range template.Resources {
		has[r.Type]++
		for _, e := range r.Properties.Events {
			has[e.Type]++
		}
	}
	number := func(parameter string) float64 {
		n, err := strconv.ParseFloat(template.Parameters[parameter].Default, 64)
		if err != nil {
			t.Errorf("parameter %s: %v", parameter, err)
		}
		return n
	}
	var line strings.Builder // the metrics of a site that latches
	if err := report.WriteMetrics(&line, tick.Report{}, time.Time{}); err != nil {
		t.Fatal(err)
	}
	l, _ := defaults(t)
	for name, want := range map[string]float64{
		"schedules":          has["ScheduleV2"],
		"alarms":             has["AWS::CloudWatch::Alarm"],
		"keys":               has["AWS::KMS::Key"],
		"metrics":            float64(strings.Count(line.String(), `"Unit":`)),
		"lambda_memory_mb":   number("MemorySize"),
		"log_retention_days": number("LogRetentionDays"),
		"period_minutes":     number("PeriodMinutes"),
	} {
		if l.Usage[name] != want || want == 0 {
			t.Errorf("%s is %v, and %v in the template or the code", name, l.Usage[name], want)
		}
	}
}

func TestTheHandbookShowsThisBill(t *testing.T) {
	t.Parallel()
	_, shown, ok := strings.Cut(docs.Text("aws"), "<!-- cost -->\n")
	shown, _, closed := strings.Cut(shown, "<!-- /cost -->")
	if !ok || !closed {
		t.Fatal("topic aws has no place for the bill: <!-- cost --> and <!-- /cost -->")
	}
	want, err := output(t, "-o", "markdown")
	if err != nil {
		t.Fatal(err)
	}
	if shown != want {
		t.Errorf("topic aws shows another bill; put the output of go run ./scripts/cost -o markdown between its marks:\n%s", want)
	}
}

// The caption lists the usage that is not counted, and the assumptions.
func TestTheCaptionSaysWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		set   []string
		says  []string
		never []string
	}{
		{nil, []string{"93 workloads and a repository on GitHub", "each tick runs for 2 seconds", "730 cold starts", "1 request to KMS", "have not been checked against the AWS price list", "the dashboard of infra/monitoring.yaml", "old versions of the KMS key", "does not subtract any other usage that the AWS free tier covers"}, []string{"user of CodeCommit"}},
		{[]string{"secrets=0"}, []string{"a repository on CodeCommit", "the IAM role as a user of CodeCommit"}, nil},
		{[]string{"secrets=0", "codecommit_users=1", "lambda_seconds=3"}, []string{"each tick runs for 3 seconds"}, []string{"user of CodeCommit"}},
		{[]string{"dashboards=1"}, []string{"old versions of the KMS key"}, []string{"the dashboard"}},
		{[]string{"dashboards=1", "keys=3"}, []string{"The estimate does not subtract the usage that the AWS free tier covers."}, []string{"does not include"}},
	} {
		var args []string
		for _, set := range c.set {
			args = append(args, "-set", set)
		}
		text, err := output(t, args...)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range c.says {
			if !strings.Contains(text, words) {
				t.Errorf("%v: does not say %q:\n%s", c.set, words, text)
			}
		}
		for _, words := range c.never {
			if strings.Contains(text, words) {
				t.Errorf("%v: says %q", c.set, words)
			}
		}
	}
}
