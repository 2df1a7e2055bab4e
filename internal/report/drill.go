package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
)

// A DrillMetric is a number that a drill gives.
type DrillMetric struct {
	Name string
	Unit string // as CloudWatch spells it
	of   func(drill.Document) float64
}

// DrillMetrics are all that a drill emits, in this order.
func DrillMetrics() []DrillMetric {
	return []DrillMetric{
		{"DrillCoverage", "Percent", func(d drill.Document) float64 { return 100 * d.Fleet.Coverage }},
		{"DrillsLow", "Count", func(d drill.Document) float64 { // below the coverage that was asked for, or not read
			if d.Passed {
				return 0
			}
			return 1
		}},
	}
}

// WriteDrillMetrics writes the metrics of a drill as one line, as WriteMetrics
// does those of a tick.
func WriteDrillMetrics(w io.Writer, d drill.Document, now time.Time) error {
	values := map[string]any{dimension: d.Site}
	var definitions []map[string]string
	for _, m := range DrillMetrics() {
		definitions = append(definitions, map[string]string{"Name": m.Name, "Unit": m.Unit})
		values[m.Name] = m.of(d)
	}
	values["_aws"] = map[string]any{
		"Timestamp":         now.UnixMilli(),
		"CloudWatchMetrics": []map[string]any{{"Namespace": Namespace, "Dimensions": [][]string{{dimension}}, "Metrics": definitions}},
	}
	text, err := json.Marshal(values)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
