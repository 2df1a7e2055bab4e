//go:build cluster

package run_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/archive"
	"github.com/gitlatch/gitlatch/internal/drill/run"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// need are the live pods. The policy rounds each of them up.
var need = map[string]int32{"web": 12, "api": 7, "cart": 4, "eu-queue": 6}

// right returns the files of a repository that restores every workload. The chart of
// cart is rendered into it, without the replicas.
func right() map[string]string {
	return map[string]string{
		"clusters/prod/kustomization.yaml": overlay,
		"apps/shop/kustomization.yaml":     "resources: [web.yaml, api.yaml, cart.yaml]\n",
		"apps/shop/web.yaml":               manifest("web", ""),
		"apps/shop/api.yaml":               manifest("api", ""),
		"apps/shop/cart.yaml":              manifest("cart", ""),
		"apps/eu/kustomization.yaml":       "namePrefix: eu-\nresources: [queue.yaml]\n",
		"apps/eu/queue.yaml":               manifest("queue", ""),
	}
}

// A wrong is a mistake in an overlay that loses the checkpoint of a workload.
type wrong struct {
	said    string
	files   map[string]string // replace files of a correct repository
	cluster string            // objects next to the Kustomization
	loses   string
	cause   string
	says    string
}

var wrongs = []wrong{
	{"a workload outside the Component", map[string]string{
		"clusters/prod/kustomization.yaml": "resources: [../../apps/shop, ../../apps/api]\n",
		"apps/shop/kustomization.yaml":     "resources: [web.yaml, cart.yaml, ../eu]\ncomponents: [../../checkpoints/prod/shop]\n",
		"apps/api/kustomization.yaml":      "resources: [api.yaml]\n",
		"apps/api/api.yaml":                manifest("api", ""),
	}, "", "api", "component-missing", "does not build the workload"},
	{"a chart from elsewhere", map[string]string{
		"apps/shop/kustomization.yaml": "resources: [web.yaml, api.yaml]\n",
	}, chart, "cart", "not-built", "not in the repository"},
	{"a name prefix beside the Component", map[string]string{
		"clusters/prod/kustomization.yaml": "resources: [../../apps/shop, ../../apps/eu]\n",
		"apps/shop/kustomization.yaml":     "resources: [web.yaml, api.yaml, cart.yaml]\ncomponents: [../../checkpoints/prod/shop]\n",
		"apps/eu/kustomization.yaml":       "namePrefix: eu-\nresources: [queue.yaml]\ncomponents: [../../checkpoints/prod/shop]\n",
	}, "", "eu-queue", "patch-matches-nothing", "adds a name prefix or suffix"},
}

// world is a real control plane and a real git server, accessed with only the shipped
// rights.
type world struct {
	cp     *controlplane.ControlPlane
	origin *gitserver.Origin
	run    *run.Run
	now    time.Time
}

func start(t *testing.T) *world {
	t.Helper()
	w := &world{cp: controlplane.Start(t, controlplane.Options{}), now: time.Now()}
	w.cp.Nodes(t, 1)
	for _, name := range []string{"shop", "flux-system"} {
		w.cp.Kubectl(t, "", "create", "namespace", name)
	}
	for _, file := range []string{"clusterrole.yaml", "clusterrolebinding.yaml"} {
		text, err := os.ReadFile(rights + file)
		if err != nil {
			t.Fatal(err)
		}
		w.cp.Apply(t, string(text))
	}
	w.cp.Define(t, controlplane.Kustomization, controlplane.HelmRelease)
	w.cp.Apply(t, applied)
	for name, pods := range need {
		w.cp.Apply(t, manifest(name, fmt.Sprintf("replicas: %d, ", pods)), controlplane.Autoscaler("Deployment", "shop", name))
	}
	w.cp.Kubectl(t, "", "wait", "-n", "shop", "--for=condition=Available", "deployment", "--all", "--timeout=180s")

	server := gitserver.Start(t)
	files := right()
	files["gitlatch.yaml"] = latching
	w.origin = server.Create(t, "site", files)
	w.open(t, server.URL("site"))
	return w
}

// open opens the drill as a member of the group with the shipped rights.
func (w *world) open(t *testing.T, url string) {
	t.Helper()
	who := w.cp.As("drill", "gitlatch:drillers")
	sampler, err := kube.New(who, kube.Options{Site: "prod", Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	objects, err := kube.NewObjects(who)
	if err != nil {
		t.Fatal(err)
	}
	repository, err := gitwire.Open(gitwire.Options{URL: url, Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repository.Close() })
	c, err := config.Default(url)
	if err != nil {
		t.Fatal(err)
	}
	c.Site = "prod"
	w.run = &run.Run{
		Tick:    local.Tick(c, local.Parts{Sampler: sampler, Store: mem.New(), Repository: repository, Clock: time.Now, Owner: "drill"}),
		Objects: objects, Here: doctor.Here{Branch: "main"}, MinCoverage: 0.95, Archive: archive.Folder(t.TempDir()),
	}
}

func (w *world) drill(t *testing.T) drill.Document {
	t.Helper()
	d, err := w.run.Drill(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Unread)+len(d.Problems) > 0 {
		t.Errorf("unread %q, problems %q", d.Unread, d.Problems)
	}
	return d
}

func TestADrillOnARealControlPlane(t *testing.T) {
	t.Parallel()
	w := start(t)
	all := int64(0)
	for _, pods := range need {
		all += int64(pods)
	}
	d := w.drill(t)
	for _, one := range d.Workloads {
		if one.Live == nil || *one.Live != need[one.Name] || *one.Declared < need[one.Name] || *one.RebuiltAt != *one.Declared || *one.Coverage != 1 || len(one.Causes) != 0 || one.Checkpoint == nil {
			t.Errorf("%+v", one)
		}
	}
	if len(d.Workloads) != len(need) || len(d.Flush.Levels) != len(need) || d.Fleet.Need != all || *d.Fleet.Coverage != 1 || !d.Passed || d.Commit != w.origin.Tip("main") || d.Last != nil {
		t.Errorf("fleet %+v, flush %+v", d.Fleet, d.Flush)
	}
	w.builds(t, d)
	tip := w.origin.Tip("main")
	if again := w.drill(t); again.Flush.Commit != "" || w.origin.Tip("main") != tip || len(again.Last.Changes) != 0 {
		t.Errorf("a second drill: %+v, %+v", again.Flush, again.Last)
	}
	for _, wrong := range wrongs {
		t.Run(wrong.said, func(t *testing.T) { w.loses(t, wrong, all) })
	}
	if d := w.drill(t); *d.Fleet.Coverage != 1 || len(d.Last.Changes) != 1 {
		t.Errorf("put right again: %+v, %+v", d.Fleet, d.Last)
	}
}

// loses runs a drill over an overlay with a mistake.
func (w *world) loses(t *testing.T, wrong wrong, all int64) {
	w.origin.Push(t, "main", wrong.files, wrong.said)
	if wrong.cluster != "" {
		w.cp.Apply(t, wrong.cluster)
		defer w.cp.Kubectl(t, wrong.cluster, "delete", "-f", "-")
	}
	defer w.origin.Push(t, "main", right(), "put it right")
	d := w.drill(t)
	unknown := wrong.cluster != "" // a chart that is not in the repository
	lacks, covered, at := int64(need[wrong.loses]-1), all-int64(need[wrong.loses]-1), 0
	if unknown {
		lacks, covered = 0, all-int64(need[wrong.loses])
		at = len(d.Workloads) - 1
	}
	if d.Fleet.Covered != covered || d.Passed || (d.Fleet.Low == 1) == unknown || (d.Fleet.Unknown == 1) != unknown {
		t.Errorf("want %d pods: %+v", covered, d.Fleet)
	}
	worst := d.Workloads[at]
	if worst.Name != wrong.loses || worst.StartUnknown != unknown || !unknown && (worst.RebuiltAt == nil || *worst.RebuiltAt != 1) || int64(worst.Missing) != lacks || worst.Causes[0].Name != wrong.cause || !strings.Contains(worst.Causes[0].Text, wrong.says) {
		t.Errorf("the worst is %s, rebuilt at %v: %+v", worst.Name, worst.RebuiltAt, worst.Causes)
	}
	for _, one := range slices.Delete(slices.Clone(d.Workloads), at, at+1) {
		if one.Missing != 0 || len(one.Causes) != 0 {
			t.Errorf("%s lacks %d: %+v", one.Name, one.Missing, one.Causes)
		}
	}
	lowering := slices.DeleteFunc(slices.Clone(d.Findings), func(f drill.Finding) bool { return len(f.Workloads) == 0 })
	if len(lowering) != 1 || lowering[0].Trap != wrong.cause || lowering[0].Missing != lacks || !slices.Equal(lowering[0].Workloads, []string{"shop/deployment/" + wrong.loses}) {
		t.Errorf("findings that lower it: %+v", lowering)
	}
	if !slices.ContainsFunc(d.Last.Changes, func(c drill.Change) bool { return c.Name == wrong.loses && c.Now.Cause == wrong.cause }) {
		t.Errorf("changes since the last drill: %+v", d.Last.Changes)
	}
	w.builds(t, d)
}

// builds compares a drill's result for a rebuild with kubectl's build of the same
// folder. A workload that the folder does not build is unknown.
func (w *world) builds(t *testing.T, d drill.Document) {
	t.Helper()
	folder := t.TempDir()
	for name := range w.origin.Tree(t, d.Commit) {
		at, text := filepath.Join(folder, name), w.origin.Show(t, d.Commit, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	built := map[string]int32{}
	for text := range strings.SplitSeq(w.cp.Kubectl(t, "", "kustomize", filepath.Join(folder, "clusters/prod")), "\n---\n") {
		var o struct {
			Metadata struct{ Name string }
			Spec     struct{ Replicas *int32 }
		}
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		built[o.Metadata.Name] = 1
		if o.Spec.Replicas != nil {
			built[o.Metadata.Name] = *o.Spec.Replicas
		}
	}
	for _, one := range d.Workloads {
		if pods, ok := built[one.Name]; ok && pods != *one.RebuiltAt || !ok && !one.StartUnknown {
			t.Errorf("%s: the drill says %s by %s, and kubectl builds %d", one.Name, term.Some(one.RebuiltAt), one.RebuiltBy, pods)
		}
	}
}
