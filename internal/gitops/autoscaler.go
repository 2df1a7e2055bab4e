package gitops

import (
	"cmp"
	"encoding/json"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// The kinds of autoscalers.
const (
	HPA          workload.Kind = "horizontalpodautoscaler"
	ScaledObject workload.Kind = "scaledobject"
)

// Autoscalers are the kinds of autoscalers in the Kubernetes API. They have no replicas.
var Autoscalers = workload.Kinds{
	HPA:          {Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler", Resource: "horizontalpodautoscalers"},
	ScaledObject: {Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject", Resource: "scaledobjects"},
}

// An Autoscaler is an HPA or a ScaledObject of KEDA.
type Autoscaler struct {
	Object             // only the ID, Unplaced and Annotations
	Target workload.ID // its kind is "" if the kinds do not have it
	Min    int32       // in pods; 0 if not stated
	Meta   metav1.ObjectMeta
	Data   json.RawMessage // the entire object
}

// AutoscalerOf parses an autoscaler of a kind from JSON. kinds has the kinds of workloads.
func AutoscalerOf(kind workload.Kind, data []byte, kinds workload.Kinds) (Autoscaler, error) {
	var o struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			MinReplicas     int32                                     `json:"minReplicas"`
			MinReplicaCount int32                                     `json:"minReplicaCount"` // of a ScaledObject
			ScaleTargetRef  autoscalingv1.CrossVersionObjectReference `json:"scaleTargetRef"`
		} `json:"spec"`
	}
	err := json.Unmarshal(data, &o)
	target := o.Spec.ScaleTargetRef
	if kind == ScaledObject { // KEDA has these defaults
		target.APIVersion, target.Kind = cmp.Or(target.APIVersion, "apps/v1"), cmp.Or(target.Kind, "Deployment")
	}
	group, _, _ := strings.Cut(target.APIVersion, "/")
	of, _ := kinds.Named(group, target.Kind)
	return Autoscaler{
		Object: Object{ID: workload.ID{Namespace: o.Metadata.Namespace, Kind: kind, Name: o.Metadata.Name}, Annotations: o.Metadata.Annotations},
		Target: workload.ID{Namespace: o.Metadata.Namespace, Kind: of, Name: target.Name},
		Min:    max(o.Spec.MinReplicas, o.Spec.MinReplicaCount), Meta: o.Metadata, Data: data,
	}, err
}
