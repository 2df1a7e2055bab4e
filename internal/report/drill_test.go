package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/report"
)

// An unknown coverage is not 0 %. A graph shows a gap, and the drill is still below its
// target.
func TestACoverageThatIsNotKnownIsNoMetric(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fleet drill.Fleet
		count int
	}{
		"known":                {drill.Fleet{Coverage: new(0.0)}, 2},
		"nothing is asked":     {drill.Fleet{Nothing: "nothing is asked"}, 0},
		"one start is unknown": {drill.Fleet{Coverage: new(0.5), AtMost: new(1.0), Unknown: 1}, 2}, // the proven coverage
	} {
		var line bytes.Buffer
		if err := report.WriteDrillMetrics(&line, drill.Document{Site: "prod", Fleet: c.fleet}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		if got := line.String(); strings.Count(got, `"DrillCoverage"`) != c.count || !strings.Contains(got, `"DrillBelowTarget":1`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// CloudWatch gets a percentage, and Prometheus gets the ratio.
func TestCloudWatchGetsTheCoverageInPercent(t *testing.T) {
	t.Parallel()
	var line bytes.Buffer
	d := drill.Document{Site: "prod", Fleet: drill.Fleet{Coverage: new(.975)}}
	if err := report.WriteDrillMetrics(&line, d, time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"DrillCoverage":97.5`, `{"Name":"DrillCoverage","Unit":"Percent"}`} {
		if !strings.Contains(line.String(), want) {
			t.Errorf("no %s in %s", want, &line)
		}
	}
}

// An unknown share is not 0.
func TestAnUnknownShareIsNoMetric(t *testing.T) {
	t.Parallel()
	limit := room.Limit{Asked: new(int64(9)), There: new(int64(6))}
	for want, fit := range map[string]*room.Report{
		"":                        {Answer: room.Unknown, Limits: []room.Limit{limit}},
		`"DrillFullestLimit":150`: {Answer: room.DoesNotFit, Limits: []room.Limit{limit}},
	} {
		var line bytes.Buffer
		if err := report.WriteDrillMetrics(&line, drill.Document{Site: "prod", Fit: fit}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(line.String(), "DrillFullestLimit"); got != (want != "") || !strings.Contains(line.String(), want) {
			t.Errorf("want %q: %s", want, &line)
		}
	}
}
