package kube

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
)

// accept prefers protobuf, which is smaller and faster to decode than JSON. Custom
// resources are only available in JSON.
const accept = "application/vnd.kubernetes.protobuf,application/json"

// scheme has only the types that this package requests.
var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for version, types := range map[schema.GroupVersion][]runtime.Object{
		corev1.SchemeGroupVersion: {&corev1.Namespace{}},
		appsv1.SchemeGroupVersion: {
			&appsv1.DeploymentList{}, &appsv1.StatefulSetList{}, &appsv1.DaemonSetList{},
			&appsv1.ReplicaSetList{}, &appsv1.ControllerRevisionList{},
		},
		autoscalingv2.SchemeGroupVersion: {&autoscalingv2.HorizontalPodAutoscalerList{}},
	} {
		scheme.AddKnownTypes(version, types...)
		metav1.AddToGroupVersion(scheme, version)
	}
	return scheme
}()

// codecs decode the types of scheme. decoder detects the encoding.
var (
	codecs  = serializer.NewCodecFactory(scheme).WithoutConversion()
	decoder = serializer.NewCodecFactory(scheme).UniversalDeserializer()
)

// A portion is the part of an object to read.
type portion int

const (
	nothing portion = iota
	gist            // without the fields of the row's cut
	entire
)

// A page is one page of a list. R is the reduced form of an object.
type page[R any] struct {
	next string // the continue token; "" on the last page
	// read appends the reduced objects to a list. It calls want with the gist of each. If
	// want returns entire, it replaces the gist with a reading of the entire object. The
	// results do not refer to the memory of the answer.
	read func(to []R, want func(*R) portion) ([]R, error)
}

// decoded returns a page of decoded objects.
func decoded[T, R any](next string, items []T, read func(*T) R) page[R] {
	return page[R]{next, func(to []R, want func(*R) portion) ([]R, error) {
		for i := range items {
			one := read(&items[i])
			if want(&one) != nothing {
				to = append(to, one)
			}
		}
		return to, nil
	}}
}

// builtIn returns a decoder for pages of a built-in kind, in the encoding of the answer.
// The gist of an object omits the fields of without.
func builtIn[L interface {
	runtime.Object
	metav1.ListInterface
}, T, R any, P interface {
	*T
	Unmarshal([]byte) error
}](items func(L) []T, read func(*T) R, without cut) func([]byte) (page[R], error) {
	typed := func(answer []byte) (page[R], error) {
		list, err := decode[L](answer)
		if err != nil {
			return page[R]{}, err
		}
		return decoded(list.GetContinue(), items(list), read), nil
	}
	kind := kindOf[L]()
	return func(answer []byte) (page[R], error) {
		next, objects, ok := parseWire(answer, kind)
		if !ok {
			return typed(answer)
		}
		return page[R]{next, func(to []R, want func(*R) portion) ([]R, error) {
			all, err := cutShort[T, R, P](to, objects, read, without, want)
			if err == nil {
				return all, nil
			}
			whole, err := typed(answer)
			if err != nil {
				return nil, err
			}
			return whole.read(to, want)
		}}, nil
	}
}

// cutShort appends the reduced form of encoded objects.
func cutShort[T, R any, P interface {
	*T
	Unmarshal([]byte) error
}](to []R, objects [][]byte, read func(*T) R, without cut, want func(*R) portion) ([]R, error) {
	var short []byte
	var err error
	var part, none T // part is reused, because readings do not refer to its memory
	if cap(to)-len(to) < len(objects) {
		to = slices.Grow(to, len(to)+len(objects)) // append would grow by less, and copy more often
	}
	for _, message := range objects {
		part = none
		if short, err = without.of(short[:0], message); err != nil {
			return nil, err
		}
		if err := P(&part).Unmarshal(short); err != nil {
			return nil, err
		}
		to = append(to, read(&part))
		one := &to[len(to)-1]
		switch want(one) {
		case nothing:
			to = to[:len(to)-1]
		case entire:
			var all T
			if err := P(&all).Unmarshal(message); err != nil {
				return nil, err
			}
			*one = read(&all)
		}
	}
	return to, nil
}

// kindOf returns the kind of a type in the scheme.
func kindOf[L runtime.Object]() schema.GroupVersionKind {
	kinds, _, err := scheme.ObjectKinds(reflect.New(reflect.TypeFor[L]().Elem()).Interface().(L))
	if err != nil {
		panic(err) // the type is not in the scheme
	}
	return kinds[0]
}

// custom returns a decoder for pages of a custom resource. T has the fields to read. kind
// is the kind of the list; "" accepts any.
func custom[T, R any](kind string, read func(*T) R) func([]byte) (page[R], error) {
	return func(body []byte) (page[R], error) {
		var list struct {
			metav1.TypeMeta `json:",inline"`
			metav1.ListMeta `json:"metadata"`
			Items           []T `json:"items"`
		}
		if err := json.Unmarshal(body, &list); err != nil {
			return page[R]{}, fmt.Errorf("decode the answer: %w", err)
		}
		if list.Kind != kind && (kind != "" || !strings.HasSuffix(list.Kind, "List")) {
			return page[R]{}, fmt.Errorf("the answer is %q, want %s", list.Kind, cmp.Or(kind, "a list"))
		}
		return decoded(list.Continue, list.Items, read), nil
	}
}

// decode decodes the answer to the requested type. Another type is an error, because it
// would look like an empty list.
func decode[O runtime.Object](answer []byte) (O, error) {
	var none O
	object, err := runtime.Decode(decoder, answer)
	if err != nil {
		return none, errors.New("the response is cut short, or is not from the Kubernetes API. Check for a proxy in between")
	}
	if o, ok := object.(O); ok {
		return o, nil
	}
	return none, fmt.Errorf("the answer is %T, want %T", object, none)
}
