package kube

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
)

// accept asks for protobuf where the server has it, which is smaller and
// quicker to decode than the JSON that custom resources come in.
const accept = "application/vnd.kubernetes.protobuf,application/json"

// codecs decode what is asked for, and nothing else of the API.
var codecs = func() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	for version, types := range map[schema.GroupVersion][]runtime.Object{
		corev1.SchemeGroupVersion:        {&corev1.Namespace{}},
		appsv1.SchemeGroupVersion:        {&appsv1.DeploymentList{}, &appsv1.StatefulSetList{}, &appsv1.DaemonSetList{}, &appsv1.ReplicaSetList{}, &appsv1.ControllerRevisionList{}},
		autoscalingv2.SchemeGroupVersion: {&autoscalingv2.HorizontalPodAutoscalerList{}},
	} {
		scheme.AddKnownTypes(version, types...)
		metav1.AddToGroupVersion(scheme, version)
	}
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}()

// builtIn decodes pages of a kind that is part of Kubernetes, in whichever
// encoding the server answered.
func builtIn[L interface {
	runtime.Object
	metav1.ListInterface
}, T, R any](items func(L) []T, read func(*T) R) func(rest.Result) ([]R, string, error) {
	return func(answer rest.Result) ([]R, string, error) {
		list, err := decode[L](answer)
		if err != nil {
			return nil, "", err
		}
		return reduce(items(list), read), list.GetContinue(), nil
	}
}

// custom decodes pages of a custom resource, of which T names only the fields
// that are read. The kind is that of the list; "" is any.
func custom[T, R any](kind string, read func(*T) R) func(rest.Result) ([]R, string, error) {
	return func(answer rest.Result) ([]R, string, error) {
		body, err := answer.Raw()
		if err != nil {
			return nil, "", answer.Error()
		}
		var list struct {
			metav1.TypeMeta `json:",inline"`
			metav1.ListMeta `json:"metadata"`
			Items           []T `json:"items"`
		}
		if err := json.Unmarshal(body, &list); err != nil {
			return nil, "", fmt.Errorf("decode the answer: %w", err)
		}
		if list.Kind != kind && (kind != "" || !strings.HasSuffix(list.Kind, "List")) {
			return nil, "", fmt.Errorf("the answer is %q, want %s", list.Kind, cmp.Or(kind, "a list"))
		}
		return reduce(list.Items, read), list.Continue, nil
	}
}

// decode returns the answer as the type that was asked for. Another type is an
// error: taken for an empty list it would read as zero.
func decode[O runtime.Object](answer rest.Result) (O, error) {
	var none O
	object, err := answer.Get()
	switch {
	case err != nil && answer.Error() == nil:
		var form string
		answer.ContentType(&form)
		return none, fmt.Errorf("the answer, %s, is cut short or not of the Kubernetes API: %w", form, err)
	case err != nil:
		return none, err
	}
	if o, ok := object.(O); ok {
		return o, nil
	}
	return none, fmt.Errorf("the answer is %T, want %T", object, none)
}

func reduce[T, R any](items []T, read func(*T) R) []R {
	kept := make([]R, len(items))
	for i := range items {
		kept[i] = read(&items[i])
	}
	return kept
}
