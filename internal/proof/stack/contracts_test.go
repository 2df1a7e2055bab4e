package stack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// A contract is an agreement between the templates and the code. check returns its
// violations.
type contract struct {
	name  string
	check func(*testing.T, templates) []string
}

// alone is a check of one template.
func alone(file string, check func(*testing.T, template) []string) func(*testing.T, templates) []string {
	return func(t *testing.T, of templates) []string { return check(t, of[file]) }
}

// contracts compare the templates with the code, those for a site first.
var contracts = []contract{
	{"environment", environmentSetIsRead},
	{"configuration", configurationIsAsDocumented},
	{"metrics", metricsNamedAreEmitted},
	{"alarms", alarmsRingWhenTheyShould},
	{"queues", failuresArriveInTheirQueues},
	{"event", scheduleSendsTheSite},
	{"periods", timesFollowFromThePeriod},
	{"rights", rightsGrantedAreUsed},
	{"access", accessEntryNamesTheGroupWithRights},
	{"table", tableHasTheKeysOfTheState},
	{"coexistence", exportsAreTheStacksOwn},
	{"releases", expiredBrakesAreReleased},
	{"drills", drillsThatEndEarlyAreNoticed},
	{"reach", nothingInTheCoreChangesACluster},
	{"apart", stacksStandAlone},
	{"parameters", parametersHoldOneValue},
	{"access of the spoke", alone(spokeSource, spokesEntryNamesTheGroupWithRights)},
	{"endpoints", alone(endpointsSource, endpointsAreOfWhatATickCalls)},
	{"environment of the fleet", alone(fleetSource, fleetsEnvironmentIsRead)},
	{"configuration of the fleet", alone(fleetSource, fleetIsConfigured)},
	{"alarms of the fleet", alone(fleetSource, fleetsAlarmsAreOnWhatIsEmitted)},
	{"turns", alone(fleetSource, turnsAreGivenAndTaken)},
	{"rights of the fleet", alone(fleetSource, fleetsRightsAreUsed)},
}

func TestTheTemplatesKeepTheirContractsWithTheCode(t *testing.T) {
	t.Parallel()
	for _, c := range contracts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, broken := range c.check(t, repository(t)) {
				t.Error(broken)
			}
		})
	}
}

// functions returns the functions of a template as one sample deploys it.
func functions(resources map[string]any) map[string]any {
	found := maps.Clone(resources)
	maps.DeleteFunc(found, func(_ string, r any) bool { return at(r, "Type") != "AWS::Serverless::Function" })
	return found
}

// alarmed are the metrics with an alarm, by the template with the alarm.
var alarmed = map[string]string{"Heartbeat": source, "MissingPods": source,
	"PushFailures": monitoringSource, "PendingLevelChangeAgeSeconds": monitoringSource, "DrillBelowTarget": drillSource}

// A series is a metric in CloudWatch: its namespace, its name, and the name and value of
// each dimension.
type series []string

func (s series) isOneOf(all []series) bool {
	return slices.ContainsFunc(all, func(other series) bool { return slices.Equal(s, other) })
}

// emitted returns the series that a tick and a drill of a site emit.
func emitted(t *testing.T, site string) []series {
	t.Helper()
	var ticks, drills bytes.Buffer
	err := errors.Join(report.WriteMetrics(&ticks, tick.Report{Site: site}, time.Unix(0, 0)),
		report.WriteDrillMetrics(&drills, drill.Document{Site: site, Fleet: drill.Fleet{Coverage: new(1.0)}}, time.Unix(0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(seriesOf(t, ticks.Bytes()), seriesOf(t, drills.Bytes()))
}

// seriesOf parses a line of metrics like CloudWatch.
func seriesOf(t *testing.T, line []byte) (all []series) {
	t.Helper()
	var format struct {
		AWS struct {
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name string }
			}
		} `json:"_aws"`
	}
	var values map[string]any
	if err := errors.Join(json.Unmarshal(line, &format), json.Unmarshal(line, &values)); err != nil {
		t.Fatal(err)
	}
	for _, group := range format.AWS.CloudWatchMetrics {
		for _, m := range group.Metrics {
			for _, dimensions := range group.Dimensions {
				s := series{group.Namespace, m.Name}
				for _, name := range dimensions {
					s = append(s, name, fmt.Sprint(values[name]))
				}
				all = append(all, s)
			}
		}
	}
	return all
}

func metricsNamedAreEmitted(t *testing.T, of templates) (broken []string) {
	for _, s := range samples {
		resources := deployed(t, of, s).resources()
		emits := emitted(t, s.parameters["Site"])
		rings := map[string]bool{}
		for id, r := range resources {
			p := at(r, "Properties")
			if at(r, "Type") != "AWS::CloudWatch::Alarm" || strings.HasPrefix(fmt.Sprint(at(p, "Namespace")), "AWS/") {
				continue
			}
			name := fmt.Sprint(at(p, "MetricName"))
			rings[name] = true
			on := seriesOfAlarm(p)
			if !on.isOneOf(emits) {
				broken = append(broken, fmt.Sprintf("%s: alarm %s is on %v, which is never emitted", s.name, id, on))
			}
		}
		for name, file := range alarmed {
			_, want := s.beside[file]
			want = want || file == source
			// Ticks that are disabled on purpose are not missing.
			want = want && (name != "Heartbeat" || s.parameters["ScheduleState"] != "DISABLED")
			if rings[name] != want {
				broken = append(broken, fmt.Sprintf("%s: an alarm is on %s: %v, want %v", s.name, name, rings[name], want))
			}
		}
		shown, err := dashboardMetrics(resources)
		if err != nil {
			broken = append(broken, fmt.Sprintf("%s: %v", s.name, err))
		}
		for _, m := range shown {
			if !strings.HasPrefix(m[0], "AWS/") && !m.isOneOf(emits) {
				broken = append(broken, fmt.Sprintf("%s: the dashboard shows %v, which is never emitted", s.name, m))
			}
		}
		for _, m := range emits {
			if _, watched := s.beside[monitoringSource]; watched && !m.isOneOf(shown) {
				broken = append(broken, fmt.Sprintf("%s: the dashboard does not show %v", s.name, m))
			}
		}
	}
	return broken
}

func dashboardMetrics(resources map[string]any) (metrics []series, err error) {
	for id, r := range resources {
		if at(r, "Type") != "AWS::CloudWatch::Dashboard" {
			continue
		}
		var body struct {
			Widgets []struct {
				Properties struct{ Metrics []series }
			}
		}
		if err := json.Unmarshal([]byte(fmt.Sprint(at(r, "Properties", "DashboardBody"))), &body); err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", id, err)
		}
		for _, w := range body.Widgets {
			metrics = append(metrics, w.Properties.Metrics...)
		}
	}
	return metrics, nil
}

func scheduleSendsTheSite(t *testing.T, of templates) (broken []string) {
	for _, s := range samples {
		for id, f := range functions(deployed(t, of, s).resources()) {
			events, _ := at(f, "Properties", "Events").(map[string]any)
			for name, e := range events {
				input := fmt.Sprint(at(e, "Properties", "Input"))
				var event struct{ Site, Time string }
				if err := json.Unmarshal([]byte(input), &event); err != nil || event.Site != s.parameters["Site"] {
					broken = append(broken, fmt.Sprintf("%s: %s of %s sends %s, which does not name the site", s.name, name, id, input))
				}
				if id == "LatchFunction" && event.Time != "<aws.scheduler.scheduled-time>" {
					broken = append(broken, fmt.Sprintf("%s: %s of %s sends %s, so that an event that is delivered twice is two samples", s.name, name, id, input))
				}
			}
		}
	}
	return broken
}

// A tick has its lease for nine tenths of the period, and GOMEMLIMIT is four fifths of
// the memory.
func timesFollowFromThePeriod(t *testing.T, of templates) []string {
	return slices.Concat(timesOf(t, of[source], of[monitoringSource]), memoryFollowsFromTheSize(of[drillSource]), memoryFollowsFromTheSize(of[restoreSource]))
}

// timesOf compares the durations of a template with the durations in the alarms of
// another template.
func timesOf(t *testing.T, of, watching template) (broken []string) {
	t.Helper()
	say := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	number := func(v any) int {
		n, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil {
			say("%v is no number", v)
		}
		return n
	}
	periods, _ := of.section("Mappings")["Periods"].(map[string]any)
	for _, choice := range list(at(of.section("Parameters"), "PeriodMinutes", "AllowedValues")) {
		p, minutes := periods[choice.(string)], number(choice)
		unit := "minutes"
		if minutes == 1 {
			unit = "minute"
		}
		if got, want := at(p, "Rate"), fmt.Sprintf("rate(%d %s)", minutes, unit); got != want {
			say("period %v: the schedule is %v, not %s", choice, got, want)
		}
		if seconds := number(at(p, "Seconds")); seconds != 60*minutes {
			say("period %v: alarms look at %d seconds", choice, seconds)
		}
		timeout := number(at(p, "Timeout"))
		if lease := 60 * minutes * 9 / 10; timeout >= lease || timeout > 900 {
			say("period %v: a tick may take %d seconds, and its lease ends after %d", choice, timeout, lease)
		}
		watched := at(watching.section("Mappings"), "Periods", choice)
		if seconds := number(at(watched, "Seconds")); seconds != 60*minutes {
			say("period %v: further alarms look at %d seconds", choice, seconds)
		}
		if slow := number(at(watched, "SlowAfter")); slow != timeout*1000*4/5 {
			say("period %v: a tick is slow after %d ms, which is not four fifths of %d s", choice, slow, timeout)
		}
		if age := number(at(p, "EventAge")); age < 60 || age > 60*minutes {
			say("period %v: an event may be %d seconds old", choice, age)
		}
	}
	return append(broken, memoryFollowsFromTheSize(of)...)
}

// memoryFollowsFromTheSize compares the limit of Go's memory with the size of each function.
func memoryFollowsFromTheSize(of template) (broken []string) {
	for id, f := range functions(of.section("Resources")) {
		size, _ := at(f, "Properties", "MemorySize").(int)
		want := fmt.Sprintf("%dMiB", size*4/5)
		if got := at(f, "Properties", "Environment", "Variables", "GOMEMLIMIT"); got != want {
			broken = append(broken, fmt.Sprintf("%s: %s has %d MiB, and Go is limited to %v, not %s", of.name, id, size, got, want))
		}
	}
	return broken
}

// A brake must not outlive its time by much, and an alarm must report a restore that
// stopped at its deadline.
func expiredBrakesAreReleased(t *testing.T, of templates) (broken []string) {
	resources := deployed(t, of, samples[0]).resources()
	f := at(resources, "RestoreFunction", "Properties")
	var event struct {
		Action  string
		Expired bool
	}
	input := fmt.Sprint(at(f, "Events", "Release", "Properties", "Input"))
	if err := json.Unmarshal([]byte(input), &event); err != nil || event.Action != "release" || !event.Expired {
		broken = append(broken, fmt.Sprintf("the schedule of RestoreFunction sends %s, which releases other brakes than those that expired", input))
	}
	if rate := at(f, "Events", "Release", "Properties", "ScheduleExpression"); rate != "rate(15 minutes)" {
		broken = append(broken, fmt.Sprintf("expired brakes are released at %v", rate))
	}
	timeout, _ := at(f, "Timeout").(int)
	if slow := at(resources, "RestoresSlow", "Properties", "Threshold"); timeout < 1 || timeout > 900 || slow != timeout*1000*4/5 {
		broken = append(broken, fmt.Sprintf("a restore is slow after %v ms, which is not four fifths of %d s", slow, timeout))
	}
	return broken
}

// A drill that was killed at its deadline reports nothing. One drill a day looks for
// the rules that protect the live replicas, which requires a drill that flushes.
func drillsThatEndEarlyAreNoticed(t *testing.T, of templates) (broken []string) {
	resources := deployed(t, of, samples[0]).resources()
	daily := at(resources, "DrillFunction", "Properties", "Events", "Daily", "Properties")
	if rate, input := at(daily, "ScheduleExpression"), at(daily, "Input"); rate != "rate(1 day)" || input != `{"site": "prod-eu"}` {
		broken = append(broken, fmt.Sprintf("drills are held at %v, with %v", rate, input))
	}
	timeout, _ := at(resources, "DrillFunction", "Properties", "Timeout").(int)
	if slow := at(resources, "DrillsSlow", "Properties", "Threshold"); timeout < 1 || timeout > 900 || slow != timeout*1000*4/5 {
		broken = append(broken, fmt.Sprintf("a drill is slow after %v ms, which is not four fifths of %d s", slow, timeout))
	}
	return broken
}

func tableHasTheKeysOfTheState(t *testing.T, of templates) (broken []string) {
	for id, r := range deployed(t, of, samples[0]).resources() {
		if at(r, "Type") != "AWS::DynamoDB::Table" {
			continue
		}
		const want = "[map[AttributeName:pk KeyType:HASH] map[AttributeName:sk KeyType:RANGE]]"
		if got := fmt.Sprint(at(r, "Properties", "KeySchema")); got != want {
			broken = append(broken, fmt.Sprintf("%s: has keys %s, and the state is kept by %s", id, got, want))
		}
	}
	return broken
}

func exportsAreTheStacksOwn(t *testing.T, of templates) (broken []string) {
	for name := range deploy(t, of[source], "gitlatch-one", samples[0].parameters).exports() {
		if !strings.HasPrefix(name, "gitlatch-one-") {
			broken = append(broken, fmt.Sprintf("a second stack cannot export %s again", name))
		}
	}
	return broken
}
