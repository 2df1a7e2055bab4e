package stack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/tick"
)

const fleetSource = "infra/fleet/template.yaml"

// fleets are two deployments of the fleet's template. Each condition of the template
// differs between them.
var fleets = []sample{
	{"fleet on github", "github", map[string]string{
		"Fleet":         "europe",
		"ClusterNames":  "prod-*",
		"SpokeRoleArns": "arn:aws:iam::444455556666:role/gitlatch-*,arn:aws:iam::777788889999:role/gitlatch-edge",
		"RepositoryUrl": "github::https://github.example.com/example/fleet",
		"Credential":    "gitlatch/github",
		"AlertEmail":    "platform@example.com",
	}, nil},
	{"fleet on codecommit", "codecommit", map[string]string{
		"Fleet":                  "asia",
		"PeriodMinutes":          "1",
		"ScheduleState":          "DISABLED",
		"ClusterNames":           "-",
		"RepositoryUrl":          onCodeCommit,
		"Branch":                 "live",
		"PermissionsBoundaryArn": "arn:aws:iam::111122223333:policy/boundary",
	}, nil},
}

// fleet deploys a sample of the fleet's template.
func fleet(t *testing.T, of template, s sample) deployment {
	t.Helper()
	return deploy(t, of, "gitlatch-"+s.parameters["Fleet"], s.parameters)
}

func TestEachConditionOfAFleetHoldsInOneSampleAndNotInTheOther(t *testing.T) {
	t.Parallel()
	of := read(t, fleetSource)
	for name := range of.section("Conditions") {
		condition := map[string]any{"Condition": name}
		if fleet(t, of, fleets[0]).holds(condition) == fleet(t, of, fleets[1]).holds(condition) {
			t.Errorf("condition %s is the same in both samples", name)
		}
	}
	for _, s := range fleets {
		for _, said := range fleet(t, of, s).violated() {
			t.Errorf("%s: %s", s.name, said)
		}
	}
}

func TestAFleetsParametersRefuseWhatWouldBreakIt(t *testing.T) {
	t.Parallel()
	of := read(t, fleetSource)
	for name, bad := range map[string][]string{
		"Fleet":        {"", "Europe", `a"b`},
		"ClusterNames": {"", "a/b", "arn:aws:eks"},
		"SpokeRoleArns": {"*", "arn:aws:iam::*:role/*", "arn:aws:iam::*:role/gitlatch-*", "arn:aws:iam::44445555666*:role/gitlatch-*", "arn:aws:iam::444455556666:role/admin",
			"arn:aws:iam::444455556666:role/gitlatch-*/x", "arn:aws:iam::444455556666:role/gitlatch-*,arn:aws:iam::*:role/gitlatch-*"},
		"Branch": {"", "a*"},
	} {
		for _, value := range bad {
			if refused(of.section("Parameters")[name], value) == "" {
				t.Errorf("%s takes %q", name, value)
			}
		}
	}
}

func fleetsEnvironmentIsRead(t *testing.T, of template) []string {
	return environmentIsRead(t, fleets[0].name, fleet(t, of, fleets[0]).resources())
}

// fleetConfigurations are the configurations of both functions, by the sample.
var fleetConfigurations = map[string]string{
	"fleet on github": `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: europe
fleet: fleets/europe.yaml
period: 5m
state: {dynamodb: gitlatch-europe-StateTable-1A2B3C4D5E6F}
repository:
  url: github::https://github.example.com/example/fleet
  credential: secret:gitlatch/github
  branch: main
alerts: {topicArn: "arn:aws:sns:eu-west-1:111122223333:gitlatch-europe-AlertTopic-1A2B3C4D5E6F"}
`,
	"fleet on codecommit": `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: asia
fleet: fleets/asia.yaml
period: 1m
state: {dynamodb: gitlatch-asia-StateTable-1A2B3C4D5E6F}
repository: {url: "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet", branch: live}
alerts: {topicArn: "arn:aws:sns:eu-west-1:111122223333:gitlatch-asia-AlertTopic-1A2B3C4D5E6F"}
`,
}

func fleetIsConfigured(t *testing.T, of template) (broken []string) {
	for _, s := range fleets {
		for id, f := range functions(fleet(t, of, s).resources()) {
			text := fmt.Sprint(at(f, "Properties", "Environment", "Variables", "GITLATCH_CONFIG"))
			if _, err := config.ParseConfig("GITLATCH_CONFIG", []byte(text)); err != nil {
				broken = append(broken, fmt.Sprintf("%s: %s: %v", s.name, id, err))
			}
			var got, want any
			if err := errors.Join(yaml.Unmarshal([]byte(text), &got), yaml.Unmarshal([]byte(fleetConfigurations[s.name]), &want)); err != nil {
				broken = append(broken, fmt.Sprintf("%s: %s: %v", s.name, id, err))
			}
			if !reflect.DeepEqual(got, want) {
				broken = append(broken, fmt.Sprintf("%s: %s is configured by\n%s", s.name, id, text))
			}
		}
	}
	return broken
}

// fleetsAlarmsAreOnWhatIsEmitted compares the alarms with the emitted metrics and the list.
func fleetsAlarmsAreOnWhatIsEmitted(t *testing.T, of template) (broken []string) {
	off := sample{parameters: maps.Clone(fleets[0].parameters)}
	off.parameters["ScheduleState"] = "DISABLED"
	for id, r := range fleet(t, of, off).resources() {
		if at(r, "Type") == "AWS::CloudWatch::Alarm" && at(r, "Properties", "TreatMissingData") == "breaching" {
			broken = append(broken, fmt.Sprintf("alarm %s misses what is off on purpose", id))
		}
	}
	resources := fleet(t, of, fleets[0]).resources()
	var lines bytes.Buffer
	err := errors.Join(report.WriteFleetMetrics(&lines, "europe", tick.Report{Site: "prod-eu"}, nil, time.Unix(0, 0)),
		report.WriteDispatchMetrics(&lines, "europe", 7, time.Unix(0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	var emits []series
	for line := range bytes.Lines(lines.Bytes()) {
		emits = append(emits, seriesOf(t, line)...)
	}
	for id, r := range resources {
		on := seriesOfAlarm(at(r, "Properties"))
		if at(r, "Type") == "AWS::CloudWatch::Alarm" && on[0] == report.Namespace && !on.isOneOf(emits) {
			broken = append(broken, fmt.Sprintf("alarm %s is on %v, which is never emitted", id, on))
		}
	}
	return append(broken, alarmsAreAsListed(t, "alarms-fleet.txt", resources)...)
}

// turnsAreGivenAndTaken checks the path of a turn, from the schedule to its end if no
// worker can take it.
func turnsAreGivenAndTaken(t *testing.T, of template) (broken []string) {
	say := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	number := func(v any) int {
		n, err := strconv.Atoi(fmt.Sprint(v))
		if err != nil {
			say("%v is no number", v)
		}
		return n
	}
	for _, s := range fleets {
		d := fleet(t, of, s)
		r := d.resources()
		var event struct{ Time string }
		input := fmt.Sprint(at(r["FleetDispatcher"], "Properties", "Events", "Period", "Properties", "Input"))
		if err := json.Unmarshal([]byte(input), &event); err != nil || event.Time != "<aws.scheduler.scheduled-time>" {
			say("%s: the schedule sends %s, so that what is delivered twice gives other turns", s.name, input)
		}
		if to := at(r["FleetDispatcher"], "Properties", "Environment", "Variables", "GITLATCH_QUEUE"); to != d.physical("Turns") {
			say("%s: turns are sent to %v", s.name, to)
		}
		turn := at(r["FleetWorker"], "Properties", "Events", "Turn", "Properties")
		if at(turn, "Queue") != d.arn("Turns") || fmt.Sprint(at(turn, "FunctionResponseTypes")) != "[ReportBatchItemFailures]" {
			say("%s: the worker takes %v, and a site that fails has all its batch given again", s.name, turn)
		}
		if n := number(at(turn, "BatchSize")); n < 1 || n > 10 {
			say("%s: a batch has %d turns", s.name, n)
		}
		queue := at(r["Turns"], "Properties")
		if at(queue, "FifoQueue") != nil {
			say("%s: a queue that is first in, first out takes no delay of a turn's own", s.name)
		}
		timeout := number(at(r["FleetWorker"], "Properties", "Timeout"))
		if visibility := number(at(queue, "VisibilityTimeout")); visibility != 6*timeout || visibility >= number(at(queue, "MessageRetentionPeriod")) {
			say("%s: a turn is given again after %d s, and a worker may take %d s", s.name, visibility, timeout)
		}
		if at(queue, "RedrivePolicy", "deadLetterTargetArn") != d.arn("LostTurns") || number(at(queue, "RedrivePolicy", "maxReceiveCount")) < 2 {
			say("%s: turns that nobody can take go to %v", s.name, at(queue, "RedrivePolicy"))
		}
		if dispatcher := number(at(r["FleetDispatcher"], "Properties", "Timeout")); dispatcher >= 60*number(d.parameters["PeriodMinutes"]) {
			say("%s: the dispatcher may take %d s of a period", s.name, dispatcher)
		}
	}
	for name, p := range of.section("Mappings")["Periods"].(map[string]any) {
		if got, want := number(at(p, "OldAfter")), 6*number(at(p, "Timeout"))+2*number(at(p, "Seconds")); got != want {
			say("period %s: turns wait for too long after %d s, not %d", name, got, want)
		}
	}
	return append(broken, timesOf(t, of, of)...)
}

// fleetsRightsAreUsed compares the roles with the calls: a worker's with those in a
// tick, a dispatcher's with its observed calls.
func fleetsRightsAreUsed(t *testing.T, of template) (broken []string) {
	for _, s := range fleets {
		r := fleet(t, of, s).resources()
		worker := slices.Concat(operations(t, s.provider), forAWS, []string{"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"})
		if s.parameters["SpokeRoleArns"] != "" {
			worker = append(worker, "sts:AssumeRole")
		}
		if s.parameters["ClusterNames"] == "-" {
			worker = slices.DeleteFunc(worker, func(action string) bool { return action == "eks:DescribeCluster" })
		}
		dispatcher := append(listed(t, "dispatch-"+s.provider), "logs:CreateLogStream", "logs:PutLogEvents", "sqs:SendMessage")
		if s.parameters["Credential"] != "" {
			dispatcher = append(dispatcher, "kms:Decrypt")
		}
		for id, want := range map[string][]string{"WorkerRole": worker, "DispatcherRole": dispatcher, "ScheduleRole": {"lambda:InvokeFunction", "sqs:SendMessage"}} {
			slices.Sort(want)
			if granted := actions(r[id]); !slices.Equal(granted, slices.Compact(want)) {
				broken = append(broken, fmt.Sprintf("%s: %s is granted %v, and uses %v", s.name, id, granted, want))
			}
		}
	}
	return broken
}
