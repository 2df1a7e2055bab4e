package report

import (
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/tick"
)

// fleets is the dimension of the metrics of a fleet: one of each site would be
// paid for as many times as there are sites.
const fleets = "fleet"

// TicksFailed is a metric of a fleet alone: 1 for a tick that could not do all,
// and else 0. A single site's Lambda has errors, which these are not.
const TicksFailed = "TicksFailed"

// WriteFleetMetrics writes the metrics of a tick over a site of a fleet, as those
// of the fleet; the line names the site besides. The error is what the tick ended
// in, of which there is only that it failed; nil is one that came to its end.
func WriteFleetMetrics(w io.Writer, fleet string, r tick.Report, failed error, now time.Time) error {
	values := []value{{TicksFailed, "Count", 0}}
	if failed != nil || r.Err() != nil {
		values[0].is = 1
	}
	if failed == nil {
		values = append(values, valuesOf(Metrics(), r)...)
	}
	return embed(w, map[string]any{fleets: fleet, dimension: r.Site}, fleets, values, now)
}

// WriteDispatchMetrics writes those of a dispatch: that there was one, and how
// many sites had their turn.
func WriteDispatchMetrics(w io.Writer, fleet string, sites int, now time.Time) error {
	return embed(w, map[string]any{fleets: fleet}, fleets, []value{{"Dispatches", "Count", 1}, {"Turns", "Count", float64(sites)}}, now)
}
