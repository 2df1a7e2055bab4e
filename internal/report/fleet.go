package report

import (
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/tick"
)

// fleets is the dimension of a fleet's metrics. A dimension for each site would multiply
// their cost by the number of sites.
const fleets = "fleet"

// TicksFailed is a metric of fleets: 1 for a tick that failed or reported a problem, and
// 0 otherwise. A single site does not need it, because there a failed tick is an error of
// the Lambda function.
const TicksFailed = "TicksFailed"

// WriteFleetMetrics writes the metrics of a tick under the dimension of the fleet. The
// line also contains the site. failed is the error of the tick, or nil. For a failed
// tick, it writes only TicksFailed.
func WriteFleetMetrics(w io.Writer, fleet string, r tick.Report, failed error, now time.Time) error {
	values := []value{{TicksFailed, "Count", oneIf(failed != nil || r.Err() != nil)}}
	if failed == nil {
		values = append(values, valuesOf(Metrics(), r)...)
	}
	return embed(w, map[string]any{fleets: fleet, dimension: r.Site}, fleets, values, now)
}

// WriteDispatchMetrics writes the metrics of a dispatch: that it happened, and the number
// of sites that got a turn.
func WriteDispatchMetrics(w io.Writer, fleet string, sites int, now time.Time) error {
	return embed(w, map[string]any{fleets: fleet}, fleets, []value{{"Dispatches", "Count", 1}, {"Turns", "Count", float64(sites)}}, now)
}
