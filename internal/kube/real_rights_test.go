//go:build cluster || argo

package kube_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// rights sends requests with the sampler's identity, and compares the status codes. The
// API server must forbid every request that the sampler does not need.
func (r *realCluster) rights(t *testing.T) {
	config := r.cp.As("gitlatch", "gitlatch:samplers")
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/apis/apps/v1/deployments":                             http.StatusOK,
		"/apis/apps/v1/deployments?watch=true&timeoutSeconds=1": http.StatusForbidden,
		"/apis/apps/v1/namespaces/rest/deployments/web":         http.StatusForbidden,
		"/apis/apps/v1/namespaces/rest/deployments/web/scale":   http.StatusForbidden,
		"/apis/apps/v1/controllerrevisions":                     http.StatusOK,
		"/apis/apps/v1/namespaces/rest/controllerrevisions/db":  http.StatusForbidden,
		"/api/v1/secrets":                      http.StatusForbidden,
		"/api/v1/configmaps":                   http.StatusForbidden,
		"/api/v1/pods":                         http.StatusForbidden,
		"/api/v1/namespaces":                   http.StatusForbidden,
		"/api/v1/namespaces/kube-system":       http.StatusOK,
		"/api/v1/namespaces/rest":              http.StatusForbidden,
		"/apis/keda.sh/v1alpha1/scaledobjects": http.StatusNotFound,
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("GET %s: %s, want %d", path, answer.Status, want)
		}
	}
}

// without grants a separate group the role without one resource. It returns the fleet
// that the group can sample.
func (r *realCluster) without(t *testing.T, resource string) workload.Fleet {
	t.Helper()
	var role rbacv1.ClusterRole
	text, err := os.ReadFile(roleFile)
	if err == nil {
		err = yaml.UnmarshalStrict(text, &role)
	}
	if err != nil {
		t.Fatal(err)
	}
	role.Name = "without-" + resource
	for i := range role.Rules {
		role.Rules[i].Resources = slices.DeleteFunc(role.Rules[i].Resources, func(s string) bool { return s == resource })
	}
	role.Rules = slices.DeleteFunc(role.Rules, func(p rbacv1.PolicyRule) bool { return len(p.Resources) == 0 })
	less, err := yaml.Marshal(role)
	if err != nil {
		t.Fatal(err)
	}
	r.cp.Apply(t, string(less), fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: %[1]s}]
`, role.Name))

	var fleet workload.Fleet
	partial := sampler(t, r.cp.As("gitlatch", role.Name))
	err = controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) (err error) {
		if fleet, err = partial.Sample(ctx, nil); err == nil && len(fleet.Unread) != 1 { // until the binding is effective
			err = fmt.Errorf("unread: %q", fleet.Unread)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(fleet.Unread[0].String(), resource) || !strings.Contains(fleet.Unread[0].String(), ": forbidden: ") || !strings.Contains(fleet.Unread[0].String(), `"gitlatch"`) {
		t.Errorf("unread: %q", fleet.Unread)
	}
	return fleet
}

func (r *realCluster) withoutAutoscalers(t *testing.T) {
	fleet := r.without(t, "horizontalpodautoscalers")
	for _, s := range fleet.Samples {
		if s.Scale != nil || s.Rollout == nil || s.ID.Kind.Scales() != (s.Unknown != "") {
			t.Errorf("%s: %s", s.ID, show(s))
		}
	}
	if _, err := sampleIn(fleet, "rest/deployment/web"); err != nil {
		t.Error(err)
	}
}

func (r *realCluster) withoutDeployments(t *testing.T) {
	fleet := r.without(t, "deployments")
	for _, s := range fleet.Samples {
		if s.ID.Kind == workload.Deployment {
			t.Errorf("%s: %s", s.ID, show(s))
		}
	}
	if _, err := sampleIn(fleet, "rest/statefulset/db"); err != nil {
		t.Error(err)
	}
}

// keda defines and creates a ScaledObject. Controllers of KEDA are not part of the test.
func (r *realCluster) keda(t *testing.T) {
	r.cp.Define(t, controlplane.ScaledObject)
	r.namespace(t, "keda")
	r.cp.Apply(t, workloadYAML("Deployment", "keda", "orders", "orders:1", "  replicas: 0"), `
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: orders, namespace: keda}
spec: {scaleTargetRef: {name: orders}, maxReplicaCount: 30}
status: {conditions: [{type: Ready, status: "True"}]}
`)
	s := r.untilSample(t, "keda/deployment/orders", func(s workload.Sample) bool {
		return s.Scale != nil && s.Scale.Driver == workload.DrivenByKEDA
	})
	if want := (workload.Scale{Driver: workload.DrivenByKEDA, Max: 30}); *s.Scale != want {
		t.Errorf("orders: %s, want %+v", show(s), want)
	}
	fleet := r.without(t, "scaledobjects")
	if _, err := sampleIn(fleet, "keda/deployment/orders"); err != nil {
		t.Error(err)
	}
}
