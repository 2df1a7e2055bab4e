package kube_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

const (
	deployments   = "/apis/apps/v1/deployments"
	statefulSets  = "/apis/apps/v1/statefulsets"
	daemonSets    = "/apis/apps/v1/daemonsets"
	replicaSets   = "/apis/apps/v1/replicasets"
	revisions     = "/apis/apps/v1/controllerrevisions"
	hpas          = "/apis/autoscaling/v2/horizontalpodautoscalers"
	scaledObjects = "/apis/keda.sh/v1alpha1/scaledobjects"
	rollouts      = "/apis/argoproj.io/v1alpha1/rollouts"
	canaries      = "/apis/flagger.app/v1beta1/canaries"
	workers       = "/apis/example.com/v1/workers"
	kubeSystem    = "/api/v1/namespaces/kube-system"
)

// An endpoint answers like an API server with the given objects: in pages, in protobuf
// on request, and compressed if the client accepts that.
type endpoint struct {
	*httptest.Server
	t    *testing.T
	held map[string][]runtime.Object // by path

	jsonOnly bool
	// trouble may answer in place of the endpoint, and then returns true. n is the number
	// of requests for the path so far, from 1.
	trouble func(w http.ResponseWriter, r *http.Request, n int) bool

	mu       sync.Mutex
	seen     []*http.Request
	counts   map[string]int
	gzipped  int
	protobuf int
}

// scheme has the types of the served objects, except custom resources.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, autoscalingv2.AddToScheme, corev1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}()

// kinds are the listed kinds, by path.
var kinds = map[string]schema.GroupVersionKind{
	deployments:   appsv1.SchemeGroupVersion.WithKind("Deployment"),
	statefulSets:  appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	daemonSets:    appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
	replicaSets:   appsv1.SchemeGroupVersion.WithKind("ReplicaSet"),
	revisions:     appsv1.SchemeGroupVersion.WithKind("ControllerRevision"),
	hpas:          autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"),
	scaledObjects: {Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject"},
	rollouts:      {Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"},
	canaries:      {Group: "flagger.app", Version: "v1beta1", Kind: "Canary"},
	workers:       {Group: "example.com", Version: "v1", Kind: "Worker"},
}

// installed are the kinds that some clusters do not have.
var installed = []string{scaledObjects, rollouts, canaries, workers}

func serve(t *testing.T, objects ...runtime.Object) *endpoint {
	t.Helper()
	e := &endpoint{t: t, held: map[string][]runtime.Object{}, counts: map[string]int{}}
	for _, o := range objects {
		for path, kind := range kinds {
			if kind == o.GetObjectKind().GroupVersionKind() {
				e.held[path] = append(e.held[path], o)
			}
		}
	}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

// objects decodes YAML documents.
func objects(t *testing.T, text string) (all []runtime.Object) {
	t.Helper()
	for _, document := range strings.Split(text, "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			t.Fatal(err)
		}
		var into any
		o, err := scheme.New(kind.GroupVersionKind())
		if into = o; err != nil {
			u := &unstructured.Unstructured{}
			o, into = u, &u.Object
		}
		if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		all = append(all, o)
	}
	return all
}

func (e *endpoint) config() *rest.Config { return &rest.Config{Host: e.URL} }

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, namespace := r.URL.Path, ""
	if before, after, ok := strings.Cut(path, "/namespaces/"); ok && path != kubeSystem {
		var resource string
		namespace, resource, _ = strings.Cut(after, "/")
		path = before + "/" + resource
	}
	e.mu.Lock()
	e.seen = append(e.seen, r)
	e.counts[path]++
	n := e.counts[path]
	e.mu.Unlock()
	if e.trouble != nil && e.trouble(w, r, n) {
		return
	}
	kind, known := kinds[path]
	switch {
	case path == kubeSystem:
		e.answer(w, r, &corev1.Namespace{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "5e0c1d2f"}})
	case !known, slices.Contains(installed, path) && e.held[path] == nil:
		http.Error(w, "404 page not found", http.StatusNotFound)
	default:
		e.answer(w, r, e.page(kind, e.chosen(r, path, namespace), r))
	}
}

// chosen returns the objects that a request selects.
func (e *endpoint) chosen(r *http.Request, path, namespace string) (all []runtime.Object) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		e.t.Error(err)
		return nil
	}
	for _, o := range e.held[path] {
		m, _ := meta.Accessor(o)
		if (namespace == "" || m.GetNamespace() == namespace) && selector.Matches(labels.Set(m.GetLabels())) {
			all = append(all, o)
		}
	}
	return all
}

// page returns one page of a list. Its continue token is an offset.
func (e *endpoint) page(kind schema.GroupVersionKind, all []runtime.Object, r *http.Request) runtime.Object {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit <= 0 {
		e.t.Errorf("%s asks for no limit", r.URL)
		limit = len(all)
	}
	from, _ := strconv.Atoi(q.Get("continue"))
	to := min(len(all), from+limit)
	kind.Kind += "List"
	var list runtime.Object = &unstructured.UnstructuredList{}
	if typed, err := scheme.New(kind); err == nil {
		list = typed
	}
	list.GetObjectKind().SetGroupVersionKind(kind)
	m, _ := meta.ListAccessor(list)
	if to < len(all) {
		m.SetContinue(strconv.Itoa(to))
	}
	if err := meta.SetList(list, all[from:to]); err != nil {
		e.t.Error(err)
	}
	return list
}

func (e *endpoint) answer(w http.ResponseWriter, r *http.Request, o runtime.Object) {
	body, contentType := new(bytes.Buffer), "application/json"
	_, custom := o.(runtime.Unstructured)
	var err error
	if binary := "application/vnd.kubernetes.protobuf"; strings.Contains(r.Header.Get("Accept"), binary) && !e.jsonOnly && !custom {
		contentType = binary
		err = protobuf.NewSerializer(scheme, scheme).Encode(o, body)
	} else {
		err = json.NewEncoder(body).Encode(o)
	}
	if err != nil {
		e.t.Error(err)
	}
	w.Header().Set("Content-Type", contentType)
	e.mu.Lock()
	defer e.mu.Unlock()
	if contentType != "application/json" {
		e.protobuf++
	}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && body.Len() > 1024 {
		e.gzipped++
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		_, _ = z.Write(body.Bytes())
		return
	}
	_, _ = w.Write(body.Bytes())
}

// refuse answers like an API server that refuses a request.
func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message})
}

// asked returns the requests so far in the form of audit.Granted: "list
// deployments.apps".
func (e *endpoint) asked() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []string
	for _, r := range e.seen {
		verb, group := "list", ""
		var resource string
		switch part := strings.Split(strings.Trim(r.URL.Path, "/"), "/"); {
		case r.Method != http.MethodGet, r.URL.Query().Has("watch"):
			verb = "other than get and list:"
			resource = r.Method + " " + r.URL.String()
		case part[0] == "api" && len(part) == 4:
			verb, resource = "get", part[2]
		case part[0] == "apis":
			group, resource = part[1], part[len(part)-1]
		default:
			resource = r.URL.Path
		}
		all = append(all, fmt.Sprintf("%s %s.%s", verb, resource, group))
	}
	return all
}
