package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// A Fleet is a cluster before its workloads start.
type Fleet struct {
	Name string `json:"name"`
	// Objects are Namespaces, Nodes, NodePools, DaemonSets, Deployments, StatefulSets and
	// bare Pods, as the API server returns them.
	Objects       []json.RawMessage `json:"objects"`
	InstanceTypes []InstanceType    `json:"instanceTypes"`
	// Orders is the number of runs. Each run shuffles equally large pods. 0 means 1.
	Orders int `json:"orders"`
	// Rounds is the maximum number of rounds until one places a pod. 0 means no maximum.
	Rounds int `json:"rounds"`
}

// A workload is a number of identical pods.
type workload struct {
	id   string // Deployment/shop/web
	pods []*corev1.Pod
}

// read returns the objects of the fleet that Karpenter reads, and its workloads.
func (f Fleet) read(order *rand.Rand) ([]client.Object, []workload, error) {
	var objects []client.Object
	var workloads []workload
	for _, raw := range f.Objects {
		object, err := decode(raw)
		if err != nil {
			return nil, nil, err
		}
		switch o := object.(type) {
		case *appsv1.Deployment:
			workloads = append(workloads, replicated("Deployment", o.ObjectMeta, o.Spec.Replicas, o.Spec.Template, order))
		case *appsv1.StatefulSet:
			workloads = append(workloads, replicated("StatefulSet", o.ObjectMeta, o.Spec.Replicas, o.Spec.Template, order))
		case *karpenter.NodePool:
			o.StatusConditions().SetTrue(karpenter.ConditionTypeValidationSucceeded)
			o.StatusConditions().SetTrue(karpenter.ConditionTypeNodeClassReady)
			objects = append(objects, o)
		default:
			objects = append(objects, o)
		}
	}
	return objects, workloads, nil
}

func decode(raw json.RawMessage) (client.Object, error) {
	var kind metav1.TypeMeta
	err := json.Unmarshal(raw, &kind)
	if err != nil {
		return nil, err
	}
	empty, err := scheme.Scheme.New(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
	if err != nil {
		return nil, err
	}
	object, is := empty.(client.Object)
	if !is {
		return nil, fmt.Errorf("%s is not an object", kind.Kind)
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructured(unstructured(raw), object)
	return object, err
}

// unstructured returns the fields of an object, or nil if it is not JSON.
func unstructured(raw json.RawMessage) map[string]any {
	var fields map[string]any
	err := json.Unmarshal(raw, &fields)
	if err != nil {
		return nil
	}
	return fields
}

// replicated returns the pods of a workload, as kube-scheduler leaves them when no node
// has room.
func replicated(kind string, meta metav1.ObjectMeta, replicas *int32, template corev1.PodTemplateSpec, order *rand.Rand) workload {
	w := workload{id: kind + "/" + meta.Namespace + "/" + meta.Name}
	count := int32(1)
	if replicas != nil {
		count = *replicas
	}
	for i := range count {
		w.pods = append(w.pods, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: meta.Namespace, Name: fmt.Sprintf("%s-%d", meta.Name, i), Labels: template.Labels, Annotations: template.Annotations,
				UID:             types.UID(fmt.Sprintf("%016x", order.Uint64())),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: meta.Name, UID: meta.UID}},
			},
			Spec: *template.Spec.DeepCopy(),
			Status: corev1.PodStatus{
				Phase:      corev1.PodPending,
				Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}},
			},
		})
	}
	return w
}
