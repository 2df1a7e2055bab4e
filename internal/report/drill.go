package report

import (
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
)

// WriteDrillMetrics writes the metrics of a drill as one line, as WriteMetrics
// does those of a tick; a coverage that is not known is left out.
func WriteDrillMetrics(w io.Writer, d drill.Document, now time.Time) error {
	low := value{"DrillsLow", "Count", 1} // below the coverage that was asked for, not read, or not known
	if d.Passed {
		low.is = 0
	}
	values := []value{{"DrillCoverage", "Percent", 100 * d.Fleet.Coverage}, low}
	if d.Fleet.Nothing != "" {
		values = values[1:] // no number is not the number 0
	}
	return embed(w, map[string]any{dimension: d.Site}, dimension, values, now)
}
