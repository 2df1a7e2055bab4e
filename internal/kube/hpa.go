package kube

import (
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// An autoscaler is one object that writes the scale of a workload.
type autoscaler struct {
	driver    workload.Driver
	namespace string
	name      string
	target    workload.ID // the zero ID where it scales something else
	// owner is the name of the ScaledObject whose tool an HPA is; "" for one
	// that stands by itself.
	owner string

	min, max    int32
	utilisation float64
	tolerance   float64
	blind       string
}

// String names the autoscaler in a phrase.
func (a autoscaler) String() string {
	if a.driver == workload.DrivenByKEDA {
		return "ScaledObject " + a.name
	}
	return "HPA " + a.name
}

func readHPA(h *autoscalingv2.HorizontalPodAutoscaler) autoscaler {
	ref := h.Spec.ScaleTargetRef
	a := autoscaler{
		driver:      workload.DrivenByHPA,
		namespace:   h.Namespace,
		name:        h.Name,
		target:      targetOf(h.Namespace, ref.APIVersion, ref.Kind, ref.Name),
		owner:       scaledObjectOf(h),
		min:         1,
		max:         h.Spec.MaxReplicas,
		utilisation: utilisation(h.Spec.Metrics),
	}
	if h.Spec.MinReplicas != nil {
		a.min = *h.Spec.MinReplicas
	}
	if b := h.Spec.Behavior; b != nil && b.ScaleDown != nil && b.ScaleDown.Tolerance != nil {
		a.tolerance = b.ScaleDown.Tolerance.AsApproximateFloat64()
	}
	said := make(map[string]condition, len(h.Status.Conditions))
	for _, c := range h.Status.Conditions {
		said[string(c.Type)] = condition{string(c.Status), c.Reason}
	}
	a.blind = firstNotTrue(said, string(autoscalingv2.AbleToScale), string(autoscalingv2.ScalingActive))
	return a
}

// targetOf returns the workload that a scaleTargetRef means.
func targetOf(namespace, apiVersion, kind, name string) workload.ID {
	version, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return workload.ID{}
	}
	k, ok := kindOf(version.Group, kind)
	if !ok {
		return workload.ID{}
	}
	return workload.ID{Namespace: namespace, Kind: k, Name: name}
}

func scaledObjectOf(h *autoscalingv2.HorizontalPodAutoscaler) string {
	owner := metav1.GetControllerOfNoCopy(h)
	if owner == nil || owner.Kind != "ScaledObject" || !strings.HasPrefix(owner.APIVersion, "keda.sh/") {
		return ""
	}
	return owner.Name
}

// utilisation returns the highest of the targets as a fraction. An autoscaler
// follows whichever metric asks for most, and which one that is changes by the
// hour: only the highest keeps each of them within 100 % in a fleet of need
// times target. It is 0 where a metric has no such figure, since none would
// then be safe.
func utilisation(metrics []autoscalingv2.MetricSpec) float64 {
	var highest int32
	for _, m := range metrics {
		var target autoscalingv2.MetricTarget
		switch {
		case m.Resource != nil:
			target = m.Resource.Target
		case m.ContainerResource != nil:
			target = m.ContainerResource.Target
		}
		if target.AverageUtilization == nil {
			return 0
		}
		highest = max(highest, *target.AverageUtilization)
	}
	return float64(highest) / 100
}

// A condition is what a status says of one thing.
type condition struct{ status, reason string }

// firstNotTrue says which of the conditions is the first that is not True, and
// why; "" where all are.
func firstNotTrue(said map[string]condition, want ...string) string {
	for _, name := range want {
		c, ok := said[name]
		switch {
		case !ok:
			return name + " is not reported"
		case c.status != string(corev1.ConditionTrue):
			return strings.TrimSuffix(name+" is "+c.status+": "+c.reason, ": ")
		}
	}
	return ""
}
