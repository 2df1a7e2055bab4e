package report

// Metrics are emitted under MetricNamespace with one dimension, MetricDimension,
// whose value is the site. The alarms and the dashboard of template.yaml name
// them.
const (
	MetricNamespace = "gitlatch"
	MetricDimension = "site"
)

// The metrics of a tick. Each but PushFailures and Commits is emitted by every
// tick that came to its end, be it 0: what is missing is a tick.
const (
	MetricHeartbeat            = "Heartbeat"            // 1
	MetricCrossings            = "Crossings"            // decided in this tick
	MetricCommits              = "Commits"              // made in this tick
	MetricPushFailures         = "PushFailures"         // crossings could not be published
	MetricUnderDeclaredPods    = "UnderDeclaredPods"    // pods that run beyond what is declared, over all latched workloads
	MetricCheckpointAgeSeconds = "CheckpointAgeSeconds" // since the oldest crossing that waits to be published; 0 where none does
	MetricUnread               = "Unread"               // parts of the cluster that could not be read
	MetricFrozen               = "Frozen"               // workloads whose timers stand still
)

// Metrics returns the names of all metrics.
func Metrics() []string {
	return []string{
		MetricHeartbeat,
		MetricCrossings,
		MetricCommits,
		MetricPushFailures,
		MetricUnderDeclaredPods,
		MetricCheckpointAgeSeconds,
		MetricUnread,
		MetricFrozen,
	}
}
