package kube_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fmt"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// worker is a kind that a site names. Its replicas are in a nested field of its spec.
var worker = workload.Object{Group: "example.com", Version: "v1", Kind: "Worker", Resource: "workers",
	Replicas: ".spec.pool.size", Ready: ".status.readyReplicas"}

// sampleNamed samples an endpoint for a site that names the kind.
func sampleNamed(t *testing.T, e *endpoint, o workload.Object) workload.Fleet {
	t.Helper()
	s, err := kube.New(e.config(), kube.Options{Site: "prod-eu", Clock: func() time.Time { return lookedAt }})
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := s.Sample(t.Context(), workload.Kinds{"worker": o})
	if err != nil {
		t.Fatal(err)
	}
	return fleet
}

const workerHPA = `
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: example.com/v1beta1, kind: Worker, name: web}
  minReplicas: 2
  maxReplicas: 900
status: {conditions: [{type: AbleToScale, status: "True"}, {type: ScalingActive, status: "True"}]}`

func TestAKindThatASiteNamesIsRead(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: example.com/v1\nkind: Worker\nmetadata: {name: web, namespace: shop, generation: 7}\n"
	const rest = "  rollout: none of 187 pods\n"
	for name, c := range map[string]struct{ object, want string }{
		"at rest":                     {head + "spec: {pool: {size: 187}}\nstatus: {readyReplicas: 180}", "  scale: 187 desired, 180 ready\n" + rest},
		"driven":                      {head + "spec: {pool: {size: 187}}\nstatus: {readyReplicas: 180}" + workerHPA, "  scale: 187 desired, 180 ready\n  driven by hpa: 2 to 900, target 0, tolerance 0\n" + rest},
		"generation observed":         {head + "spec: {pool: {size: 187}}\nstatus: {readyReplicas: 180, observedGeneration: 7}", "  scale: 187 desired, 180 ready\n" + rest},
		"generation as text":          {head + "spec: {pool: {size: 187}}\nstatus: {readyReplicas: 180, observedGeneration: \"7\"}", "  scale: 187 desired, 180 ready\n" + rest},
		"generation not observed":     {head + "spec: {pool: {size: 187}}\nstatus: {readyReplicas: 180, observedGeneration: 6}", "  unknown: generation 7 is not observed yet\n"},
		"text not observed":           {head + "spec: {pool: {size: 187}}\nstatus: {readyReplicas: 180, observedGeneration: \"6\"}", "  unknown: generation 7 is not observed yet\n"},
		"generation that is none":     {head + "spec: {pool: {size: 187}}\nstatus: {readyReplicas: 180, observedGeneration: 5d8f}", "  unknown: observed generation \"5d8f\" is not a number\n"},
		"no count":                    {head + "spec: {pool: {}}\nstatus: {readyReplicas: 180}", "  unknown: it has no number of pods at .spec.pool.size\n"},
		"no parent of the count":      {head + "status: {readyReplicas: 180}", "  unknown: it has no number of pods at .spec.pool.size\n"},
		"a parent that is no mapping": {head + "spec: {pool: 187}\nstatus: {readyReplicas: 180}", "  unknown: it has no number of pods at .spec.pool.size\n"},
		"a count that is null":        {head + "spec: {pool: {size: null}}\nstatus: {readyReplicas: 180}", "  unknown: it has no number of pods at .spec.pool.size\n"},
		"a count that is text":        {head + "spec: {pool: {size: \"187\"}}\nstatus: {readyReplicas: 180}", "  unknown: it has no number of pods at .spec.pool.size\n"},
		"a count below zero":          {head + "spec: {pool: {size: -1}}\nstatus: {readyReplicas: 180}", "  unknown: it has no number of pods at .spec.pool.size\n"},
		"nothing ready is told":       {head + "spec: {pool: {size: 187}}\nstatus: {replicas: 187}", "  unknown: it has no number of pods at .status.readyReplicas\n"},
		"no status yet":               {head + "spec: {pool: {size: 187}}", "  unknown: it has no number of pods at .status.readyReplicas\n"},
		"none ready":                  {head + "spec: {pool: {size: 187}}\nstatus: {readyReplicas: 0}", "  scale: 187 desired, 0 ready\n" + rest},
		"asks and opts out": {strings.Replace(head, "generation: 7", "generation: 7, annotations: {gitlatch.dev/latch: \"no\"}", 1) + "spec: {pool: {size: 187}}\nstatus: {readyReplicas: 180}",
			"  opted out\n  scale: 187 desired, 180 ready\n" + rest},
		"written through scale": {strings.Replace(head, "generation: 7", `generation: 7, managedFields: [{manager: kubectl, operation: Update, subresource: scale, apiVersion: example.com/v1, time: "2026-11-20T08:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:pool": {"f:size": {}}}}}]`, 1) +
			"spec: {pool: {size: 187}}\nstatus: {readyReplicas: 180}",
			"  scale: 187 desired, 180 ready\n  driven by scale: 0 to 0, target 0, tolerance 0\n  written by kubectl at 2026-11-20T08:00:00Z\n" + rest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tell(sampleNamed(t, serve(t, objects(t, c.object)...), worker)); got != "shop/worker/web\n"+c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// If the cluster does not serve a kind, forbids it, or serves it in another form, the
// kind is in Fleet.Unread. It never counts as a kind without objects.
func TestAKindThatASiteNamesIsNeverTakenForGone(t *testing.T) {
	t.Parallel()
	web := objects(t, "apiVersion: example.com/v1\nkind: Worker\nmetadata: {name: web, namespace: shop}\nspec: {pool: {size: 5}}\nstatus: {readyReplicas: 5}")
	forbidden := func(e *endpoint) { e.trouble = forbid("workers") }
	for name, c := range map[string]struct {
		objects []runtime.Object
		of      func(*workload.Object)
		trouble func(*endpoint)
		want    string
	}{
		"not served": {nil, nil, nil, "workers.example.com: the cluster does not serve workers of example.com/v1, which the policy names as worker. Correct kinds of the policy, or install the CustomResourceDefinition"},
		"of another version": {web, func(o *workload.Object) { o.Version = "v2" }, nil,
			"workers.example.com: the cluster does not serve workers of example.com/v2, which the policy names as worker. Correct kinds of the policy, or install the CustomResourceDefinition"},
		"forbidden":       {web, nil, forbidden, "workers.example.com: forbidden: no"},
		"of another kind": {web, func(o *workload.Object) { o.Kind = "Walker" }, nil, "workers.example.com: the objects have the kind Worker, but the policy has Walker"},
		"no list": {web, nil, func(e *endpoint) {
			e.trouble = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if r.URL.Path == workers {
					refuse(w, http.StatusOK, metav1.StatusReasonUnknown, "")
				}
				return r.URL.Path == workers
			}
		}, `workers.example.com: the answer is "Status", want a list`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := worker
			if c.of != nil {
				c.of(&o)
			}
			e := serve(t, c.objects...)
			if c.trouble != nil {
				c.trouble(e)
			}
			fleet := sampleNamed(t, e, o)
			if len(fleet.Samples) > 0 || !slices.Equal(workload.Texts(fleet.Unread), []string{c.want}) {
				t.Errorf("samples %v, unread %q; want %q", fleet.Samples, fleet.Unread, c.want)
			}
			if _, looked := fleet.Kinds.Object("worker"); !looked {
				t.Error("the fleet does not say that it was looked for")
			}
		})
	}
}

// A built-in kind is requested as JSON, because its fields are read from JSON.
func TestAKindOfKubernetesCanBeNamed(t *testing.T) {
	t.Parallel()
	e := serve(t, objects(t, "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, namespace: shop, generation: 1}\nspec: {replicas: 5}\nstatus: {readyReplicas: 4, observedGeneration: 1}")...)
	got := tell(sampleNamed(t, e, workload.Object{Group: "apps", Version: "v1", Kind: "ReplicaSet", Resource: "replicasets", Replicas: workload.Replicas, Ready: workload.Ready}))
	if want := "shop/worker/web\n  scale: 5 desired, 4 ready\n  rollout: none of 5 pods\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// An HPA for a kind of the same name in another group is ignored.
func TestATargetIsOfItsGroup(t *testing.T) {
	t.Parallel()
	other := strings.Replace(workerHPA, "example.com/v1beta1", "example.org/v1", 1)
	e := serve(t, objects(t, "apiVersion: example.com/v1\nkind: Worker\nmetadata: {name: web, namespace: shop}\nspec: {pool: {size: 5}}\nstatus: {readyReplicas: 5}"+other)...)
	if s := sampleNamed(t, e, worker).Samples[0]; s.Scale == nil || s.Scale.Driver != workload.DrivenByNothing {
		t.Errorf("%s", show(s))
	}
}

// lookedAt is the time of every sample in these tests.
var lookedAt = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// show returns a sample as text for a user.
func show(s workload.Sample) string {
	return fmt.Sprintf("scale %+v, rollout %+v, unknown %q, terminating %t", s.Scale, s.Rollout, s.Unknown, s.Terminating)
}

func sampler(t *testing.T, config *rest.Config) *kube.Sampler {
	t.Helper()
	s, err := kube.New(config, kube.Options{Site: "prod-eu", Clock: func() time.Time { return lookedAt }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// roleFile has the rights of a sampler.
const roleFile = "../../infra/rbac/clusterrole.yaml"
