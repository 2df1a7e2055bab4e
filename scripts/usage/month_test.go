package main

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/tick"
)

func defaults(t *testing.T) (Usage, Requests) {
	t.Helper()
	u, err := DefaultUsage()
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadRequests(requestsFile)
	if err != nil {
		t.Fatal(err)
	}
	return u, r
}

// Each name changes a quantity, and each line has one.
func TestTheQuantitiesDependOnEveryName(t *testing.T) {
	t.Parallel()
	u, r := defaults(t)
	// If one factor of a line is 0, the other factor has no effect.
	maps.Copy(u, map[string]float64{"codecommit_users": 1, "queue_requests_per_tick": 2.1})
	before := NewMonth(u, r).Parts
	for name, value := range u {
		u[name] = 1e6 * value
		if reflect.DeepEqual(NewMonth(u, r).Parts, before) {
			t.Errorf("%s makes no difference", name)
		}
		u[name] = value
	}
	if lines := len(before[0].Lines); lines != len(siteLines) {
		t.Errorf("%d lines of %d", lines, len(siteLines))
	}
}

// -set replaces a value, and the output shows the quantity.
func TestASetValueChangesAQuantity(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := run([]string{"-requests", requestsFile, "-set", "metrics=17", "-set", "period_minutes=1", "-set", "secrets=0"}, &out)
	for _, want := range []string{"| Metrics | 17 |", "| Lambda, requests | 43,800 |", "a repository on CodeCommit", "a fleet of 100"} {
		if err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v: want %q in\n%s", err, want, out.String())
		}
	}
}

func TestUnknownArgumentsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"-set", "lambda_secs=1"}, []string{`unknown name "lambda_secs"`, "lambda_seconds"}},
		{[]string{"-set", "metrics"}, []string{"want name=number"}},
		{[]string{"-set", "metrics=few"}, []string{"want name=number"}},
		{[]string{"-set", "metrics=-1"}, []string{"metrics must not be -1"}},
		{[]string{"-set", "metrics=NaN"}, []string{"metrics must not be NaN"}},
		{[]string{"-set", "period_minutes=0"}, []string{"period_minutes must be above 0"}},
		{[]string{"-requests", "nowhere.json"}, []string{"nowhere.json"}},
		{[]string{"more"}, []string{`unknown argument "more"`}},
	} {
		var out strings.Builder
		err := run(append([]string{"-requests", requestsFile}, c.args...), &out)
		if err == nil {
			t.Errorf("%q: printed\n%s", c.args, out.String())
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: does not say %q: %v", c.args, want, err)
			}
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
		if l[name] != want || want == 0 {
			t.Errorf("%s is %v, and %v in the template or the code", name, l[name], want)
		}
	}
}

func TestTheHandbookShowsTheseQuantities(t *testing.T) {
	t.Parallel()
	_, shown, ok := strings.Cut(docs.Text("aws"), "<!-- usage -->\n")
	shown, _, closed := strings.Cut(shown, "<!-- /usage -->")
	if !ok || !closed {
		t.Fatal("topic aws has no place for the quantities: <!-- usage --> and <!-- /usage -->")
	}
	u, r := defaults(t)
	var want strings.Builder
	if err := NewMonth(u, r).WriteMarkdown(&want); err != nil {
		t.Fatal(err)
	}
	if shown != want.String() {
		t.Errorf("topic aws shows other quantities; put the first table of make usage between its marks:\n%s", want.String())
	}
}

var requestsFile = filepath.Join("..", "..", "testdata", "usage", "requests.json")
