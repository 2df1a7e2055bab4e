package gitops_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// render returns the workloads in a build of a folder without edits.
func render(files map[string][]byte, dir string, kinds workload.Kinds) ([]gitops.Object, error) {
	o, err := gitops.Build(files, dir, gitops.Edits{}, kinds)
	return o.Workloads, err
}

// manifest returns one workload as users write it; it omits replicas of 0.
func manifest(kind, namespace, name string, replicas int) string {
	spec := "  selector: {}\n"
	if replicas > 0 {
		spec = fmt.Sprintf("  replicas: %d\n%s", replicas, spec)
	}
	where := ""
	if namespace != "" {
		where = ", namespace: \"" + namespace + "\""
	}
	return fmt.Sprintf("apiVersion: apps/v1\nkind: %s\nmetadata: {name: \"%s\"%s}\nspec:\n%s---\n", kind, name, where, spec)
}

// base returns a kustomization with manifests and additional fields.
func base(fields string, manifests ...string) map[string]string {
	return map[string]string{
		"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [workloads.yaml]\n" + fields,
		"workloads.yaml":     strings.Join(manifests, ""),
	}
}

// including returns a kustomization that includes the Components of namespaces above a
// base.
func including(namespaces ...string) map[string]string {
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [../base]\ncomponents:\n"
	for _, namespace := range namespaces {
		text += "- ../" + checkpoint.Directory("prod") + "/" + namespace + "\n"
	}
	return map[string]string{"kustomization.yaml": text}
}

// entries are levels in git by namespace/kind/name.
type entries map[string]int32

// checkpoints returns the files that a merge of levels writes. It merges them one by
// one, so an entry of 0 is first added and then removed.
func checkpoints(t *testing.T, declared entries) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	merge := func(c checkpoint.Change) {
		tree, err := checkpoint.ParseTree("prod", files)
		if err != nil {
			t.Fatal(err)
		}
		merged, skipped := checkpoint.Merge(tree, checkpoint.Site{Name: "prod"}, []checkpoint.Change{c})
		if len(skipped) > 0 {
			t.Fatalf("skipped %v", skipped)
		}
		maps.Copy(files, merged)
		maps.DeleteFunc(files, func(_ string, data []byte) bool { return data == nil })
	}
	for name, replicas := range declared {
		id, err := workload.ParseID(name)
		if err != nil {
			t.Fatal(err)
		}
		e := checkpoint.Entry{Replicas: max(replicas, 1)}
		merge(checkpoint.Change{ID: id, To: e})
		if replicas == 0 {
			merge(checkpoint.Change{ID: id, From: e})
		}
	}
	return files
}

// rendered builds a folder and returns the replicas of its workloads; 0 if not stated.
func rendered(t *testing.T, files map[string][]byte, dir string) entries {
	t.Helper()
	objects, err := render(files, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := entries{}
	for _, o := range objects {
		found[o.ID.String()] = 0
		if o.Replicas != nil {
			found[o.ID.String()] = *o.Replicas
		}
	}
	return found
}

func TestComponentRendersTheDeclaredCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base     map[string]string
		declared entries // an entry of 0 is added and removed again
		include  []string
		want     entries
	}{
		"with and without replicas in the base": {
			base:     base("", manifest("Deployment", "shop", "stated", 3), manifest("Deployment", "shop", "left-out", 0)),
			declared: entries{"shop/deployment/stated": 200, "shop/deployment/left-out": 100},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/stated": 200, "shop/deployment/left-out": 100},
		},
		"what is not declared keeps what it states": {
			base:     base("", manifest("Deployment", "shop", "web", 3), manifest("Deployment", "shop", "api", 0), manifest("DaemonSet", "shop", "web", 0)),
			declared: entries{"shop/deployment/other": 5},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/web": 3, "shop/deployment/api": 0, "shop/daemonset/web": 0},
		},
		"one name in two namespaces": {
			base:     base("", manifest("Deployment", "shop", "web", 1), manifest("Deployment", "pay", "web", 1), manifest("Deployment", "lab", "web", 1)),
			declared: entries{"shop/deployment/web": 200, "pay/deployment/web": 20},
			include:  []string{"shop", "pay"},
			want:     entries{"shop/deployment/web": 200, "pay/deployment/web": 20, "lab/deployment/web": 1},
		},
		"one name of two kinds": {
			base:     base("", manifest("Deployment", "shop", "web", 1), manifest("StatefulSet", "shop", "web", 1)),
			declared: entries{"shop/deployment/web": 200, "shop/statefulset/web": 5},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/web": 200, "shop/statefulset/web": 5},
		},
		"a stateful set alone": {
			base:     base("", manifest("Deployment", "shop", "db", 1), manifest("StatefulSet", "shop", "db", 0)),
			declared: entries{"shop/statefulset/db": 5},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/db": 1, "shop/statefulset/db": 5},
		},
		"a workload that is gone": {
			base:     base("", manifest("Deployment", "shop", "web", 1)),
			declared: entries{"shop/deployment/gone": 50, "shop/deployment/web": 200},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/web": 200},
		},
		"an emptied namespace": {
			base:     base("", manifest("Deployment", "shop", "web", 3)),
			declared: entries{"shop/deployment/web": 0},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/web": 3},
		},
		"a name that another begins or ends with": {
			base: base("", manifest("Deployment", "shop", "web", 1), manifest("Deployment", "shop", "web-2", 2),
				manifest("Deployment", "shop", "a-web", 3), manifest("Deployment", "shop-b", "web", 4)),
			declared: entries{"shop/deployment/web": 200},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/web": 200, "shop/deployment/web-2": 2, "shop/deployment/a-web": 3, "shop-b/deployment/web": 4},
		},
		"names with dots": {
			base: base("", manifest("Deployment", "shop", "web.v2", 1), manifest("Deployment", "shop", "web-v2", 2),
				manifest("Deployment", "shop", "webxv2", 3)),
			declared: entries{"shop/deployment/web.v2": 200},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/web.v2": 200, "shop/deployment/web-v2": 2, "shop/deployment/webxv2": 3},
		},
		"names that YAML has another meaning for": {
			base: base("", manifest("Deployment", "on", "1e3", 1), manifest("Deployment", "on", "null", 1), manifest("Deployment", "0", "true", 1)),
			declared: entries{"on/deployment/1e3": 1000, "on/deployment/null": 20, "0/deployment/true": 5,
				"on/deployment/0x10": 50},
			include: []string{"on", "0"},
			want:    entries{"on/deployment/1e3": 1000, "on/deployment/null": 20, "0/deployment/true": 5},
		},
		"the default namespace, stated or not": {
			base:     base("", manifest("Deployment", "default", "web", 1), manifest("Deployment", "", "api", 1)),
			declared: entries{"default/deployment/web": 200, "default/deployment/api": 20},
			include:  []string{"default"},
			want:     entries{"default/deployment/web": 200, "default/deployment/api": 20},
		},
		"above a transformer of namespaces": {
			base:     base("namespace: shop\n", manifest("Deployment", "", "web", 1)),
			declared: entries{"shop/deployment/web": 200},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/web": 200},
		},
		"above a transformer of names": {
			base:     base("namePrefix: blue-\n", manifest("Deployment", "shop", "web", 1)),
			declared: entries{"shop/deployment/blue-web": 200},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/blue-web": 200},
		},
		// Kustomize also matches the original name of a workload that the build renamed.
		// doctor must report this.
		"a workload renamed from a name that is declared": {
			base:     base("namePrefix: blue-\n", manifest("Deployment", "shop", "web", 1)),
			declared: entries{"shop/deployment/web": 200},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/blue-web": 200},
		},
		"above a patch of the same field": {
			base: base(`patches: [{target: {kind: Deployment}, patch: '[{"op": "add", "path": "/spec/replicas", "value": 7}]'}]`,
				manifest("Deployment", "shop", "web", 1)),
			declared: entries{"shop/deployment/web": 200},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/web": 200},
		},
		"the largest count": {
			base:     base("", manifest("Deployment", "shop", "web", 1)),
			declared: entries{"shop/deployment/web": 2147483647},
			include:  []string{"shop"},
			want:     entries{"shop/deployment/web": 2147483647},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := checkpoints(t, c.declared)
			for dir, content := range map[string]map[string]string{"base": c.base, "live": including(c.include...)} {
				for name, text := range content {
					files[dir+"/"+name] = []byte(text)
				}
			}
			if got := rendered(t, files, "live"); !maps.Equal(got, c.want) {
				t.Errorf("renders %v, want %v", got, c.want)
			}
		})
	}
}

func TestBuildThatFailsNamesItsFolder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]map[string]string{
		"no such folder": {},
		"no YAML":        {"kustomization.yaml": "resources: [\n"},
		"helm":           {"kustomization.yaml": "helmCharts: [{name: web}]\n"},
		"no number":      base("", strings.Replace(manifest("Deployment", "shop", "web", 1), ": 1\n", ": many\n", 1)),
	} {
		files := map[string][]byte{}
		for name, text := range c {
			files["live/"+name] = []byte(text)
		}
		if got, err := render(files, "live", nil); err == nil || !strings.Contains(err.Error(), " live") {
			t.Errorf("%s: renders %v, error %v", name, got, err)
		}
	}
}

// The patch for a custom kind matches a manifest of any version. If the manifest has no
// path to the replicas, the patch creates it.
func TestComponentRendersAKindThatASiteNames(t *testing.T) {
	t.Parallel()
	kinds := workload.Kinds{
		"worker": {Group: "example.com", Version: "v1", Kind: "Worker", Replicas: ".spec.pool.size"},
		"runner": {Group: "example.com", Version: "v1", Kind: "Runner", Replicas: workload.Replicas},
	}
	named := func(version, kind, name, spec string) string {
		return fmt.Sprintf("apiVersion: example.com/%s\nkind: %s\nmetadata: {name: %s, namespace: shop}\n%s\n---\n", version, kind, name, spec)
	}
	manifests := base("",
		named("v1", "Worker", "stated", "spec: {pool: {size: 1, zone: a}, image: a}"),
		named("v1beta1", "Worker", "older", "spec: {image: a}"),
		named("v1", "Worker", "bare", ""),
		named("v1", "Worker", "web.v2", "spec: {pool: {zone: a}}"),
		named("v1", "Worker", "web-v2", "spec: {pool: {size: 3}}"),
		named("v1", "Runner", "web.v2", "spec: {}"),
		named("v1", "Walker", "stated", "spec: {pool: {size: 1}}"))
	var changes []checkpoint.Change
	for _, name := range []string{"worker/stated", "worker/older", "worker/bare", "worker/web.v2", "worker/gone", "runner/web.v2"} {
		id, err := workload.ParseID("shop/" + name)
		if err != nil {
			t.Fatal(err)
		}
		changes = append(changes, checkpoint.Change{ID: id, To: checkpoint.Entry{Replicas: 200}})
	}
	files, skipped := checkpoint.Merge(checkpoint.Tree{}, checkpoint.Site{Name: "prod", Kinds: kinds}, changes)
	if len(skipped) > 0 {
		t.Fatalf("skipped %v", skipped)
	}
	for dir, texts := range map[string]map[string]string{"base": manifests, "live": including("shop")} {
		for name, text := range texts {
			files[dir+"/"+name] = []byte(text)
		}
	}
	objects, err := render(files, "live", kinds)
	if err != nil {
		t.Fatal(err)
	}
	got := entries{}
	for _, o := range objects {
		got[string(o.ID.Kind)+"/"+o.ID.Name] = *o.Replicas
	}
	want := entries{"worker/stated": 200, "worker/older": 200, "worker/bare": 200, "worker/web.v2": 200, "worker/web-v2": 3, "runner/web.v2": 200}
	if !maps.Equal(got, want) {
		t.Errorf("built %v, want %v", got, want)
	}
}
