package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// Namespace is that of all metrics; their one dimension is the site.
const (
	Namespace = "gitlatch"
	dimension = "site"
)

// A Metric is a number that a tick gives.
type Metric struct {
	Name string
	Unit string // as CloudWatch spells it
	of   func(tick.Report) float64
}

// Metrics are all that a tick emits, in this order. Alarms and dashboards go by
// these names.
func Metrics() []Metric {
	return []Metric{
		{"Heartbeat", "Count", func(tick.Report) float64 { return 1 }}, // a tick came to its end
		{"Workloads", "Count", func(r tick.Report) float64 { return float64(len(scales(r.Decisions))) }},
		{"Crossings", "Count", func(r tick.Report) float64 { return float64(Counts(r.Decisions)[policy.Cross]) }},
		{"Frozen", "Count", func(r tick.Report) float64 { return float64(Counts(scales(r.Decisions))[policy.Frozen]) }},
		{"Commits", "Count", commits},
		{"PushFailures", "Count", pushFailures},
		{"Unread", "Count", func(r tick.Report) float64 { return float64(len(r.Unread)) }},
		{"UnderDeclaredPods", "Count", underDeclared},
		{"CheckpointAgeSeconds", "Seconds", checkpointAge},
	}
}

func commits(r tick.Report) float64 {
	if r.Commit == nil {
		return 0
	}
	return 1
}

// pushFailures counts what the repository would not take.
func pushFailures(r tick.Report) (n float64) {
	for _, c := range r.Conditions {
		if c.Kind == alert.Blocked {
			n++
		}
	}
	return n
}

// underDeclared is how many pods a rebuild would begin with too few: those that
// latched workloads have beyond what git declares. A site that observes declares
// nothing and is not measured by it.
func underDeclared(r tick.Report) (pods float64) {
	if r.Observe {
		return 0
	}
	for _, d := range scales(r.Decisions) {
		if d.Verdict == policy.Skip {
			continue
		}
		declared := int32(0)
		if l, ok := r.Latches[d.ID]; ok {
			declared = l.Declared.Replicas
		}
		pods += float64(max(0, d.Count-declared))
	}
	return pods
}

// checkpointAge is how long the oldest crossing waits unpublished, in seconds;
// 0 where none does.
func checkpointAge(r tick.Report) float64 {
	if r.Due.IsZero() {
		return 0
	}
	return r.At.Sub(r.Due).Seconds()
}

// WriteMetrics writes a report's metrics as one line in CloudWatch's embedded
// metric format.
func WriteMetrics(w io.Writer, r tick.Report, now time.Time) error {
	type definition struct {
		Name string
		Unit string
	}
	line := map[string]any{dimension: r.Site}
	var definitions []definition
	for _, m := range Metrics() {
		definitions = append(definitions, definition{m.Name, m.Unit})
		line[m.Name] = m.of(r)
	}
	line["_aws"] = map[string]any{
		"Timestamp": now.UnixMilli(),
		"CloudWatchMetrics": []map[string]any{{
			"Namespace": Namespace, "Dimensions": [][]string{{dimension}}, "Metrics": definitions,
		}},
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
