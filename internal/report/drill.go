package report

import (
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
)

// A DrillMetric is a number that a drill gives.
type DrillMetric struct {
	Name string
	Unit string // as CloudWatch spells it
	of   func(drill.Document) float64
	// known is whether a drill has the number; nil is always.
	known func(drill.Document) bool
}

// DrillMetrics are all that a drill emits, in this order.
func DrillMetrics() []DrillMetric {
	return []DrillMetric{
		{"DrillCoverage", "Percent", func(d drill.Document) float64 { return 100 * d.Fleet.Coverage }, func(d drill.Document) bool { return d.Fleet.Nothing == "" }},
		{"DrillsLow", "Count", func(d drill.Document) float64 { // below the coverage that was asked for, not read, or not known
			if d.Passed {
				return 0
			}
			return 1
		}, nil},
	}
}

// WriteDrillMetrics writes the metrics of a drill as one line, as WriteMetrics
// does those of a tick; what is not known is left out.
func WriteDrillMetrics(w io.Writer, d drill.Document, now time.Time) error {
	var values []value
	for _, m := range DrillMetrics() {
		if m.known != nil && !m.known(d) {
			continue // no number is not the number 0
		}
		values = append(values, value{m.Name, m.Unit, m.of(d)})
	}
	return embed(w, map[string]any{dimension: d.Site}, dimension, values, now)
}
