package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/report"
)

// No number is not 0 %: a graph has a gap there, and the drill is low all the
// same.
func TestACoverageThatIsNotKnownIsNoMetric(t *testing.T) {
	t.Parallel()
	for nothing, count := range map[string]int{"": 2, "nothing is asked": 0} {
		var line bytes.Buffer
		if err := report.WriteDrillMetrics(&line, drill.Document{Site: "prod", Fleet: drill.Fleet{Nothing: nothing}}, time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		if got := line.String(); strings.Count(got, `"DrillCoverage"`) != count || !strings.Contains(got, `"DrillsLow":1`) {
			t.Errorf("%q: %s", nothing, got)
		}
	}
}
