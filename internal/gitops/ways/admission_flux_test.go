package ways_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	webFile    = "apps/shop/web.yaml"
	recordFile = "checkpoints/prod-eu/shop/checkpoint.yaml"

	v1, v2 = "registry.example.com/shop/web:1.4.0", "registry.example.com/shop/web:1.5.0"
)

// rebuild has Flux fill the cluster in the steps of the example, the workloads
// once the policies act: of a namespace with a record, they raise web.
func (l *live) rebuild(t *testing.T, want string) {
	t.Helper()
	steps := strings.SplitAfter(string(l.files["flux/prod-eu.yaml"]), "---\n")
	workloads := len(steps) - 1
	l.Apply(t, strings.TrimSuffix(strings.Join(steps[:workloads], ""), "---\n"))
	l.flux.Applied(t, "prod-eu-records", l.origin.Tip("main"))
	acts(t, l.ControlPlane, "shop", "web", want)
	l.Apply(t, steps[workloads])
	l.flux.Applied(t, example.Name, l.origin.Tip("main"))
}

func TestAdmissionAppliesTheCheckpointOnCreationOnly(t *testing.T) {
	t.Parallel()
	l := fill(t, "admission", including(t, plain, controlplane.Workload("Deployment", "shop", "plain")))
	l.rebuild(t, "50 app:1")
	l.want(t, "creation", "50 10")
	if got := l.asks(t, "deployments/plain"); got != "1" {
		t.Errorf("what git declares nothing of is created with %s, want 1", got)
	}

	l.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=30")
	l.Kubectl(t, "", "scale", "-n", "shop", "statefulset/cart", "--replicas=7")
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a reconcile", "30 7")
	l.flux.Applied(t, "prod-eu-records", l.latch(t, map[workload.ID]int32{web: 100, cart: 20}))
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a commit of checkpoints", "30 7")
	l.flux.Applied(t, example.Name, l.push(t, map[string]string{webFile: strings.ReplaceAll(string(l.files[webFile]), v1, v2)}))
	l.want(t, "a commit of another image", "30 7")

	l.grows(t)
	l.flux.Applied(t, "prod-eu-records", l.latch(t, map[workload.ID]int32{web: 50, cart: 10}))
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a commit of checkpoints", "200 200")

	l.Kubectl(t, "", "delete", "-n", "shop", "deployment/web", "statefulset/cart")
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a rebuild", "50 10")
	if got := l.image(t); got != v2 {
		t.Errorf("without a rollout in flight it is created with %s, want %s", got, v2)
	}
}

// image returns the image that web asks for.
func (l *live) image(t *testing.T) string {
	t.Helper()
	return l.Kubectl(t, "", "get", "-n", "shop", "deployment/web", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
}

// A rollout to v2 was below its cut when the cluster was lost: it comes back with
// pods of v1, and rolls out again.
func TestARebuildDuringARolloutReturnsToWhatItCameFrom(t *testing.T) {
	t.Parallel()
	l := fill(t, "admission", map[string]string{
		webFile:    strings.ReplaceAll(read(t, "admission/example/"+webFile), v1, v2),
		recordFile: read(t, "admission/example/"+recordFile) + rollout("from"),
	})
	l.rebuild(t, "50 app:1")
	if got := l.image(t); got != v1 {
		t.Fatalf("it is created with %s, want %s", got, v1)
	}
	l.Kubectl(t, "", "rollout", "status", "-n", "shop", "deployment/web", "--timeout=60s")

	before := len(writes(t, l.ControlPlane, "shop"))
	l.flux.Reconcile(t, example.Name)
	if got := l.image(t); got != v2 {
		t.Fatalf("after a reconcile it asks for %s, want %s", got, v2)
	}
	l.Kubectl(t, "", "rollout", "status", "-n", "shop", "deployment/web", "--timeout=60s")
	l.want(t, "the rollout", "50 10")
	history := l.Kubectl(t, "", "get", "replicasets", "-n", "shop", "-l", "app=web", "-o",
		`jsonpath={range .items[*]}{.metadata.annotations.deployment\.kubernetes\.io/revision}{" "}{.spec.template.spec.containers[0].image}{" "}{.spec.replicas}{"\n"}{end}`)
	for _, want := range []string{"1 " + v1 + " 0\n", "2 " + v2 + " 50\n"} {
		if !strings.Contains(history, want) {
			t.Errorf("the rollout left\n%swithout %s", history, want)
		}
	}

	// The ordinary gates: at most a quarter is missing at a time.
	fewest, between := 50, 0
	for _, w := range writes(t, l.ControlPlane, "shop")[before:] {
		if w.workload == "deployments/web" {
			fewest = min(fewest, w.available)
			if w.updated > 0 && w.updated < 50 {
				between++
			}
		}
	}
	if fewest < 38 || between == 0 {
		t.Errorf("the rollout had %d pods available at its lowest, want 38 or more, and %d steps between v1 and v2, want some", fewest, between)
	}
}

// Beyond its cut it comes back with v2 alone.
func TestARebuildDuringARolloutGoesOnToTheTarget(t *testing.T) {
	t.Parallel()
	l := fill(t, "admission", map[string]string{
		webFile:    strings.ReplaceAll(read(t, "admission/example/"+webFile), v1, v2),
		recordFile: read(t, "admission/example/"+recordFile) + rollout("to"),
	})
	l.rebuild(t, "50 app:1")
	if got := l.image(t); got != v2 {
		t.Errorf("it is created with %s, want %s", got, v2)
	}
}

// rollout are the lines of web's rollout from v1 to v2.
func rollout(returns string) string {
	return `  deployment.web_differ: "images"
  deployment.web_from: "5d4f"
  deployment.web_from_web: "` + v1 + `"
  deployment.web_milestone: "25"
  deployment.web_phase: "progressing"
  deployment.web_returns: "` + returns + `"
  deployment.web_to: "7c9b"
  deployment.web_to_web: "` + v2 + `"
`
}
