//go:build gitops

package charts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/helm"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// site is the name of the site, of its repository and of Flux's GitRepository.
const site = "prod-eu"

// autoscaler is the user of HPAs in the API server.
const autoscaler = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"

// settle bounds the work of a controller, which takes seconds on an idle machine.
const settle = 3 * time.Minute

// values are the values that upgrades change. The others never change.
type values struct {
	Image    string `json:"image"`
	LogLevel string `json:"logLevel"`
}

// all returns all values of a cell.
func (v values) all() map[string]any {
	return map[string]any{
		"image": v.Image, "logLevel": v.LogLevel, "replicaCount": stated,
		"autoscaling": map[string]any{"enabled": true, "minReplicas": 2, "maxReplicas": 200},
	}
}

// A world is a cluster in which all tools apply their cells from one repository.
type world struct {
	*controlplane.ControlPlane
	argo   *argocd.ArgoCD
	origin *gitserver.Origin
	url    string            // of the repository
	files  map[string]string // on the branch
	dir    string            // a clone, for plain Helm
	cells  []cell
	seen   map[cell]*outcome
	counts map[cell]int // replicas before the upgrade
	guards bool         // the charts that set replicas have been changed to guards
	now    values
	before values // the values of the previous upgrade
}

// start starts the tools, with a repository that contains the charts and the levels.
// Nothing but the tools and the test sets replicas: no HPA acts, and no pod starts.
func start(t *testing.T) *world {
	t.Helper()
	helm4 := helm.Dir(t, helm.V4)
	w := &world{
		ControlPlane: controlplane.Start(t, controlplane.Options{
			ControllerManagerFlags: []string{"--controllers=*,-horizontal-pod-autoscaler-controller,-replicaset-controller"},
		}),
		files: map[string]string{}, dir: t.TempDir(), cells: cells(), seen: map[cell]*outcome{}, counts: map[cell]int{},
	}
	server := gitserver.Start(t)
	w.origin = server.Create(t, "fleet", map[string]string{})
	w.url = server.URL("fleet")

	charts := filepath.Join("..", "..", "..", "testdata", "charts")
	err := filepath.WalkDir(charts, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(charts, path)
		w.files["charts/"+filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var changes []checkpoint.Change
	for _, c := range w.cells {
		w.seen[c] = &outcome{}
		id := workload.ID{Namespace: c.name(), Kind: workload.Deployment, Name: "web"}
		changes = append(changes, checkpoint.Change{ID: id, To: checkpoint.Entry{Replicas: level, Min: 2, Max: 200}})
	}
	cluster := w.Kubectl(t, "", "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	tree, err := checkpoint.ParseTree(site, nil)
	if err != nil {
		t.Fatal(err)
	}
	levels, _ := checkpoint.Merge(tree, checkpoint.Site{Name: site, Cluster: cluster}, changes)
	checkpoint.List(tree, levels, nil)
	for name, data := range levels {
		w.files[name] = string(data)
	}
	w.files["policy/policy.yaml"] = string(ways.Admission(w.place(cell.admitted)))
	w.push(t, w.files) // before Flux reads it: a HelmChart stalls if its first commit has no chart

	helm.StartFlux(t, w.ControlPlane)
	w.argo = argocd.Start(t, w.ControlPlane, helm4)
	w.Apply(t, fmt.Sprintf("{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: %s, namespace: flux-system}, spec: {interval: 1h, url: %q, ref: {branch: main}}}", site, w.url),
		w.files["policy/policy.yaml"])
	return w
}

// place returns the input of gitlatch's rules for the cells that have the rule.
func (w *world) place(has func(cell) bool) ways.Place {
	place := ways.Place{Site: site, Repository: w.url, Branch: "main", Name: site}
	for _, c := range w.cells {
		if has(c) {
			place.Namespaces = append(place.Namespaces, c.name())
		}
	}
	return place
}

// of returns the cells of tools.
func (w *world) of(tools ...string) []cell {
	return slices.DeleteFunc(slices.Clone(w.cells), func(c cell) bool { return !slices.Contains(tools, c.tool) })
}

// bootstrap applies the namespaces and the checkpoint files, and waits until the policy
// sets the level of a new workload.
func (w *world) bootstrap(t *testing.T) {
	t.Helper()
	var first, probes, want strings.Builder
	for _, c := range w.cells {
		fmt.Fprintf(&first, "---\n{apiVersion: v1, kind: Namespace, metadata: {name: %s}}\n---\n%s", c.name(), w.files[checkpoint.RecordPath(site, c.name())])
		if c.admitted() {
			probes.WriteString("---\n" + controlplane.Workload("Deployment", c.name(), "web"))
			want.WriteString(strconv.Itoa(level) + " ")
		}
	}
	w.Apply(t, first.String())
	err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
		got, err := w.TryKubectl(ctx, probes.String(), "create", "--dry-run=server", "-f", "-", "-o", `jsonpath={.spec.replicas}{" "}`)
		if err == nil && got != want.String() {
			err = errors.New("new workloads have the replicas " + got)
		}
		return err
	})
	if err != nil {
		t.Fatalf("wait until the admission policy acts: %v", err)
	}
}

// upgrade scales all cells, makes all tools upgrade them, and compares the replicas. Most
// upgrades change the image, some the values, and one returns to the previous release. The
// first one follows the creation without a change by the autoscaler.
func (w *world) upgrade(t *testing.T, i int) {
	t.Helper()
	for _, c := range w.cells {
		w.counts[c] = w.count(t, c)
		if i > 0 {
			w.scale(t, c, 20+7*i%30)
		}
	}
	if i%5 == 3 {
		w.reconcile(t)
	}
	v, rollback := w.now, i == *upgrades/2
	switch {
	case rollback:
		v = w.before
	case i%4 == 3:
		v.LogLevel = fmt.Sprint("level-", i)
	default:
		v.Image = fmt.Sprint("registry.example.com/shop/web:", i+1)
	}
	failed := w.apply(t, v, rollback)
	for _, c := range w.cells {
		if got := w.count(t, c); got != w.counts[c] {
			w.seen[c].resets++
			t.Logf("upgrade %d of %s: %d replicas, before it %d", i, c.name(), got, w.counts[c])
		}
		if failed[c] != nil {
			w.seen[c].failed++
			t.Logf("upgrade %d of %s: %v", i, c.name(), failed[c])
		}
	}
}

// rebuild deletes all namespaces with the objects of the tools, and starts again from git.
func (w *world) rebuild(t *testing.T) {
	t.Helper()
	w.Kubectl(t, "", "delete", "-n", "argocd", "applications.argoproj.io", "--all")
	w.Kubectl(t, "", "delete", "-A", "helmreleases.helm.toolkit.fluxcd.io", "--all")
	names := []string{"delete", "namespaces"}
	for _, c := range w.cells {
		names = append(names, c.name())
	}
	w.Kubectl(t, "", names...)
	w.bootstrap(t)
	for c, err := range w.apply(t, w.now, false) {
		t.Errorf("rebuild %s: %v", c.name(), err)
	}
	for _, c := range w.cells {
		w.seen[c].rebuilt = w.count(t, c)
	}
}

// change replaces the charts that set replicas with one that omits them if autoscaling is
// enabled, while an autoscaler has written other replicas.
func (w *world) change(t *testing.T) {
	t.Helper()
	for _, c := range w.cells {
		w.scale(t, c, scaled)
	}
	w.guards = true
	for c, err := range w.apply(t, w.now, false) {
		t.Errorf("change the chart of %s: %v", c.name(), err)
	}
	for _, c := range w.cells {
		w.seen[c].changed = w.count(t, c)
	}
}

// chart returns the chart of a cell in testdata/charts.
func (w *world) chart(c cell) string {
	if w.guards && c.states() {
		return "guards"
	}
	return c.shape
}

// count returns the replicas of a cell.
func (w *world) count(t *testing.T, c cell) int {
	t.Helper()
	var object struct{ Spec struct{ Replicas int } }
	if err := w.Read(t.Context(), "/apis/apps/v1/namespaces/"+c.name()+"/deployments/web", &object); err != nil {
		t.Fatal(err)
	}
	return object.Spec.Replicas
}

// scale sets the replicas of a cell as an HPA does.
func (w *world) scale(t *testing.T, c cell, replicas int) {
	t.Helper()
	client, err := kube.Connect(w.As(autoscaler, "system:masters"), "kube-controller-manager", "application/json")
	if err != nil {
		t.Fatal(err)
	}
	err = client.Put().AbsPath("/apis/apps/v1").Namespace(c.name()).Resource("deployments").Name("web").SubResource("scale").
		Param("fieldManager", "kube-controller-manager").
		Body(fmt.Appendf(nil, `{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web", "namespace": %q}, "spec": {"replicas": %d}}`, c.name(), replicas)).
		Do(t.Context()).Error()
	if err != nil {
		t.Fatalf("scale %s: %v", c.name(), err)
	}
	w.counts[c] = replicas
}

// push commits files to the repository and its clone, and returns the commit.
func (w *world) push(t *testing.T, files map[string]string) string {
	t.Helper()
	maps.Copy(w.files, files)
	for name, text := range files {
		file := filepath.Join(w.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return w.origin.Push(t, "main", w.files, "change")
}

// text returns an object as YAML.
func text(t *testing.T, object any) string {
	t.Helper()
	data, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
