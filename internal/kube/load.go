package kube

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
)

// idlest is the minimum load of an autoscaler with known metrics. A load of 0 means
// unknown.
const idlest = 0.01

// load returns the highest ratio of a metric of the autoscaler to its target. It returns
// 0 if one of the metrics is unknown, because that metric may be the highest.
func load(h *autoscalingv2.HorizontalPodAutoscaler) float64 {
	highest := 0.0
	for i, m := range h.Spec.Metrics {
		ratio, known := ratioOf(m, h.Status.CurrentMetrics, i)
		if !known {
			return 0
		}
		highest = max(highest, ratio, idlest)
	}
	return highest
}

// ratioOf returns the ratio of a metric to its target. The controller reports the metrics
// in the order of the spec, and leaves a metric empty if it could not read it.
func ratioOf(m autoscalingv2.MetricSpec, current []autoscalingv2.MetricStatus, i int) (ratio float64, known bool) {
	if i >= len(current) || current[i].Type != m.Type {
		return 0, false
	}
	now := current[i]
	switch {
	case m.Resource != nil && now.Resource != nil && now.Resource.Name == m.Resource.Name:
		return over(m.Resource.Target, now.Resource.Current)
	case m.ContainerResource != nil && now.ContainerResource != nil &&
		now.ContainerResource.Name == m.ContainerResource.Name && now.ContainerResource.Container == m.ContainerResource.Container:
		return over(m.ContainerResource.Target, now.ContainerResource.Current)
	case m.Pods != nil && now.Pods != nil && same(m.Pods.Metric, now.Pods.Metric):
		return over(m.Pods.Target, now.Pods.Current)
	case m.Object != nil && now.Object != nil && same(m.Object.Metric, now.Object.Metric):
		return over(m.Object.Target, now.Object.Current)
	case m.External != nil && now.External != nil && same(m.External.Metric, now.External.Metric):
		return over(m.External.Target, now.External.Current)
	}
	return 0, false
}

func same(a, b autoscalingv2.MetricIdentifier) bool { return equality.Semantic.DeepEqual(a, b) }

// over returns the ratio of the current value to the target, in the target's form.
func over(target autoscalingv2.MetricTarget, now autoscalingv2.MetricValueStatus) (ratio float64, known bool) {
	switch {
	case target.AverageUtilization != nil:
		if now.AverageUtilization == nil || *target.AverageUtilization <= 0 {
			return 0, false
		}
		return float64(*now.AverageUtilization) / float64(*target.AverageUtilization), true
	case target.AverageValue != nil:
		return divide(now.AverageValue, target.AverageValue)
	}
	return divide(now.Value, target.Value)
}

func divide(now, target *resource.Quantity) (ratio float64, known bool) {
	if now == nil || target == nil || target.Sign() <= 0 {
		return 0, false
	}
	return now.AsApproximateFloat64() / target.AsApproximateFloat64(), true
}
