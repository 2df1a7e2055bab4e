package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// Namespace is that of all metrics; their one dimension is the site.
const (
	Namespace = "gitlatch"
	dimension = "site"
)

// A Metric is a number that a tick or a drill gives, by what it reported.
type Metric[R any] struct {
	Name string
	Unit string // as CloudWatch spells it
	Help string // a phrase
	sense
	of func(R) float64
	// known is whether a report has the number; nil is always.
	known func(R) bool
}

// A sense is what a number is about. CloudWatch takes each as one tick gives it;
// who pulls sees the last tick's many times, or misses it.
type sense int

const (
	state sense = iota // how things stood at the tick
	event              // what happened in it
	sign               // that there was one
)

// Metrics are all that a tick emits, in this order. Alarms, rules and dashboards
// go by these names.
func Metrics() []Metric[tick.Report] {
	return []Metric[tick.Report]{
		{"Heartbeat", "Count", "ticks that came to their end", sign, func(tick.Report) float64 { return 1 }, nil},
		{"Workloads", "Count", "workloads seen", state, func(r tick.Report) float64 { return float64(each.Count(r.Decisions, ofScale)) }, nil},
		{"Crossings", "Count", "thresholds passed for their hold", event, func(r tick.Report) float64 { return float64(Counts(r.Decisions)[policy.Cross]) }, nil},
		{"Frozen", "Count", "workloads whose timers stand still", state, func(r tick.Report) float64 {
			return float64(each.Count(r.Decisions, func(d policy.Decision) bool { return ofScale(d) && d.Verdict == policy.Frozen }))
		}, nil},
		{"Commits", "Count", "commits made", event, commits, nil},
		{"PushFailures", "Count", "times that crossings could not be published", event, pushFailures, nil},
		{"Unread", "Count", "parts of the cluster that could not be read", state, func(r tick.Report) float64 { return float64(len(r.Unread)) }, nil},
		{"UnderDeclaredPods", "Count", "pods that a rebuild now would lack", state, underDeclared, nil},
		{"CheckpointAgeSeconds", "Seconds", "for how long the oldest crossing waits to be published; 0 is none", state, checkpointAge, nil},
		{"ObservedEntries", "Count", "entries in git that no tick updates, since the site observes", state, entries, observes},
	}
}

func commits(r tick.Report) float64 {
	if r.Commit == nil {
		return 0
	}
	return 1
}

// pushFailures counts what the repository would not take.
func pushFailures(r tick.Report) float64 {
	return float64(each.Count(r.Conditions, func(c alert.Condition) bool { return c.Kind == alert.Blocked }))
}

// underDeclared is how many pods a rebuild would begin with too few: those that
// latched workloads have beyond what git declares. A site that observes declares
// nothing and is not measured by it.
func underDeclared(r tick.Report) (pods float64) {
	if r.Observe {
		return 0
	}
	for _, d := range r.Decisions {
		if !ofScale(d) || d.Verdict == policy.Skip {
			continue
		}
		pods += float64(max(0, d.Count-r.Latches.Get(d.ID).Declared.Replicas))
	}
	return pods
}

// entries is the number of workloads with an entry in git.
func entries(r tick.Report) float64 { return float64(r.Latches.Entries()) }

func observes(r tick.Report) bool { return r.Observe }

// checkpointAge is how long the oldest crossing waits unpublished, in seconds;
// 0 where none does.
func checkpointAge(r tick.Report) float64 {
	if r.UnpublishedSince.IsZero() {
		return 0
	}
	return r.At.Sub(r.UnpublishedSince).Seconds()
}

// WriteMetrics writes a report's metrics as one line in CloudWatch's embedded
// metric format.
func WriteMetrics(w io.Writer, r tick.Report, now time.Time) error {
	return embed(w, map[string]any{dimension: r.Site}, dimension, valuesOf(Metrics(), r), now)
}

// A value is of a metric.
type value struct {
	name, unit string
	is         float64
}

// valuesOf are those of the metrics that a report has: no number is not the number 0.
func valuesOf[R any](metrics []Metric[R], r R) (all []value) {
	for _, m := range metrics {
		if m.known == nil || m.known(r) {
			all = append(all, value{m.Name, m.Unit, m.of(r)})
		}
	}
	return all
}

// embed writes values as one line in CloudWatch's embedded metric format: of the
// dimension that is by, which is among what the line says.
func embed(w io.Writer, line map[string]any, by string, values []value, now time.Time) error {
	var definitions []map[string]string
	for _, v := range values {
		definitions = append(definitions, map[string]string{"Name": v.name, "Unit": v.unit})
		line[v.name] = v.is
	}
	line["_aws"] = map[string]any{
		"Timestamp":         now.UnixMilli(),
		"CloudWatchMetrics": []map[string]any{{"Namespace": Namespace, "Dimensions": [][]string{{by}}, "Metrics": definitions}},
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
