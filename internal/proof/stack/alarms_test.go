package stack

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// alarmsRingWhenTheyShould compares the alarms of the first sample with the list in
// testdata/stack/alarms.txt.
func alarmsRingWhenTheyShould(t *testing.T, of templates) []string {
	return alarmsAreAsListed(t, "alarms.txt", deployed(t, of, samples[0]).resources())
}

// alarmsAreAsListed compares alarms with a list: the metric with its dimensions, the condition,
// the number of periods, and the meaning of a period without data.
func alarmsAreAsListed(t *testing.T, file string, resources map[string]any) (broken []string) {
	t.Helper()
	var got []string
	for _, id := range slices.Sorted(maps.Keys(resources)) {
		p := at(resources[id], "Properties")
		if at(resources[id], "Type") != "AWS::CloudWatch::Alarm" {
			continue
		}
		got = append(got, fmt.Sprintf("%s: %s of %s, %s %s in %v of %v periods of %v s, missing: %s", id, at(p, "Statistic"), strings.Join(seriesOfAlarm(p), " "),
			at(p, "ComparisonOperator"), fmt.Sprint(at(p, "Threshold")), at(p, "DatapointsToAlarm"), at(p, "EvaluationPeriods"), at(p, "Period"), at(p, "TreatMissingData")))
	}
	text, err := os.ReadFile(filepath.Join(root, "testdata/stack", file))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range got {
		if !slices.Contains(want, line) {
			broken = append(broken, fmt.Sprintf("%s does not list %q", file, line))
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			broken = append(broken, fmt.Sprintf("%s lists %q, which is no alarm", file, line))
		}
	}
	return broken
}

// seriesOfAlarm returns the series of an alarm.
func seriesOfAlarm(p any) series {
	on := series{fmt.Sprint(at(p, "Namespace")), fmt.Sprint(at(p, "MetricName"))}
	for _, d := range list(at(p, "Dimensions")) {
		on = append(on, fmt.Sprint(at(d, "Name")), fmt.Sprint(at(d, "Value")))
	}
	return on
}
