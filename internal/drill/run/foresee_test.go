package run_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// twice is a site with a second workload, cart, which is not live for doctor, and a third one,
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

// The prediction has the range of a start that nothing shows, never the end of it that
// flatters gitlatch. It writes nothing. A site that only observes gets the same levels.
func TestAForesightNamesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		objects map[string]string // replace objects of the cluster
		second  bool
		says    []string
	}{
		"one workload": {nil, false, []string{
			"Lost now, this cluster would start with 1 of 87 pods (1.1 %) and need about 7 min 30 s. With gitlatch: 100 pods, 30 s."}},
		"a manifest that nobody can see": {map[string]string{"Deployment": "metadata: {name: web, namespace: shop}\nspec: {replicas: 87, template: {spec: {containers: [{name: main}]}}}\n"}, false, []string{
			"Lost now, this cluster would start with 0 to 87 of 87 pods (0 % to 100 %) and need about 30 s. With gitlatch: 100 pods, 30 s."}},
		"a second workload": {nil, true, []string{
			"could not be read: statefulsets: forbidden", "The numbers do not include 1 workload (it has no autoscaler).",
			"Lost now, this cluster would start with 1 to 88 of 174 pods (0.5 % to 50.5 %)"}},
		"no room": {map[string]string{"Node": "{kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}, status: {allocatable: {pods: 60}}}"}, false, []string{
			"A rebuild does not fit: 40 of 100 pods stay pending"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, r := newParts(t)
			p.Repository.Edit("team", p.now, map[string][]byte{"gitlatch.yaml": nil})
			before := len(p.Repository.Log())
			p.objects = c.objects
			if c.second {
				r.Tick.Sampler = twice{p}
			}
			l, err := r.Foresee(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := l.Print(&out, term.Style{}); err != nil {
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
	for want, l := range map[string]drill.Loss{
		"The effect of a loss of this cluster is unknown: no workload needs pods.": {Document: drill.Document{Fleet: drill.Fleet{Nothing: "no workload needs pods"}}},
		"Lost now, this cluster would start with 1 of 2 pods (50 %) and need about 1 min 30 s, except the pods of 1 workload without an autoscaler that adds pods. With gitlatch: 1 pod, 30 s, except the pods of 2 workloads without an autoscaler that adds pods.": {
			Document: drill.Document{Fleet: drill.Fleet{BareAtLeast: 1, BareAtMost: 1, Need: 2, Without: 90, StuckWithout: 1, Rebuilt: 1, With: 30, StuckWith: 2}}},
	} {
		if got := l.Sentence(); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

const latching = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"
