package load

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// AppLabel is the label of a pod that names its workload within its namespace.
const AppLabel = "app"

// core returns a client of the API group of pods.
func core(t testing.TB, cp *controlplane.ControlPlane) rest.Interface {
	t.Helper()
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatalf("know pods: %v", err)
	}
	config := cp.Config()
	config.APIPath, config.GroupVersion = "/api", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatalf("talk to the API of pods: %v", err)
	}
	return client
}

// watch keeps the pods of all namespaces at hand until the test ends.
func watch(t testing.TB, client rest.Interface) cache.Store {
	t.Helper()
	store, informer := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(client, "pods", metav1.NamespaceAll, fields.Everything()),
		ObjectType:    &corev1.Pod{},
		Handler:       cache.ResourceEventHandlerFuncs{},
		Transform:     slim,
	})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() { defer close(done); informer.Run(stop) }()
	t.Cleanup(func() { close(stop); <-done })
	for deadline := time.Now().Add(time.Minute); !informer.HasSynced(); {
		if time.Now().After(deadline) {
			t.Fatal("the pods could not be watched within a minute")
		}
		time.Sleep(20 * time.Millisecond)
	}
	return store
}

// slim keeps only the fields of a pod that Load reads.
func slim(object any) (any, error) {
	p, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	kept := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: p.Namespace, Name: p.Name, ResourceVersion: p.ResourceVersion,
		Labels: p.Labels, DeletionTimestamp: p.DeletionTimestamp,
	}}
	for _, c := range p.Spec.Containers {
		kept.Spec.Containers = append(kept.Spec.Containers, corev1.Container{Name: c.Name})
	}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			kept.Status.Conditions = []corev1.PodCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	return kept, nil
}

// podsOf returns the pods that are not on their way out.
func podsOf(store cache.Store) []Pod {
	var pods []Pod
	for _, object := range store.List() {
		p := object.(*corev1.Pod)
		if p.DeletionTimestamp != nil {
			continue
		}
		seen := Pod{Name: p.Name, Workload: p.Namespace + "/" + p.Labels[AppLabel]}
		for _, c := range p.Status.Conditions {
			seen.Ready = seen.Ready || c.Status == corev1.ConditionTrue
		}
		pods = append(pods, seen)
	}
	return pods
}
