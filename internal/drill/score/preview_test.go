package score_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/score"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/testenv/levels"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A lost is a cluster without gitlatch, which Flux fills. Its objects are YAML by their kind.
type lost struct {
	objects map[string]string
	samples []workload.Sample
	minor   int
	fail    string // a kind that may not be listed
}

func (l *lost) List(_ context.Context, _, _, kind string) (all []json.RawMessage, err error) {
	if kind == l.fail {
		return nil, errors.New("forbidden: no")
	}
	for one := range strings.SplitSeq(l.objects[kind], "\n---\n") {
		data, err := yaml.YAMLToJSON([]byte(one))
		if err != nil {
			return nil, err
		}
		if string(data) != "null" {
			all = append(all, data)
		}
	}
	return all, nil
}
func (*lost) Get(context.Context, string) (json.RawMessage, error) { return nil, nil }
func (l *lost) ReadLevels(context.Context) admission.Levels {
	return admission.Levels{Version: admission.Observed(l.minor), Policy: admission.Missing(), Bindings: admission.Observed([]map[string]any{}), ConfigMaps: admission.Observed([]admission.ConfigMap{})}
}

// object returns an object by its metadata and spec, in the flow style of YAML.
func object(metadata, spec string) string {
	return fmt.Sprintf("\n---\nmetadata: %s\nspec: %s\n", metadata, spec)
}

func newLost() *lost {
	l := &lost{minor: 37, objects: map[string]string{
		"Kustomization": levels.Kustomizations,
		"NodePool":      "{kind: NodePool, metadata: {name: default}, spec: {limits: {pods: 900}}}",
		"Node":          "{kind: Node, metadata: {name: n1, labels: {karpenter.sh/nodepool: default}}, status: {capacity: {cpu: 4, pods: 10}, allocatable: {cpu: 4, pods: 10}}}",
	}}
	l.add("web", 87, levels.Metadata("shop", "web"), "{replicas: 87, template: {spec: {containers: [{name: main}]}}}")
	return l
}

// add adds a workload with an autoscaler.
func (l *lost) add(name string, pods int32, metadata, spec string) {
	l.objects["Deployment"] += object(metadata, spec)
	l.samples = append(l.samples, workload.Sample{
		ID:      workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name},
		Scale:   &workload.Scale{Desired: pods, Ready: pods, Driver: workload.DrivenByHPA, Max: 500},
		Rollout: &workload.Rollout{},
	})
}

// owned returns the metadata of a workload that Flux applies, with more fields.
func owned(name, more string) string {
	return fmt.Sprintf("{name: %s, namespace: shop, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}, %s}", name, more)
}

func (l *lost) preview(t *testing.T, unread ...workload.Unread) drill.Preview {
	t.Helper()
	c := doctor.Case{Set: config.DefaultPolicy(5 * time.Minute), Cluster: doctor.ReadCluster(t.Context(), l, nil),
		Fleet: workload.Fleet{Cluster: "uid", At: now, Samples: l.samples, Unread: unread}}
	c.ReadRoom(t.Context(), nil, nil)
	return score.Preview(c)
}

// A preview has the range of a start that nothing shows, also with gitlatch. Each cause that
// lowers the start with gitlatch is a finding.
func TestAPreviewIsHonest(t *testing.T) {
	t.Parallel()
	const stated = `managedFields: [{manager: kustomize-controller, operation: Apply, fieldsV1: {"f:spec": {"f:replicas": {}}}}]`
	one := func(metadata, spec string) func(*lost) {
		return func(l *lost) { l.objects["Deployment"] = object(metadata, spec) }
	}
	for name, c := range map[string]struct {
		make           func(*lost)
		want, findings string
	}{
		"the manifest omits replicas": {func(*lost) {},
			"Without gitlatch, a rebuild would start 1 of the 87 needed pods (1.1 %) and take about 7 min 30 s. With gitlatch, a rebuild would start 100 pods and take about 30 s.", ""},
		"a manifest that nobody can see": {one(owned("web", ""), "{replicas: 87, template: {spec: {containers: [{name: main}]}}}"),
			"Without gitlatch, a rebuild would start 0 to 87 of the 87 needed pods (0 % to 100 %) and take about 30 s to 7 min 30 s. With gitlatch, a rebuild would start 0 to 100 pods and take about 30 s to 7 min 30 s.", "manifest-unknown"},
		"nothing creates the workload": {one(`{name: web, namespace: shop, managedFields: [{manager: ci, operation: Apply, fieldsV1: {"f:spec": {}}}]}`, "{replicas: 87, template: {spec: {containers: [{name: main}]}}}"),
			"Without gitlatch, a rebuild would start 0 to 1 of the 87 needed pods (0 % to 1.1 %) and take about 7 min 30 s. With gitlatch, a rebuild would start 0 to 100 pods and take about 30 s to 7 min 30 s.", "no-owner"},
		"Flux resets the replicas": {one(owned("web", stated), "{replicas: 30, template: {spec: {containers: [{name: main}]}}}"),
			"Without gitlatch, a rebuild would start 30 of the 87 needed pods (34.4 %) and take about 2 min 30 s. With gitlatch, a rebuild would start 30 pods and take about 2 min 30 s.", "replicas-reset"},
		"the manifest states 0": {one(owned("web", stated), "{replicas: 0, template: {spec: {containers: [{name: main}]}}}"),
			"Without gitlatch, a rebuild would start 0 of the 87 needed pods (0 %) and take about 7 min 30 s. With gitlatch, a rebuild would start 0 pods and take about 7 min 30 s.", "manifest-states-zero replicas-reset"},
		"Kubernetes 1.35": {func(l *lost) { l.minor = 35 },
			"Without gitlatch, a rebuild would start 1 of the 87 needed pods (1.1 %) and take about 7 min 30 s. With gitlatch, a rebuild would start 1 pod and take about 7 min 30 s.", "kubernetes-too-old"},
		"Kustomizations that may not be read": {func(l *lost) { l.fail = "Kustomization" },
			"Without gitlatch, a rebuild would start 0 to 1 of the 87 needed pods (0 % to 1.1 %) and take about 7 min 30 s. With gitlatch, a rebuild would start 0 to 100 pods and take about 30 s to 7 min 30 s.", "missing-rights not-read"},
		"no workload": {func(l *lost) { l.samples, l.objects["Deployment"] = nil, "" },
			"The effect of a loss of this cluster is unknown: gitlatch writes no level for any of its workloads, and git has no level.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLost()
			c.make(l)
			p := l.preview(t)
			if got := strings.Join(lists.Map(p.Findings, func(f drill.Finding) string { return f.Trap }), " "); p.Sentence != c.want || got != c.findings {
				t.Errorf("got  %s\nwant %s\nfindings %s, want %s", p.Sentence, c.want, got, c.findings)
			}
		})
	}
}

// The sentence includes workloads that never get their pods.
func TestASentenceNamesStuckWorkloads(t *testing.T) {
	t.Parallel()
	const want = "Without gitlatch, a rebuild would start 1 of the 2 needed pods (50 %) and take about 1 min 30 s, except the pods of 1 workload without an autoscaler that adds pods. With gitlatch, a rebuild would start 1 pod and take about 30 s, except the pods of 2 workloads without an autoscaler that adds pods."
	p := drill.Preview{Need: 2, Without: drill.Outcome{CoveredAtLeast: 1, CoveredAtMost: 1, SecondsAtLeast: 90, SecondsAtMost: 90, Stuck: 1},
		With: drill.Outcome{PodsAtLeast: 1, PodsAtMost: 1, SecondsAtLeast: 30, SecondsAtMost: 30, Stuck: 2}}
	if got := p.Told().Sentence; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The table has the ten workloads with the most missing pods, the next command, and then the
// reasons to trust the numbers less.
func TestTheTableOfAPreview(t *testing.T) {
	t.Parallel()
	l := newLost()
	for i := range 12 {
		name := fmt.Sprintf("w%d", i)
		l.add(name, int32(100+i), levels.Metadata("shop", name), "{replicas: 100, template: {spec: {containers: [{name: main}]}}}")
	}
	l.add("seen", 200, owned("seen", ""), "{replicas: 200, template: {spec: {containers: [{name: main}]}}}")
	l.samples = append(l.samples, workload.Sample{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "queue"}, Scale: &workload.Scale{Desired: 5, Ready: 5}})
	l.objects["NodePool"] = strings.Replace(l.objects["NodePool"], "900", "60", 1)
	p := l.preview(t, workload.Unread{Part: "statefulsets", Why: "unreachable"})
	var out strings.Builder
	if err := p.Table(&out, term.Style{}); err != nil {
		t.Fatal(err)
	}
	text, at := out.String(), -1
	for _, want := range []string{
		"Without gitlatch,", "\nshop/w11  111", "\nshop/w2   102", "\nand 4 more workloads\n", "\n" + "Next: gitlatch init ",
		"\nmanifest-unknown (unknown): shop/deployment/seen\n", "\n  Fix: apply the workload server-side",
		"could not be read: statefulsets: unreachable", "Not counted in the prediction: 1 workload (it has no autoscaler)", "The cluster does not have room for all pods of a rebuild",
	} {
		next := strings.Index(text, want)
		if next < at || next < 0 {
			t.Errorf("%q is not there, or too early:\n%s", want, text)
		}
		at = next
	}
	data, err := json.Marshal(p)
	var fields map[string]any
	if err != nil || json.Unmarshal(data, &fields) != nil || fields["kind"] != "Preview" || fields["sentence"] != p.Sentence {
		t.Errorf("%v, fields %q", err, slices.Sorted(maps.Keys(fields)))
	}
}
