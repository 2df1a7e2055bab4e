package report

import (
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/drill"
)

// DrillMetrics returns the metrics of a drill, in the order in which they are written.
func DrillMetrics() []Metric[drill.Document] {
	return []Metric[drill.Document]{
		{"DrillCoverage", "gitlatch_drill_coverage_ratio", percent, "share of the needed pods that a rebuild provably starts with, from 0 to 1", state,
			func(d drill.Document) float64 { return *d.Fleet.Coverage },
			func(d drill.Document) bool { return d.Fleet.Coverage != nil }},
		{"DrillBelowTarget", "gitlatch_drill_below_target", "Count",
			"1 if the drill did not pass, because its coverage was below the target or unknown or a rebuild does not fit, otherwise 0", state,
			func(d drill.Document) float64 { return oneIf(!d.Passed) }, nil},
		{"DrillFullestLimit", "gitlatch_drill_fullest_limit_ratio", percent, "largest share of a limit that the pods of a rebuild ask for, above 1 if they do not fit; missing if a limit is unknown", state,
			func(d drill.Document) float64 { return d.Fit.Fullest() },
			func(d drill.Document) bool { return d.Fit != nil && d.Fit.Answer != room.Unknown }},
	}
}

// WriteDrillMetrics writes the metrics of a drill as one line in CloudWatch's embedded
// metric format. It omits unknown values.
func WriteDrillMetrics(w io.Writer, d drill.Document, now time.Time) error {
	return embed(w, map[string]any{dimension: d.Site}, dimension, valuesOf(DrillMetrics(), d), now)
}
