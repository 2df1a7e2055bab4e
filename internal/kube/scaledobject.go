package kube

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A scaledObject has the fields that gitlatch reads of KEDA's ScaledObject.
type scaledObject struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		ScaleTargetRef  Reference `json:"scaleTargetRef"`
		MinReplicaCount int32     `json:"minReplicaCount"`
		MaxReplicaCount *int32    `json:"maxReplicaCount"`
	} `json:"spec"`

	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
			Reason string `json:"reason"`
		} `json:"conditions"`
	} `json:"status"`
}

// KEDAMax is KEDA's default of maxReplicaCount. The default of minReplicaCount is 0.
const KEDAMax = 100

// The annotations that pause KEDA: in full, at a number of replicas, when it scales out,
// or when it scales in. The last one, which a brake also sets, does not prevent KEDA from
// starting the pods that the workload needs.
const (
	pausedAnnotation         = "autoscaling.keda.sh/paused"
	pausedReplicasAnnotation = "autoscaling.keda.sh/paused-replicas"
	pausedScaleOutAnnotation = "autoscaling.keda.sh/paused-scale-out"
	pausedScaleInAnnotation  = "autoscaling.keda.sh/paused-scale-in"
)

func readScaledObject(o *scaledObject, kinds workload.Kinds) autoscaler {
	a := autoscaler{
		driver: workload.DrivenByKEDA,
		name:   o.Name,
		target: o.Spec.ScaleTargetRef.OrDeployment().Workload(kinds, o.Namespace),
		min:    o.Spec.MinReplicaCount,
		max:    ptr.Deref(o.Spec.MaxReplicaCount, KEDAMax),
		blind:  o.blind(),
		upOnly: o.stopped(pausedScaleInAnnotation),
		fixed:  HeldAt(o.Annotations),
	}
	a.paused = a.fixed != "" || o.stopped(pausedAnnotation)
	a.brake = a.brakeOf(o.Annotations)
	return a
}

func (o *scaledObject) blind() string {
	switch held := HeldAt(o.Annotations); {
	case held != "":
		return "ScaledObject is " + held
	case o.stopped(pausedAnnotation):
		return "ScaledObject is paused"
	case o.stopped(pausedScaleOutAnnotation):
		return "ScaledObject is paused on the way up"
	}
	said := make(map[string]condition, len(o.Status.Conditions))
	for _, c := range o.Status.Conditions {
		said[c.Type] = condition{c.Status, c.Reason}
	}
	if said["Fallback"].status == string(metav1.ConditionTrue) {
		return "Fallback is True: " + said["Fallback"].reason
	}
	return firstNotTrue(said, "Ready")
}

// HeldAt returns the number of replicas at which the annotations pause a ScaledObject, as
// a phrase. It returns "" if they do not.
func HeldAt(annotations map[string]string) string {
	count, held := annotations[pausedReplicasAnnotation]
	if !held {
		return ""
	}
	return "paused at " + strconv.Quote(count) + " replicas"
}

// stopped reads an annotation like KEDA: a value that is not a boolean means true.
func (o *scaledObject) stopped(annotation string) bool {
	value, ok := o.Annotations[annotation]
	stop, err := strconv.ParseBool(value)
	return ok && (err != nil || stop)
}
