package drill

import "time"

// The constants of the model. Where Kubernetes or metrics-server has a default it
// is that.
const (
	// PodStart is how long a pod takes from its node to ready: image there, a
	// runtime, its caches.
	PodStart = 30 * time.Second
	// MetricsWindow is over how long metrics-server looks at a pod before its use
	// counts, and AutoscalerLook the time from one look of an autoscaler to the
	// next.
	MetricsWindow  = 15 * time.Second
	AutoscalerLook = 15 * time.Second
	// Growth is by how much a count grows from round to round: what an autoscaler's
	// default policy lets it add at once is the greater of 4 pods and 100 %, and
	// pods that are full show it no more than twice their target.
	Growth = 2
)

// Round is how long one round of growth takes: new pods start, their metrics
// count, the autoscaler looks.
const Round = PodStart + MetricsWindow + AutoscalerLook

// DefaultModel is the model that Takes estimates by, as reports say it.
func DefaultModel() Model {
	constant := func(name string, value float64, unit, source string) Constant {
		return Constant{Name: name, Value: value, Unit: unit, Source: source}
	}
	return Model{
		Text: "A rebuild starts its pods at once, and they are ready after podStart. If a workload starts with fewer pods than it needs, its autoscaler adds pods in rounds, each by the factor growth. Full pods show at most twice their target, and the default policy adds at most the greater of policyPods and policyPercent per period. A round takes podStart, metricsWindow and autoscalerLook. The autoscaler sets its minimum in the first round. The model assumes that nodes and images are available, and that no pod fails under a load that is too high. Otherwise a rebuild takes longer.",
		Constants: []Constant{
			constant("podStart", PodStart.Seconds(), "s", "assumed, as in internal/proof/rebuild/README.md: image on the node, a runtime, its caches"),
			constant("metricsWindow", MetricsWindow.Seconds(), "s", "metrics-server: --metric-resolution, default"),
			constant("autoscalerLook", AutoscalerLook.Seconds(), "s", "kube-controller-manager: --horizontal-pod-autoscaler-sync-period, default"),
			constant("growth", Growth, "times per round", "make bench-rebuild: replica counts double every minute in a start without checkpoints"),
			constant("policyPods", 4, "pods per 15 s", "HorizontalPodAutoscaler: behavior.scaleUp, default"),
			constant("policyPercent", 100, "% per 15 s", "HorizontalPodAutoscaler: behavior.scaleUp, default"),
		},
	}
}

// Takes estimates how long a workload takes to a need that it starts below, at or
// above, in pods. It grows by itself only where it is driven by an autoscaler,
// whose bounds low and high are 0 where it has none.
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
