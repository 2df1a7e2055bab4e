package ways_test

import (
	"context"
	"errors"
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

// shop are the workloads of the examples.
var shop = []string{"deployments/web", "statefulsets/cart"}

// asks returns the counts that workloads of the shop ask for.
func (l *live) asks(t *testing.T, workloads ...string) string {
	t.Helper()
	got, err := counts(t.Context(), l.ControlPlane, "shop", workloads...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// want fails where web and cart ask for anything else.
func (l *live) want(t *testing.T, after, counts string) {
	t.Helper()
	if got := l.asks(t, shop...); got != counts {
		t.Errorf("after %s web and cart ask for %s, want %s", after, got, counts)
	}
}

// until waits until web and cart ask for counts that hold.
func (l *live) until(t *testing.T, what string, holds func(counts string) bool) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
		got, err := counts(ctx, l.ControlPlane, "shop", shop...)
		if err == nil && !holds(got) {
			err = errors.New("they ask for " + got)
		}
		return err
	})
	if err != nil {
		t.Fatalf("wait until %s: %v", what, err)
	}
}

// grows has the autoscalers take both to their most, and stay there.
func (l *live) grows(t *testing.T) {
	t.Helper()
	l.load.Store(busy)
	l.until(t, "the autoscalers reach their most", func(counts string) bool { return counts == "200 200" })
	l.load.Store(onTarget)
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
	if got := l.asks(t, "deployments/plain"); got != "1" {
		t.Errorf("what git declares nothing of is created with %s, want 1", got)
	}

	l.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=60")
	l.Kubectl(t, "", "scale", "-n", "shop", "statefulset/cart", "--replicas=7")
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a reconcile", "60 7")
	l.flux.Applied(t, example.Name, l.latch(t, map[workload.ID]int32{web: 100, cart: 20}))
	l.want(t, "a commit of checkpoints", "60 7")

	l.grows(t)
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a reconcile", "200 200")
	l.flux.Applied(t, example.Name, l.latch(t, map[workload.ID]int32{web: 50, cart: 10}))
	l.want(t, "a commit of checkpoints", "200 200")
	l.flux.Applied(t, example.Name, l.push(t, map[string]string{
		webFile: strings.ReplaceAll(string(l.files[webFile]), v1, v2),
	}))
	l.want(t, "a commit of another image", "200 200")
	if got := l.image(t); got != v2 {
		t.Errorf("it asks for %s, want %s", got, v2)
	}

	l.Kubectl(t, "", "delete", "-n", "shop", "deployment/web", "statefulset/cart")
	l.flux.Reconcile(t, example.Name)
	l.want(t, "a rebuild", "50 10")

	l.goes(t)
}

// goes takes the Components out again. Until an autoscaler has written a count
// Flux owns it, and what a manifest no longer states ends; the rule keeps it, at
// the price that Flux applies nothing else to the workload before the manifest
// states a count itself.
func (l *live) goes(t *testing.T) {
	t.Helper()
	overlay := example.Path + "/kustomization.yaml"
	without, _, ok := strings.Cut(string(l.files[overlay]), "components:")
	if !ok {
		t.Fatalf("%s includes no Component", overlay)
	}
	l.flux.Applied(t, example.Name, l.push(t, map[string]string{overlay: without}))
	l.want(t, "the end of the Components", "50 10")

	image := strings.ReplaceAll(string(l.files[webFile]), ":1.5.0", ":1.6.0")
	l.push(t, map[string]string{webFile: image})
	l.flux.Fails(t, example.Name, "doc is missing key: /spec/replicas")
	l.want(t, "another image after it", "50 10")
	l.flux.Applied(t, example.Name, l.push(t, map[string]string{webFile: strings.Replace(image, "\n  selector:", "\n  replicas: 3\n  selector:", 1)}))
	l.want(t, "a count in the manifest", "50 10")
	if got := l.image(t); !strings.HasSuffix(got, ":1.6.0") {
		t.Errorf("it asks for %s, want 1.6.0", got)
	}
}
