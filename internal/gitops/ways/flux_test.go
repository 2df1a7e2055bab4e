//go:build gitops

package ways_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestFluxAppliesTheCheckpointOnCreationOnly(t *testing.T) {
	t.Parallel()
	l := fill(t, "flux", including(t, "flux", plain, controlplane.Workload("Deployment", "shop", "plain")))
	l.Apply(t, string(ways.Flux(example)))
	l.Applied(t, example.Name, l.origin.Tip("main"))
	l.want(t, "creation", "50 10")
	if got := l.asks(t, "deployments/plain"); got != "1" {
		t.Errorf("what git declares nothing of is created with %s, want 1", got)
	}

	l.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=60")
	l.Kubectl(t, "", "scale", "-n", "shop", "statefulset/cart", "--replicas=7")
	l.Reconcile(t, example.Name)
	l.want(t, "a reconcile", "60 7")
	l.Applied(t, example.Name, l.latch(t, map[workload.ID]int32{web: 100, cart: 20}))
	l.want(t, "a commit of checkpoints", "60 7")

	l.grows(t)
	l.Reconcile(t, example.Name)
	l.want(t, "a reconcile", "200 200")
	l.Applied(t, example.Name, l.latch(t, map[workload.ID]int32{web: 50, cart: 10}))
	l.want(t, "a commit of checkpoints", "200 200")
	l.Applied(t, example.Name, l.push(t, map[string]string{
		webFile: strings.ReplaceAll(string(l.files[webFile]), v1, v2),
	}))
	l.want(t, "a commit of another image", "200 200")
	if got := l.image(t); got != v2 {
		t.Errorf("it asks for %s, want %s", got, v2)
	}

	l.Kubectl(t, "", "delete", "-n", "shop", "deployment/web", "statefulset/cart")
	l.Reconcile(t, example.Name)
	l.want(t, "a rebuild", "50 10")

	l.goes(t)
	l.brakes(t, "-n flux-system kustomizations/"+example.Name, `[
		{"op": "add", "path": "/spec/ignore/-", "value": {"paths": ["/spec/behavior/scaleDown/selectPolicy"], "target": {"kind": "HorizontalPodAutoscaler"}}},
		{"op": "add", "path": "/spec/ignore/-", "value": {"paths": ["/metadata/annotations/autoscaling.keda.sh~1paused-scale-in"], "target": {"kind": "ScaledObject"}}}]`)
}

// goes removes the Components again. Flux owns the replicas until an autoscaler has
// written them, and removes a field that a manifest no longer states. The rule keeps
// the replicas, but Flux then applies no other change to the workload until the
// manifest states replicas.
func (l *live) goes(t *testing.T) {
	t.Helper()
	overlay := example.Path + "/kustomization.yaml"
	without, _, ok := strings.Cut(string(l.files[overlay]), "components:")
	if !ok {
		t.Fatalf("%s includes no Component", overlay)
	}
	l.Applied(t, example.Name, l.push(t, map[string]string{overlay: without}))
	l.want(t, "the end of the Components", "50 10")

	image := strings.ReplaceAll(string(l.files[webFile]), ":1.5.0", ":1.6.0")
	l.push(t, map[string]string{webFile: image})
	l.tool.(*flux.Flux).Fails(t, example.Name, "doc is missing key: /spec/replicas")
	l.want(t, "another image after it", "50 10")
	l.Applied(t, example.Name, l.push(t, map[string]string{webFile: strings.Replace(image, "\n  selector:", "\n  replicas: 3\n  selector:", 1)}))
	l.want(t, "a count in the manifest", "50 10")
	if got := l.image(t); !strings.HasSuffix(got, ":1.6.0") {
		t.Errorf("it asks for %s, want 1.6.0", got)
	}
}
