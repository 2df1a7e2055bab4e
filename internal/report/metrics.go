package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// Namespace is the CloudWatch namespace of every metric. The metrics of a site have one
// dimension, the site.
const (
	Namespace = "gitlatch"
	dimension = "site"
	// percent is the unit of a ratio in CloudWatch. Prometheus gets the ratio itself.
	percent = "Percent"
)

// A Metric is a number in the report R of a tick or a drill.
type Metric[R any] struct {
	Name   string // in CloudWatch
	Series string // in Prometheus
	Unit   string // of CloudWatch
	Help   string // a phrase, for Prometheus
	sense
	of func(R) float64
	// known reports whether a report has the number. nil means always.
	known func(R) bool
}

// A sense defines how Prometheus shows a number. CloudWatch gets each tick's number once.
// A scraper can read the number of one tick several times, or miss it.
type sense int

const (
	state sense = iota // the state at the tick: a gauge
	event              // the number of events in the tick: a counter
	sign               // a sign that a tick completed: its time
)

// Metrics returns the metrics of a tick, in the order in which they are written. Alarms,
// rules and dashboards use these names.
func Metrics() []Metric[tick.Report] {
	return []Metric[tick.Report]{
		{"Heartbeat", "gitlatch_last_tick_timestamp_seconds", "Count", "time of the last completed tick", sign, heartbeat, nil},
		{"Workloads", "gitlatch_workloads", "Count", "workloads that the tick sampled", state, workloads, nil},
		{"LevelChanges", "gitlatch_level_changes_total", "Count", "level changes that ticks decided to make", event, levelChanges, nil},
		{"FrozenWorkloads", "gitlatch_frozen_workloads", "Count", "frozen workloads", state, frozen, nil},
		{"Commits", "gitlatch_commits_total", "Count", "commits by gitlatch", event, commits, nil},
		{"PushFailures", "gitlatch_push_failures_total", "Count", "failures to publish level changes", event, pushFailures, nil},
		{"UnlistedResources", "gitlatch_unlisted_resources", "Count", "kinds of objects that the tick could not list", state, unlisted, nil},
		{"MissingPods", "gitlatch_missing_pods", "Count", "desired replicas above the levels in git", state, missingPods, nil},
		{"PendingLevelChangeAgeSeconds", "gitlatch_pending_level_change_age_seconds", "Seconds",
			"age of the oldest level change that gitlatch has not published, in seconds", state, pendingAge, nil},
		{"ObservedEntries", "gitlatch_observed_entries", "Count",
			"checkpoint entries that ticks do not update, because the mode is observe", state, entries, observes},
	}
}

// heartbeat is 1 for each completed tick.
func heartbeat(tick.Report) float64 { return 1 }

func workloads(r tick.Report) float64 { return float64(lists.Count(r.Decisions, ofScale)) }

func levelChanges(r tick.Report) float64 { return float64(Counts(r.Decisions)[policy.Cross]) }

func frozen(r tick.Report) float64 {
	return float64(lists.Count(r.Decisions, func(d policy.Decision) bool { return ofScale(d) && d.Verdict == policy.Frozen }))
}

func unlisted(r tick.Report) float64 { return float64(len(r.Unread)) }

func commits(r tick.Report) float64 { return oneIf(r.Commit != nil) }

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// pushFailures returns the number of failures to publish to git.
func pushFailures(r tick.Report) float64 {
	return float64(lists.Count(r.Conditions, func(c alert.Condition) bool { return c.Kind == alert.Blocked }))
}

// missingPods returns the number of pods of latched workloads above their levels in git.
// It returns 0 for a site that observes, because a tick writes no levels there.
func missingPods(r tick.Report) (pods float64) {
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

// pendingAge returns the age of the oldest level change that is not published, in
// seconds, or 0 if every level change is published.
func pendingAge(r tick.Report) float64 {
	if r.Head.UnpublishedSince.IsZero() {
		return 0
	}
	return r.At.Sub(r.Head.UnpublishedSince).Seconds()
}

// WriteMetrics writes a report's metrics as one line in CloudWatch's embedded
// metric format.
func WriteMetrics(w io.Writer, r tick.Report, now time.Time) error {
	return embed(w, map[string]any{dimension: r.Site}, dimension, valuesOf(Metrics(), r), now)
}

// A value is the value of a metric.
type value struct {
	name, unit string
	is         float64
}

// valuesOf returns the values for CloudWatch. It omits metrics that are unknown in a
// report, because an unknown number is not 0.
func valuesOf[R any](metrics []Metric[R], r R) (all []value) {
	for _, m := range metrics {
		if m.known != nil && !m.known(r) {
			continue
		}
		number := m.of(r)
		if m.Unit == percent {
			number *= 100
		}
		all = append(all, value{m.Name, m.Unit, number})
	}
	return all
}

// embed writes values as one line in CloudWatch's embedded metric format. line has the
// other fields of the line. by is the one of them that is the dimension.
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
