package report

import (
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/placement"
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
		{"DrillPendingPods", "gitlatch_drill_pending_pods", "Count", "pods of a rebuild that cannot be placed; missing if this is unknown", state,
			func(d drill.Document) float64 { return float64(d.Fit.Waiting()) },
			func(d drill.Document) bool { return d.Fit != nil && d.Fit.Verdict != placement.Unknown }},
	}
}

// WriteDrillMetrics writes the metrics of a drill as one line in CloudWatch's embedded
// metric format. It omits unknown values.
func WriteDrillMetrics(w io.Writer, d drill.Document, now time.Time) error {
	return embed(w, map[string]any{dimension: d.Site}, dimension, valuesOf(DrillMetrics(), d), now)
}
