//go:build gitops

package ways_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The CPU use of the pods in the examples: equal to the target, twice the target, and
// less than half of it.
const onTarget, busy, idle = "7m", "14m", "3m"

// A tool applies git to a cluster.
type tool interface {
	// Applied waits until an object has read a commit and applied it.
	Applied(t testing.TB, name, commit string)
	// Reconcile makes an object reconcile now, and waits until it has.
	Reconcile(t testing.TB, name string)
}

// A live is a cluster with working autoscalers in which a tool applies the example of a
// method.
type live struct {
	*controlplane.ControlPlane
	tool
	origin *gitserver.Origin
	files  map[string][]byte // on the branch
	load   atomic.Value      // the CPU use of each pod
}

// fill starts a cluster in which Flux applies the example of a method, with files added
// or changed.
func fill(t *testing.T, way string, changed map[string]string) *live {
	t.Helper()
	l := start(t, way, changed)
	l.tool = flux.Start(t, l.ControlPlane, map[string]*gitserver.Origin{example.Repository: l.origin})
	return l
}

// start starts a cluster without a tool.
func start(t *testing.T, way string, changed map[string]string) *live {
	t.Helper()
	l := &live{ControlPlane: controlplane.Start(t, controlplane.Options{Audit: auditPolicy}), files: repository(t, way)}
	l.load.Store(onTarget)
	l.Nodes(t, 2)
	l.Metrics(t, func(string) string { return l.load.Load().(string) })
	l.origin = gitserver.NewOrigin(t, t.TempDir(), map[string]string{})
	for name, data := range l.files {
		// Autoscalers scale without delays and limits.
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

// asks returns the desired replicas of workloads in the shop.
func (l *live) asks(t *testing.T, workloads ...string) string {
	t.Helper()
	got, err := counts(t.Context(), l.ControlPlane, "shop", workloads...)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// want fails if the desired replicas of web and cart differ from counts.
func (l *live) want(t *testing.T, after, counts string) {
	t.Helper()
	if got := l.asks(t, shop...); got != counts {
		t.Errorf("after %s web and cart ask for %s, want %s", after, got, counts)
	}
}

// until waits until holds is true for the desired replicas of web and cart.
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

// grows makes the autoscalers scale both workloads to their maximum, and stay there.
func (l *live) grows(t *testing.T) {
	t.Helper()
	l.load.Store(busy)
	l.until(t, "the autoscalers reach their most", func(counts string) bool { return counts == "200 200" })
	l.load.Store(onTarget)
}

// plain is a workload without an entry in git.
const plain = "apps/shop/plain.yaml"

// including returns the kustomization of the shop in a method's example, with a file
// added.
func including(t *testing.T, way, file, text string) map[string]string {
	t.Helper()
	all := "apps/shop/kustomization.yaml"
	return map[string]string{all: read(t, way+"/example/"+all) + "- " + strings.TrimPrefix(file, "apps/shop/") + "\n", file: text}
}
