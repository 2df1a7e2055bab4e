package drill

import "time"

// The constants of the model. They are the defaults of Kubernetes and of metrics-server,
// where such a default exists.
const (
	// PodStart is the time from the assignment of a pod to a node until the pod is ready.
	// It assumes an image on the node, a language runtime, and caches to fill.
	PodStart = 30 * time.Second
	// MetricsWindow is the time that metrics-server observes a pod before the autoscaler
	// gets its usage. AutoscalerLook is the interval between two runs of an autoscaler.
	MetricsWindow  = 15 * time.Second
	AutoscalerLook = 15 * time.Second
	// ScaleDownWindow is the time for which an autoscaler keeps a replica count that is
	// higher than its metrics require.
	ScaleDownWindow = 5 * time.Minute
	// Growth is the factor of the replicas in one round. The default policy of an
	// autoscaler adds at most the greater of 4 pods and 100 % at once, and full pods show
	// it at most twice their target.
	Growth = 2
)

// Round is the duration of one round of growth: new pods start, the autoscaler gets their
// metrics, and then runs.
const Round = PodStart + MetricsWindow + AutoscalerLook

// DefaultModel describes the model of Takes for reports.
func DefaultModel() Model {
	constant := func(name string, value float64, unit, source string) Constant {
		return Constant{Name: name, Value: value, Unit: unit, Source: source}
	}
	return Model{
		Text: "A rebuild starts its pods at once, and they are ready after the start time of a pod. If a workload starts with fewer pods than it needs, its autoscaler adds pods in rounds, each by a growth factor. Full pods show at most twice their target, and the default policy adds at most the greater of 4 pods and 100 % in 15 s. A round takes the start time of a pod, the metrics window and the interval of the autoscaler. The autoscaler sets its minimum in the first round. The model assumes that nodes and images are available, and that no pod fails under a load that is too high. Otherwise a rebuild takes longer. An autoscaler lowers surplus pods after a scale-down window, unless its behavior has another window.",
		Constants: []Constant{
			constant("podStart", PodStart.Seconds(), "s", "assumed, as in internal/proof/rebuild/README.md: image on the node, a runtime, its caches"),
			constant("metricsWindow", MetricsWindow.Seconds(), "s", "metrics-server: --metric-resolution, default"),
			constant("autoscalerLook", AutoscalerLook.Seconds(), "s", "kube-controller-manager: --horizontal-pod-autoscaler-sync-period, default"),
			constant("scaleDownWindow", ScaleDownWindow.Seconds(), "s", "kube-controller-manager: --horizontal-pod-autoscaler-downscale-stabilization, default"),
			constant("growth", Growth, "times per round", "make bench-rebuild: replica counts double every minute in a start without checkpoints"),
			constant("policyPods", 4, "pods per 15 s", "HorizontalPodAutoscaler: behavior.scaleUp, default"),
			constant("policyPercent", 100, "% per 15 s", "HorizontalPodAutoscaler: behavior.scaleUp, default"),
		},
	}
}

// Takes estimates the time until a workload that starts with the given pods has the pods
// that it needs. Only an autoscaler adds pods; driven is true if the workload has one.
// low and high are its minimum and maximum replicas; 0 means no limit. If the need is
// above high, Takes estimates the time until high.
func Takes(start, need int32, driven bool, low, high int32) Estimate {
	e := Estimate{From: max(start, 1), Seconds: int64(PodStart / time.Second)}
	if driven {
		e.From = max(e.From, low)
	}
	if high > 0 && driven {
		need = min(need, high)
	}
	switch {
	case need <= e.From:
		return e
	case !driven:
		e.Never, e.Seconds = true, 0
		return e
	}
	for n := int64(e.From); n < int64(need); n *= Growth {
		e.Rounds++
	}
	e.Seconds = int64((PodStart + time.Duration(e.Rounds)*Round) / time.Second)
	return e
}
