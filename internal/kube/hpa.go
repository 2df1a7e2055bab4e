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
		a.brake = a.brakeOf(h.Annotations, p != nil && *p == autoscalingv2.DisabledPolicySelect)
	}
	said := make(map[string]condition, len(h.Status.Conditions))
	for _, c := range h.Status.Conditions {
		said[string(c.Type)] = condition{string(c.Status), c.Reason}
	}
	a.blind = firstNotTrue(said, string(autoscalingv2.AbleToScale), string(autoscalingv2.ScalingActive))
	if a.blind == "" { // else what it says of its metrics is of an earlier look
		a.load = load(h)
	}
	return a
}

// ownerOf is the name of what controls an object, if that is of a kind and a group; ""
// where it is not.
func ownerOf(o metav1.Object, kind, group string) string {
	owner := metav1.GetControllerOfNoCopy(o)
	if owner == nil || owner.Kind != kind || !strings.HasPrefix(owner.APIVersion, group+"/") {
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
