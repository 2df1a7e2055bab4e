// Package replay is a Kubernetes API endpoint that answers from a trace: the few LISTs
// of a sample of a fleet, at an instant that is set from outside. It answers in
// protobuf to clients that accept it, in JSON to others, and in pages to clients that
// ask for a limit. It is read-only.
package replay

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/gitlatch/gitlatch/testdata/traces"
)

// An Endpoint serves a trace. It may be asked from several goroutines.
type Endpoint struct {
	trace *traces.Trace
	at    atomic.Int64 // nanoseconds since the start of the trace
	lists map[string]list
}

// A list creates one kind of list; items returns the items at one instant, in a stable
// order.
type list struct {
	kind  schema.GroupVersionKind
	items func(t *traces.Trace, at time.Duration) []runtime.Object
	// protobuf is false for the kind of a CustomResourceDefinition.
	protobuf bool
}

// New returns an endpoint at the start of a trace.
func New(t *traces.Trace) *Endpoint {
	apps, scaling := appsv1.SchemeGroupVersion, autoscalingv2.SchemeGroupVersion
	return &Endpoint{trace: t, lists: map[string]list{
		"apps/v1/deployments":                     {apps.WithKind("Deployment"), deployments, true},
		"apps/v1/statefulsets":                    {apps.WithKind("StatefulSet"), statefulSets, true},
		"apps/v1/daemonsets":                      {apps.WithKind("DaemonSet"), daemonSets, true},
		"apps/v1/replicasets":                     {apps.WithKind("ReplicaSet"), replicaSets, true},
		"apps/v1/controllerrevisions":             {apps.WithKind("ControllerRevision"), controllerRevisions, true},
		"autoscaling/v2/horizontalpodautoscalers": {scaling.WithKind("HorizontalPodAutoscaler"), autoscalers, true},
		"keda.sh/v1alpha1/scaledobjects":          {scaledObjectKind, scaledObjects, false},
	}}
}

// Seek sets the instant, since the start of the trace, that is served from now
// on.
func (e *Endpoint) Seek(at time.Duration) { e.at.Store(int64(at)) }

// ServeHTTP answers one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	obj, protobuf, status := e.answer(r)
	if status != nil {
		status.Status = metav1.StatusFailure
		status.SetGroupVersionKind(metav1.Unversioned.WithKind("Status"))
		obj, protobuf = status, false
		write(w, int(status.Code), obj, protobuf)
		return
	}
	write(w, http.StatusOK, obj, protobuf && strings.Contains(r.Header.Get("Accept"), runtime.ContentTypeProtobuf))
}

func (e *Endpoint) answer(r *http.Request) (obj runtime.Object, protobuf bool, status *metav1.Status) {
	if r.Method != http.MethodGet {
		return nil, false, &metav1.Status{Code: http.StatusMethodNotAllowed, Reason: metav1.StatusReasonMethodNotAllowed, Message: "a replay is read-only"}
	}
	at := time.Duration(e.at.Load())
	if r.URL.Path == "/api/v1/namespaces/kube-system" {
		return kubeSystem(), true, nil
	}
	resource, namespace := split(strings.TrimPrefix(r.URL.Path, "/apis/"))
	l, ok := e.lists[resource]
	if !ok {
		return nil, false, &metav1.Status{Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: "the server could not find the requested resource"}
	}
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, false, &metav1.Status{Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: err.Error()}
	}
	return l.wrap(at, l.chosen(e.trace, at, namespace, selector)), l.protobuf, nil
}

// split takes group/version/namespaces/name/resource, and the same without a
// namespace, apart.
func split(path string) (resource, namespace string) {
	if p := strings.Split(path, "/"); len(p) == 5 && p[2] == "namespaces" {
		return p[0] + "/" + p[1] + "/" + p[4], p[3]
	}
	return path, ""
}

// chosen are the items of one namespace or all, by labels. All of them make one page.
func (l list) chosen(t *traces.Trace, at time.Duration, namespace string, selector labels.Selector) []runtime.Object {
	return slices.DeleteFunc(l.items(t, at), func(item runtime.Object) bool {
		m, err := meta.Accessor(item)
		if err != nil {
			panic(err) // an object of this package
		}
		return namespace != "" && m.GetNamespace() != namespace || !selector.Matches(labels.Set(m.GetLabels()))
	})
}

// wrap puts items into the list of their kind.
func (l list) wrap(at time.Duration, items []runtime.Object) runtime.Object {
	kind := l.kind.GroupVersion().WithKind(l.kind.Kind + "List")
	var all runtime.Object = &unstructured.UnstructuredList{}
	if l.protobuf {
		all, _ = scheme.New(kind) // known types
	}
	if err := meta.SetList(all, items); err != nil {
		panic(err) // a list and its items are both of this package
	}
	of, err := meta.ListAccessor(all)
	if err != nil {
		panic(err) // it is a list
	}
	of.SetResourceVersion(version(at))
	all.GetObjectKind().SetGroupVersionKind(kind)
	return all
}

// version is the resource version of an instant.
func version(at time.Duration) string { return strconv.Itoa(int(at/time.Second) + 1) }

// scheme is the kinds that are part of Kubernetes.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, autoscalingv2.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err) // known types of one version each
		}
	}
	return s
}()

var encoder = protobuf.NewSerializer(scheme, scheme)

func write(w http.ResponseWriter, code int, obj runtime.Object, inProtobuf bool) {
	var body bytes.Buffer
	mediaType, encode := runtime.ContentTypeJSON, func() error { return json.NewEncoder(&body).Encode(obj) }
	if inProtobuf {
		mediaType, encode = runtime.ContentTypeProtobuf, func() error { return encoder.Encode(obj, &body) }
	}
	if err := encode(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(code)
	_, _ = w.Write(body.Bytes()) // a replay ignores a client that left
}
