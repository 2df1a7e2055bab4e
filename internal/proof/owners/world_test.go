//go:build gitops

package owners

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

var update = flag.Bool("update", false, "rewrite the tables of testdata; read the diff")

// settled bounds the time until a condition is true, which takes seconds of an idle machine.
const settled = 2 * time.Minute

var (
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	autoscalers = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	configmaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	bindings    = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicybindings"}
	policies    = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingadmissionpolicies"}
)

// writes is the audit policy: the log has the answers to all writes of Deployments, and the
// users of all requests for objects of the folder.
const writes = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch]
  resources: [{group: apps, resources: [deployments]}]
- level: Metadata
  resources: [{group: admissionregistration.k8s.io}, {group: "", resources: [configmaps, namespaces]}]
- level: None
`

// A world is a control plane in which Deployments get no pods.
type world struct {
	*controlplane.ControlPlane
	dyn dynamic.Interface
}

func start(t *testing.T) *world {
	t.Helper()
	cp := controlplane.Start(t, controlplane.Options{
		Audit:                  writes,
		ControllerManagerFlags: []string{"--controllers=*,-deployment-controller,-replicaset-controller"},
	})
	w := &world{ControlPlane: cp, dyn: client(cp.Config())}
	w.Apply(t, watcher(t))
	return w
}

// watcher returns a policy of another name with a binding for no namespace. It keeps the watch
// of ConfigMaps, like admission.WatchBinding, but also while the tests remove gitlatch's policy.
func watcher(t testing.TB) string {
	t.Helper()
	renamed := strings.NewReplacer(
		"\n  name: "+admission.Name+"\n", "\n  name: watcher\n",
		admission.BindingName("none"), "watcher",
		"policyName: "+admission.Name, "policyName: watcher")
	return renamed.Replace(documents(policy(t), string(admission.Binding("none"))))
}

func client(config *rest.Config) dynamic.Interface { return dynamic.NewForConfigOrDie(config) }

// policyFile returns the file of checkpoints/admission.
func policyFile(t testing.TB) string {
	t.Helper()
	text, err := admission.Policy{}.Format()
	must(t, err)
	return string(text)
}

// policy returns the admission policy without the other objects of its file.
func policy(t testing.TB) string {
	t.Helper()
	return strings.Split(policyFile(t), "---\n")[1]
}

// levels returns the checkpoint file of a namespace: its binding and its levels.
func levels(namespace string, data map[string]string) string {
	text, _ := json.Marshal(data)
	return documents(string(admission.Binding(namespace)), fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata: {name: %s, namespace: %s}
data: %s
`, namespace, admission.Namespace, text))
}

func namespace(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", name)
}

// deployment returns a manifest with a note in its template. It omits replicas if they are "".
func deployment(namespace, name, replicas, note string) string {
	if replicas != "" {
		replicas = "\n  replicas: " + replicas
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: %[1]s}
spec:%[3]s
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}, annotations: {note: %[4]q}}
    spec: {containers: [{name: main, image: "app:1", resources: {requests: {cpu: 10m}}}]}
`, namespace, name, replicas, note)
}

// checkout writes files, by path, into a new folder, and returns the folder.
func checkout(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

func documents(all ...string) string { return strings.Join(all, "---\n") }

func object(t testing.TB, manifest string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(manifest), &o.Object))
	return o
}

// replicas returns spec.replicas, or -1 if there is no such field.
func replicas(o *unstructured.Unstructured) int64 {
	switch n, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "replicas"); n := n.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return -1
}

// try returns the replica count that an API server would give to a new Deployment that omits
// it.
func try(ctx context.Context, t testing.TB, api dynamic.Interface, namespace, name string) (int64, error) {
	t.Helper()
	o := object(t, deployment(namespace, name, "", "probe"))
	o, err := api.Resource(deployments).Namespace(namespace).Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return 0, err
	}
	return replicas(o), nil
}

// would returns an error unless an API server would create a Deployment with a replica count.
func would(ctx context.Context, t testing.TB, api dynamic.Interface, namespace, name string, want int64) error {
	t.Helper()
	got, err := try(ctx, t, api, namespace, name)
	if err == nil && got != want {
		return fmt.Errorf("%s/%s would be created with %d, want %d", namespace, name, got, want)
	}
	return err
}

// acts waits until the API server would create a Deployment with a replica count.
func (w *world) acts(t *testing.T, namespace, name string, want int64) {
	t.Helper()
	eventually(t, "the policy acts", func(ctx context.Context) error { return would(ctx, t, w.dyn, namespace, name, want) })
}

// actsInAll waits until the policy acts in all namespaces. The API server learns the levels one
// after another, in the order in which kubectl applied them, so the levels of the last namespace
// come last.
func (w *world) actsInAll(t *testing.T) {
	t.Helper()
	last := teams[len(teams)-1]
	w.Apply(t, namespace(last)) // a dry-run CREATE needs the namespace
	w.acts(t, last, probe, level)
}

func eventually(t testing.TB, what string, holds func(context.Context) error) {
	t.Helper()
	var last error
	err := controlplane.Eventually(t.Context(), settled, func(ctx context.Context) error {
		err := holds(ctx)
		if ctx.Err() == nil {
			last = err
		}
		return err
	})
	if err != nil {
		t.Fatalf("wait until %s: %v; before: %v", what, err, last)
	}
}

// A shot is a Deployment at one time: its replica count, the owners of the count, the count
// in the annotation last-applied of kubectl, and the mark of the policy.
type shot struct {
	count  int64
	owners string
	last   string
	mark   string
}

func (w *world) look(t *testing.T, namespace, name string) shot {
	t.Helper()
	o, err := w.dyn.Resource(deployments).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	return shoot(o)
}

func shoot(o *unstructured.Unstructured) shot {
	s := shot{count: replicas(o), last: "-", mark: o.GetAnnotations()[admission.Mark]}
	var owners []string
	for _, m := range o.GetManagedFields() {
		var set struct {
			Spec map[string]any `json:"f:spec"`
		}
		if m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.Raw, &set) != nil || set.Spec["f:replicas"] == nil {
			continue
		}
		owner := string(m.Operation)
		if m.Subresource != "" {
			owner += " " + m.Subresource
		}
		owners = append(owners, fmt.Sprintf("%s (%s)", m.Manager, owner))
	}
	slices.Sort(owners)
	s.owners = strings.Join(owners, ", ")
	if s.owners == "" {
		s.owners = "nobody"
	}
	if text := o.GetAnnotations()["kubectl.kubernetes.io/last-applied-configuration"]; text != "" {
		var last struct{ Spec struct{ Replicas *int } }
		_ = json.Unmarshal([]byte(text), &last)
		s.last = "omitted"
		if last.Spec.Replicas != nil {
			s.last = fmt.Sprint(*last.Spec.Replicas)
		}
	}
	return s
}

// births returns the first shot of each Deployment, by namespace and name, from the answer to
// its CREATE in the audit log. So a tool that acts at once afterwards does not change it.
func (w *world) births(t *testing.T) map[string]shot {
	t.Helper()
	all := map[string]shot{}
	for _, r := range w.Audit(t) {
		if r.Object.Resource != "deployments" || r.Code != 201 || strings.Contains(r.URI, "dryRun=") {
			continue
		}
		o := &unstructured.Unstructured{}
		must(t, json.Unmarshal(r.Answers, &o.Object))
		all[o.GetNamespace()+"/"+o.GetName()] = shoot(o)
	}
	return all
}

// A table is a result in Markdown.
type table struct{ strings.Builder }

func (b *table) row(cells ...string) { fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | ")) }

func (b *table) head(cells ...string) {
	b.row(cells...)
	b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

// same compares a table with the one in a file of testdata, line by line.
func (b *table) same(t *testing.T, file string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		must(t, os.WriteFile(path, []byte(b.String()), 0o644))
		return
	}
	text, err := os.ReadFile(path)
	must(t, err)
	got, want := strings.Split(b.String(), "\n"), strings.Split(string(text), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("line %d of %s is\n%s\nwant\n%s", i+1, path, line(got, i), line(want, i))
		}
	}
}

func line(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return "(no line)"
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// replaceOnce replaces a text that occurs once.
func replaceOnce(t testing.TB, text, old, new string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is not once in the text", old)
	}
	return strings.Replace(text, old, new, 1)
}
