package kube

import (
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/workload"
)

func readHPA(h *autoscalingv2.HorizontalPodAutoscaler, kinds workload.Kinds) autoscaler {
	ref := h.Spec.ScaleTargetRef
	a := autoscaler{
		driver:      workload.DrivenByHPA,
		name:        h.Name,
		target:      Reference{ref.APIVersion, ref.Kind, ref.Name}.Workload(kinds, h.Namespace),
		owner:       ownerOf(h, "ScaledObject", "keda.sh"),
		min:         ptr.Deref(h.Spec.MinReplicas, 1),
		max:         h.Spec.MaxReplicas,
		utilisation: utilisation(h.Spec.Metrics),
	}
	if b := h.Spec.Behavior; b != nil && b.ScaleDown != nil {
		if b.ScaleDown.Tolerance != nil {
			a.tolerance = b.ScaleDown.Tolerance.AsApproximateFloat64()
		}
		p := b.ScaleDown.SelectPolicy
		a.upOnly = p != nil && *p == autoscalingv2.DisabledPolicySelect
		a.brake = a.brakeOf(h.Annotations)
	}
	said := make(map[string]condition, len(h.Status.Conditions))
	for _, c := range h.Status.Conditions {
		said[string(c.Type)] = condition{string(c.Status), c.Reason}
	}
	a.blind = firstNotTrue(said, string(autoscalingv2.AbleToScale), string(autoscalingv2.ScalingActive))
	if a.blind == "" { // otherwise its metrics are from an earlier time
		a.load = load(h)
	}
	return a
}

// ownerOf returns the name of the object's controller if that has the kind and the group.
// Otherwise it returns "".
func ownerOf(o metav1.Object, kind, group string) string {
	owner := metav1.GetControllerOfNoCopy(o)
	if owner == nil || owner.Kind != kind || !strings.HasPrefix(owner.APIVersion, group+"/") {
		return ""
	}
	return owner.Name
}

// utilisation returns the highest target utilisation as a fraction. The autoscaler
// follows the metric that demands the most pods, and that metric changes over time. If
// desired replicas × target pods run, only the highest target keeps every metric within
// 100 %. The result is 0 if a metric has no target utilisation, because no target is safe
// then.
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
