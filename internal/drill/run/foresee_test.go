package run_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"fmt"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// twice is a site with a second workload, cart, which no folder builds, and a third one,
// queue, without an autoscaler. Part of the cluster could not be listed.
type twice struct{ *parts }

func (p twice) Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	f, err := p.parts.Sample(ctx, kinds)
	cart := f.Samples[0]
	cart.ID.Name = "cart"
	queue := f.Samples[0]
	queue.ID.Name, queue.Scale = "queue", &workload.Scale{Desired: 5, Ready: 5}
	f.Samples = append(f.Samples, cart, queue)
	f.Unread = []workload.Unread{{Part: "statefulsets", Why: "forbidden"}}
	return f, err
}

// The prediction leaves out workloads with an unknown start, and states their number. It
// writes nothing. A site that only observes gets the same levels.
func TestAForesightNamesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		paths  []string
		second bool
		node   string // of the cluster
		says   []string
	}{
		"one workload": {[]string{"clusters/prod"}, false, "", []string{
			"Lost now, this cluster would start with 1 of 87 pods (1.1 %) and need about 7 min 30 s; with these checkpoints 100 pods, 30 s."}},
		"no folder": {nil, false, "", []string{
			"Lost now, this cluster would start with an unknown number of its 87 pods; with these checkpoints 100 pods, 30 s. The number is unknown: the replicas that a rebuild starts 1 workload with are unknown. If the manifests in git set no replicas, a rebuild needs about 7 min 30 s. Use --repository",
		}},
		"a second workload": {[]string{"clusters/prod"}, true, "", []string{
			"could not be read: statefulsets: forbidden", "The numbers do not include 1 workload (it has no autoscaler).", "Notice: the replicas that a rebuild starts 1 workload with are unknown.",
			"Lost now, this cluster would start with 1 of 87 pods (1.1 %) and need about 7 min 30 s; with these checkpoints 100 pods, 30 s."}},
		"paused in git": {[]string{"clusters/paused"}, false, "", []string{
			"Lost now, this cluster would start with 0 of 87 pods (0 %)", "with these checkpoints 0 pods, "}},
		"no room": {[]string{"clusters/prod"}, false, "{kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, status: {allocatable: {pods: 60}}}", []string{
			"A rebuild does not fit: 40 of 100 pods stay pending"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, r := newParts(t)
			p.Repository.Edit("team", p.now, map[string][]byte{
				"clusters/paused/kustomization.yaml": []byte("resources: [web.yaml]\n"), "clusters/paused/web.yaml": []byte(manifest("web", "paused: true, ")),
				"gitlatch.yaml": nil, "clusters/prod/kustomization.yaml": []byte("resources: [web.yaml]\n")})
			before := len(p.Repository.Log())
			r.Paths = c.paths
			if c.node != "" {
				p.objects = map[string]string{"Node": c.node}
			}
			if c.second {
				r.Tick.Sampler = twice{p}
			}
			l, err := r.Foresee(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := l.Print(&out, term.Style{}, "Use --repository"); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(out.String()), " ")
			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("does not say %q:\n%s", want, out.String())
				}
			}
			head, err := p.store.Head(t.Context(), "prod")
			if err != nil || !head.At.IsZero() || len(p.Repository.Log()) != before || len(p.told) > 0 {
				t.Errorf("%v: it wrote: %+v, %v", err, head, p.told)
			}
		})
	}
}

// The sentence includes workloads that never get their pods, and an unknown effect.
func TestASentenceIsHonest(t *testing.T) {
	t.Parallel()
	half := 0.5
	for want, l := range map[string]drill.Loss{
		"The effect of a loss of this cluster is unknown: no workload needs pods.": {Then: drill.Document{Fleet: drill.Fleet{Nothing: "no workload needs pods"}}},
		"Lost now, this cluster would start with 1 of 2 pods (50 %) and need about 1 min 30 s, except the pods of 1 workload without an autoscaler that adds pods; with these checkpoints 1 pod, 30 s, except the pods of 2 workloads without an autoscaler that adds pods.": {
			Now:  drill.Document{Fleet: drill.Fleet{Coverage: &half, Covered: 1, Need: 2, With: 90, StuckWith: 1}},
			Then: drill.Document{Fleet: drill.Fleet{Rebuilt: 1, With: 30, StuckWith: 2}}},
	} {
		if got := l.Sentence(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

// manifest returns a Deployment. With replicas, it has the labels of a chart and is the
// live workload.
func manifest(name, count string) string {
	labels := "{app: " + name + "}"
	if name == "cart" && count != "" {
		labels = "{app: cart, helm.toolkit.fluxcd.io/name: cart, helm.toolkit.fluxcd.io/namespace: shop}"
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: shop, labels: %[2]s}
spec: {%[3]sselector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "app:1"}]}}}
`, name, labels, count)
}

const (
	rights   = "../../../infra/rbac/doctor/"
	latching = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"
	// The folder that the cluster's Kustomization names builds a base, and below it
	// one whose names get a prefix.
	overlay = "resources: [../../apps/shop, ../../apps/eu]\ncomponents: [../../checkpoints/prod/shop]\n"
	applied = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: shop, namespace: flux-system}
spec: {path: ./clusters/prod, ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]}
`
	chart = `apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: cart, namespace: shop}
spec: {values: {replicaCount: 5, autoscaling: {enabled: true}}}
`
)
