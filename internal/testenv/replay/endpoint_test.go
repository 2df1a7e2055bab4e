package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/testenv/replay"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// small is a trace of three Deployments: one that scales, one that rolls out,
// one that KEDA takes to zero.
func small() *traces.Trace {
	deployment := func(name string, driver workload.Driver) traces.Workload {
		return traces.Workload{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}, Driver: driver, Min: 2, Max: 50, Target: 0.7}
	}
	calm := func(desired, ready int32) traces.State {
		return traces.State{Desired: desired, Ready: ready, Updated: desired, Revision: 1}
	}
	from := func(at time.Duration, s traces.State) traces.Change { return traces.Change{At: at, State: s} }
	unobserved := traces.State{Desired: 20, Ready: 20, Updated: 20, Revision: 2, Note: traces.Unobserved}
	return &traces.Trace{
		Length: time.Hour,
		Workloads: []traces.Workload{deployment("api", workload.DrivenByHPA), deployment("cart", workload.DrivenByNothing), deployment("export", workload.DrivenByKEDA),
			{ID: workload.ID{Namespace: "shop", Kind: workload.DaemonSet, Name: "agent"}}},
		Changes: [][]traces.Change{
			{from(0, calm(10, 10)), from(time.Minute, calm(20, 10)), from(2*time.Minute, calm(20, 20)), from(3*time.Minute, unobserved)},
			{from(0, calm(4, 4)), from(time.Minute, traces.State{Desired: 4, Ready: 4, Updated: 1, Old: 4, Revision: 2})},
			{from(0, calm(3, 3)), from(time.Minute, calm(0, 0))},
			{from(0, calm(6, 6)), from(time.Minute, traces.State{Desired: 6, Ready: 6, Updated: 2, Old: 4, Revision: 2})},
		},
	}
}

func serve(t *testing.T, contentType string) (*replay.Endpoint, func(schema.GroupVersion) rest.Interface) {
	t.Helper()
	endpoint := replay.New(small())
	server := httptest.NewServer(endpoint)
	t.Cleanup(server.Close)

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, autoscalingv2.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return endpoint, func(gv schema.GroupVersion) rest.Interface {
		c := &rest.Config{Host: server.URL, APIPath: "/apis", QPS: -1}
		if gv.Group == "" {
			c.APIPath = "/api"
		}
		c.GroupVersion, c.NegotiatedSerializer = &gv, serializer.NewCodecFactory(scheme).WithoutConversion()
		c.AcceptContentTypes, c.ContentType = contentType, contentType
		client, err := rest.RESTClientFor(c)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
}

func TestServesTheInstantThatWasSought(t *testing.T) {
	t.Parallel()
	for _, contentType := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			endpoint, client := serve(t, contentType)
			endpoint.Seek(90 * time.Second)
			ctx := context.Background()

			var deployments appsv1.DeploymentList
			if err := client(appsv1.SchemeGroupVersion).Get().Resource("deployments").Do(ctx).Into(&deployments); err != nil {
				t.Fatal(err)
			}
			if n := len(deployments.Items); n != 3 {
				t.Fatalf("got %d deployments, want 3", n)
			}
			api, cart := deployments.Items[0], deployments.Items[1]
			if *api.Spec.Replicas != 20 || api.Status.ReadyReplicas != 10 || api.Generation != 2 || api.Status.ObservedGeneration != 2 {
				t.Errorf("api is %d/%d at generation %d, want 10/20 at 2", api.Status.ReadyReplicas, *api.Spec.Replicas, api.Generation)
			}
			if m := api.ManagedFields; m[len(m)-1].Subresource != "scale" {
				t.Errorf("api's replicas were written last by %+v, want the scale subresource", m[len(m)-1])
			}
			if cart.Status.UpdatedReplicas != 1 || cart.Status.Replicas != 5 {
				t.Errorf("cart has %d of %d updated, want 1 of 5", cart.Status.UpdatedReplicas, cart.Status.Replicas)
			}

			var sets appsv1.ReplicaSetList
			if err := client(appsv1.SchemeGroupVersion).Get().Resource("replicasets").Namespace("shop").
				Param("labelSelector", "app.kubernetes.io/name=cart").Do(ctx).Into(&sets); err != nil {
				t.Fatal(err)
			}
			if len(sets.Items) != 2 || *sets.Items[0].Spec.Replicas != 1 || *sets.Items[1].Spec.Replicas != 4 || sets.Items[0].OwnerReferences[0].UID != cart.UID {
				t.Errorf("cart's replica sets are %+v, want 1 new and 4 old pods", sets.Items)
			}

			var revisions appsv1.ControllerRevisionList
			if err := client(appsv1.SchemeGroupVersion).Get().Resource("controllerrevisions").Namespace("shop").
				Param("labelSelector", "app.kubernetes.io/name=agent").Do(ctx).Into(&revisions); err != nil {
				t.Fatal(err)
			}
			if r := revisions.Items; len(r) != 2 || r[1].Revision != 2 || r[1].OwnerReferences[0].Kind != "DaemonSet" ||
				!bytes.Contains(r[1].Data.Raw, []byte("shop/agent:v2")) || r[1].Labels[appsv1.ControllerRevisionHashLabelKey] == "" {
				t.Errorf("agent's revisions are %+v, want two, each a patch with its template", r)
			}

			var scalers autoscalingv2.HorizontalPodAutoscalerList
			if err := client(autoscalingv2.SchemeGroupVersion).Get().Resource("horizontalpodautoscalers").Do(ctx).Into(&scalers); err != nil {
				t.Fatal(err)
			}
			if len(scalers.Items) != 2 || scalers.Items[1].Name != "keda-hpa-export" || scalers.Items[1].Status.Conditions[1].Reason != "ScalingDisabled" {
				t.Errorf("autoscalers are %+v, want api's and KEDA's disabled one", scalers.Items)
			}

			var ns corev1.Namespace
			if err := client(corev1.SchemeGroupVersion).Get().Resource("namespaces").Name("kube-system").Do(ctx).Into(&ns); err != nil {
				t.Fatal(err)
			}
			if ns.UID == "" {
				t.Error("kube-system has no UID")
			}
		})
	}
}

func TestASpecNotLookedAtIsAGenerationAhead(t *testing.T) {
	t.Parallel()
	endpoint, client := serve(t, runtime.ContentTypeProtobuf)
	endpoint.Seek(3 * time.Minute)
	var list appsv1.DeploymentList
	if err := client(appsv1.SchemeGroupVersion).Get().Resource("deployments").Do(context.Background()).Into(&list); err != nil {
		t.Fatal(err)
	}
	if api := list.Items[0]; api.Generation != 3 || api.Status.ObservedGeneration != 2 {
		t.Errorf("api is at generation %d, observed %d, want 3 and 2", api.Generation, api.Status.ObservedGeneration)
	}
}

func TestScaledObjectsAreJSONWhateverIsAccepted(t *testing.T) {
	t.Parallel()
	_, client := serve(t, runtime.ContentTypeProtobuf)
	raw, err := client(schema.GroupVersion{Group: "keda.sh", Version: "v1alpha1"}).Get().Resource("scaledobjects").Do(context.Background()).Raw()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Kind  string
		Items []struct {
			Metadata struct{ Name string }
			Spec     struct{ MinReplicaCount, MaxReplicaCount int32 }
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	if list.Kind != "ScaledObjectList" || len(list.Items) != 1 || list.Items[0].Metadata.Name != "export" || list.Items[0].Spec.MaxReplicaCount != 50 {
		t.Errorf("got %s", raw)
	}
}

func TestRefusesWhatItDoesNotServe(t *testing.T) {
	t.Parallel()
	_, client := serve(t, runtime.ContentTypeJSON)
	ctx := context.Background()
	if err := client(appsv1.SchemeGroupVersion).Get().Resource("pods").Do(ctx).Error(); !apierrors.IsNotFound(err) {
		t.Errorf("an unknown resource gave %v, want not found", err)
	}
	if err := client(appsv1.SchemeGroupVersion).Delete().Resource("deployments").Do(ctx).Error(); apierrors.ReasonForError(err) != metav1.StatusReasonMethodNotAllowed {
		t.Errorf("a delete gave %v, want %d", err, http.StatusMethodNotAllowed)
	}
}
