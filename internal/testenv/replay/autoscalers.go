package replay

import (
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// autoscalers are the HorizontalPodAutoscalers, those that KEDA makes included.
func autoscalers(t *traces.Trace, at time.Duration) []runtime.Object {
	var all []runtime.Object
	for i, w := range t.Workloads {
		if w.Driver == workload.DrivenByHPA || w.Driver == workload.DrivenByKEDA {
			all = append(all, autoscaler(t, i, at))
		}
	}
	return all
}

func autoscaler(t *traces.Trace, i int, at time.Duration) *autoscalingv2.HorizontalPodAutoscaler {
	w, s := t.Workloads[i], t.At(i, at)
	object, _ := workload.Kinds(nil).Object(w.ID.Kind)
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.ID.Namespace, Name: w.ID.Name, UID: uid("hpa " + w.ID.String()), Labels: labelsOf(w.ID), ResourceVersion: version(at),
	}}
	if w.Driver == workload.DrivenByKEDA {
		h.Name = "keda-hpa-" + w.ID.Name
		h.OwnerReferences = ownedBy(scaledObjectKind, w.ID.Name, uid("scaledobject "+w.ID.String()))
	}
	h.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: object.Group + "/" + object.Version, Kind: object.Kind, Name: w.ID.Name},
		MinReplicas:    new(max(1, w.Min)),
		MaxReplicas:    w.Max,
		Metrics:        []autoscalingv2.MetricSpec{metric(w)},
	}
	h.Status = autoscalingv2.HorizontalPodAutoscalerStatus{
		ObservedGeneration: new(h.Generation),
		CurrentReplicas:    s.Desired,
		DesiredReplicas:    s.Desired,
		Conditions:         conditions(w, s),
	}
	return h
}

func metric(w traces.Workload) autoscalingv2.MetricSpec {
	if w.Target > 0 {
		return autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(w.Target*100 + 0.5))},
		}}
	}
	return autoscalingv2.MetricSpec{Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
		Metric: autoscalingv2.MetricIdentifier{Name: "waiting"},
		Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: resource.NewQuantity(100, resource.DecimalSI)},
	}}
}

func conditions(w traces.Workload, s traces.State) []autoscalingv2.HorizontalPodAutoscalerCondition {
	condition := func(kind autoscalingv2.HorizontalPodAutoscalerConditionType, is bool, reason string) autoscalingv2.HorizontalPodAutoscalerCondition {
		status := corev1.ConditionFalse
		if is {
			status = corev1.ConditionTrue
		}
		return autoscalingv2.HorizontalPodAutoscalerCondition{Type: kind, Status: status, Reason: reason}
	}
	active := condition(autoscalingv2.ScalingActive, true, "ValidMetricFound")
	switch {
	case s.Note == traces.Blind:
		active = condition(autoscalingv2.ScalingActive, false, "FailedGetResourceMetric")
	case s.Desired == 0:
		active = condition(autoscalingv2.ScalingActive, false, "ScalingDisabled")
	}
	limited := condition(autoscalingv2.ScalingLimited, false, "DesiredWithinRange")
	switch {
	case s.Desired >= w.Max:
		limited = condition(autoscalingv2.ScalingLimited, true, "TooManyReplicas")
	case s.Desired <= w.Min:
		limited = condition(autoscalingv2.ScalingLimited, true, "TooFewReplicas")
	}
	return []autoscalingv2.HorizontalPodAutoscalerCondition{
		condition(autoscalingv2.AbleToScale, true, "ReadyForNewScale"), active, limited,
	}
}

var scaledObjectKind = schema.GroupVersionKind{Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject"}

// scaledObjects returns KEDA's ScaledObjects. They omit the target's kind if it is a
// Deployment, as KEDA allows.
func scaledObjects(t *traces.Trace, at time.Duration) []runtime.Object {
	var all []runtime.Object
	for i, w := range t.Workloads {
		if w.Driver != workload.DrivenByKEDA {
			continue
		}
		active := "True"
		if t.At(i, at).Desired == 0 {
			active = "False"
		}
		all = append(all, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": scaledObjectKind.GroupVersion().String(), "kind": scaledObjectKind.Kind,
			"metadata": map[string]any{
				"namespace": w.ID.Namespace, "name": w.ID.Name, "uid": string(uid("scaledobject " + w.ID.String())), "resourceVersion": version(at),
			},
			"spec": map[string]any{
				"scaleTargetRef":  map[string]any{"name": w.ID.Name},
				"minReplicaCount": int64(w.Min),
				"maxReplicaCount": int64(w.Max),
				"triggers":        []any{map[string]any{"type": "aws-sqs-queue", "metadata": map[string]any{"queueLength": "100"}}},
			},
			"status": map[string]any{
				"hpaName":         "keda-hpa-" + w.ID.Name,
				"scaleTargetKind": "apps/v1.Deployment",
				"conditions": []any{
					map[string]any{"type": "Ready", "status": "True", "reason": "ScaledObjectReady"},
					map[string]any{"type": "Active", "status": active, "reason": "ScalerActive"},
				},
			},
		}})
	}
	return all
}
