package ways_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// What the pods of the examples use: just their target, twice as much, and less
// than half.
const onTarget, busy, idle = "7m", "14m", "3m"

// A live is a cluster that Flux fills from the example of a way, with autoscalers
// that judge.
type live struct {
	*controlplane.ControlPlane
	flux   *flux.Flux
	origin *gitserver.Origin
	files  map[string][]byte // of the branch
	load   atomic.Value      // what each pod uses
}

// fill starts a cluster, and has Flux fill it by the objects given from the
// example of a way, with files added or changed.
func fill(t *testing.T, way string, changed map[string]string) *live {
	t.Helper()
	l := &live{ControlPlane: controlplane.Start(t, controlplane.Options{Audit: auditPolicy}), files: repository(t, way)}
	l.load.Store(onTarget)
	l.Nodes(t, 2)
	l.Metrics(t, func(string) string { return l.load.Load().(string) })
	l.origin = gitserver.NewOrigin(t, t.TempDir(), map[string]string{})
	for name, data := range l.files {
		// Autoscalers forget at once, and move as far as they like.
		l.files[name] = []byte(strings.ReplaceAll(string(data), "  maxReplicas: 200\n", "  maxReplicas: 200\n"+
			"  behavior: {scaleUp: {policies: [{type: Percent, value: 900, periodSeconds: 1}]}, scaleDown: {stabilizationWindowSeconds: 0}}\n"))
	}
	for name, text := range changed {
		l.files[name] = []byte(text)
	}
	all := map[string]string{}
	for name, data := range l.files {
		all[name] = string(data)
	}
	l.push(t, all)
	l.flux = flux.Start(t, l.ControlPlane, map[string]*gitserver.Origin{example.Repository: l.origin})
	return l
}

// push commits files and returns the commit.
func (l *live) push(t *testing.T, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		l.files[name] = []byte(text)
	}
	return l.origin.Push(t, "main", files, "change")
}

// latch commits levels as gitlatch does.
func (l *live) latch(t *testing.T, levels map[workload.ID]int32) string {
	t.Helper()
	return l.push(t, latched(t, l.files, levels))
}

// counts returns what the two workloads of the examples ask for.
func (l *live) counts(t *testing.T) string {
	t.Helper()
	return replicas(t, l.ControlPlane, "shop", "deployment/web") + " " + replicas(t, l.ControlPlane, "shop", "statefulset/cart")
}

// want fails where they ask for anything else.
func (l *live) want(t *testing.T, after, counts string) {
	t.Helper()
	if got := l.counts(t); got != counts {
		t.Errorf("after %s web and cart ask for %s, want %s", after, got, counts)
	}
}

// plain is a workload that git declares nothing of.
const plain = "apps/shop/plain.yaml"

// including adds a file to the kustomization of the shop.
func including(t *testing.T, file, text string) map[string]string {
	t.Helper()
	all := "apps/shop/kustomization.yaml"
	return map[string]string{all: read(t, "flux/example/"+all) + "- " + strings.TrimPrefix(file, "apps/shop/") + "\n", file: text}
}

func TestFluxAppliesTheCheckpointOnCreationOnly(t *testing.T) {
	t.Parallel()
	l := fill(t, "flux", including(t, plain, controlplane.Workload("Deployment", "shop", "plain")))
	l.Apply(t, string(ways.Flux(example)))
	l.flux.Applied(t, example.Name, l.origin.Tip("main"))
	l.want(t, "creation", "50 10")
	if got := replicas(t, l.ControlPlane, "shop", "deployment/plain"); got != "1" {
		t.Errorf("what git declares nothing of is created with %s, want 1", got)
	}

	l.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=60")
	l.Kubectl(t, "", "scale", "-n", "shop", "statefulset/cart", "--replicas=7")
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a reconcile", "60 7")
	l.flux.Applied(t, example.Name, l.latch(t, map[workload.ID]int32{web: 100, cart: 20}))
	l.want(t, "a commit of checkpoints", "60 7")

	l.load.Store(busy)
	eventually(t, l.ControlPlane, "200 200", "get", "-n", "shop", "deployment/web", "statefulset/cart", "-o", "jsonpath={.items[*].spec.replicas}")
	l.load.Store(onTarget)
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a reconcile", "200 200")
	l.flux.Applied(t, example.Name, l.latch(t, map[workload.ID]int32{web: 50, cart: 10}))
	l.want(t, "a commit of checkpoints", "200 200")
	l.flux.Applied(t, example.Name, l.push(t, map[string]string{
		"apps/shop/web.yaml": strings.ReplaceAll(string(l.files["apps/shop/web.yaml"]), ":1.4.0", ":1.5.0"),
	}))
	l.want(t, "a commit of another image", "200 200")
	eventually(t, l.ControlPlane, "registry.example.com/shop/web:1.5.0", "get", "-n", "shop", "deployment/web", "-o", "jsonpath={.spec.template.spec.containers[0].image}")

	l.Kubectl(t, "", "delete", "-n", "shop", "deployment/web", "statefulset/cart")
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a rebuild", "50 10")
}
