package ways_test

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var update = flag.Bool("update", false, "rewrite infra/gitops by what is rendered; read the diff")

const infra = "../../../infra/gitops"

var (
	web  = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	cart = workload.ID{Namespace: "shop", Kind: workload.StatefulSet, Name: "cart"}
)

// declared are the levels in the examples.
var declared = map[workload.ID]int32{web: 50, cart: 10}

// latched returns the files that gitlatch writes for the levels.
func latched(t *testing.T, files map[string][]byte, levels map[workload.ID]int32) map[string]string {
	t.Helper()
	tree, err := checkpoint.ParseTree(example.Site, files)
	if err != nil {
		t.Fatal(err)
	}
	var changes []checkpoint.Change
	for id, replicas := range levels {
		change := checkpoint.Change{ID: id, From: tree.Records[id.Namespace].Entries[id], To: checkpoint.Entry{Replicas: replicas, Min: 2, Max: 200}}
		changes = append(changes, change)
	}
	written, skipped := checkpoint.Merge(tree, checkpoint.Site{Name: example.Site, Cluster: "prod-eu-blue"}, changes)
	if len(skipped) > 0 {
		t.Fatalf("skipped %v", skipped)
	}
	checkpoint.List(tree, written, nil)
	texts := map[string]string{}
	for name, data := range written {
		texts[name] = string(data)
	}
	return texts
}

// rendered returns the generated files in infra/gitops, by their path below it.
func rendered(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{
		"argocd/prod-eu.yaml":                                       string(ways.ArgoCD(example)),
		"argocd/example/argocd/prod-eu.yaml":                        string(ways.ArgoCD(example)),
		"argocd/patch.yaml":                                         string(ways.ArgoCDFields(example)),
		"flux/patch.yaml":                                           string(ways.FluxFields(example)),
		"flux/prod-eu.yaml":                                         string(ways.Flux(example)),
		"flux/example/flux/prod-eu.yaml":                            string(ways.Flux(example)),
		"admission/policy.yaml":                                     string(ways.Admission(example)),
		"admission/images.yaml":                                     string(ways.Images(example)),
		"admission/writers.yaml":                                    string(ways.Writers(example)),
		"admission/example/clusters/prod-eu/before/writers.yaml":    string(ways.Writers(example)),
		"admission/example/clusters/prod-eu/before/policy.yaml":     string(ways.Admission(example)),
		"admission/example/clusters/prod-eu/before/images.yaml":     string(ways.Images(example)),
		"admission/example/clusters/prod-eu/before/namespaces.yaml": read(t, "flux/example/clusters/prod-eu/namespaces.yaml"),
		"argocd/example/clusters/prod-eu/namespaces.yaml":           read(t, "flux/example/clusters/prod-eu/namespaces.yaml"),
		"argocd/example/clusters/prod-eu/kustomization.yaml":        read(t, "flux/example/clusters/prod-eu/kustomization.yaml"),
	}
	for _, way := range []string{"argocd", "flux", "admission"} {
		for name, text := range latched(t, nil, declared) {
			files[way+"/example/"+name] = text
		}
		for name, data := range repository(t, "flux") {
			if strings.HasPrefix(name, "apps/") {
				files[way+"/example/"+name] = string(data)
			}
		}
	}
	return files
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(infra, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// repository returns the files of a method's example, by their path in it.
func repository(t *testing.T, way string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	root := os.DirFS(filepath.Join(infra, way, "example"))
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(root, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTheFilesInInfraAreWhatIsRendered(t *testing.T) {
	t.Parallel()
	files := rendered(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(infra, name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(files[name]), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != files[name] {
			t.Errorf("%s is not what is rendered (%v): run this test with -update and read the diff", name, err)
		}
	}
}

// The levels of an example fit its builds: each patch changes the workload that it
// names, in the method with Components, and each checkpoint file has only workloads of
// the build.
func TestTheExamplesBuild(t *testing.T) {
	t.Parallel()
	for way, dir := range map[string]string{"argocd": "", "flux": "", "admission": "workloads"} {
		overlay, err := gitops.Build(repository(t, way), path.Join(example.Path, dir), gitops.Edits{}, nil)
		if err != nil {
			t.Errorf("%s: %v", way, err)
		}
		built := map[workload.ID]int32{}
		for _, o := range overlay.Workloads {
			if o.Replicas != nil {
				built[o.ID] = *o.Replicas
			} else {
				built[o.ID] = 0
			}
		}
		want := maps.Clone(declared)
		if way == "admission" {
			want = map[workload.ID]int32{web: 0, cart: 0} // the policy sets the level
		}
		if !maps.Equal(built, want) {
			t.Errorf("%s: the build has %v, want %v", way, built, want)
		}
		records, err := gitops.Build(repository(t, way), checkpoint.Directory(example.Site), gitops.Edits{}, nil)
		if err != nil || !slices.Equal(records.Records, []string{"shop"}) {
			t.Errorf("%s: the list builds the checkpoint files of %q: %v", way, records.Records, err)
		}
		if _, err := gitops.Build(repository(t, way), path.Join(example.Path, "before"), gitops.Edits{}, nil); way == "admission" && err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
}

// The list leaves out a checkpoint file that would fail its build, or that is another
// object. A file with a broken entry stays, because its other entries are valid.
func TestTheListBuildsBesideABrokenFile(t *testing.T) {
	t.Parallel()
	const pay = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gitlatch-checkpoint, namespace: pay}\ndata: {deployment.a: '1'}\n"
	shop := strings.Replace(pay, "pay", "shop", 1)
	for _, c := range []struct {
		name, file string
		stays      bool
		fails      bool // with the file in the list, the build fails
	}{
		{"valid", shop, true, false},
		{"an entry", strings.Replace(shop, "'1'", "many", 1), true, false},
		{"an unknown kind", strings.Replace(shop, "deployment.a", "worker.a", 1), true, false},
		{"an entry twice", shop + "  deployment.b: '1'\n", false, true}, // after a flow mapping
		{"a label", strings.Replace(shop, "{name", "{labels: {a: b}, name", 1), true, false},
		{"no YAML", "data: [", false, true},
		{"a conflict", "<<<<<<< HEAD\n" + shop + "=======\n" + shop, false, true},
		{"a text", "nonsense\n", false, true},
		{"a list", "- a\n", false, true},
		{"no kind", strings.Replace(shop, "kind: ConfigMap\n", "", 1), false, true},
		{"no metadata", "apiVersion: v1\nkind: ConfigMap\n", false, true},
		{"metadata of another type", "apiVersion: v1\nkind: ConfigMap\nmetadata: []\n", false, true},
		{"the namespace of another file", pay, false, true},
		{"a second document", shop + "---\nnonsense\n", false, true},
		{"empty", "", false, false},
		{"no apiVersion", strings.Replace(shop, "apiVersion: v1\n", "", 1), false, false},
		{"another namespace", strings.Replace(shop, "shop", "other", 1), false, false},
		{"another name", strings.Replace(shop, "gitlatch-checkpoint", "mine", 1), false, false},
	} {
		files := map[string][]byte{
			checkpoint.RecordPath(example.Site, "pay"):  []byte(pay),
			checkpoint.RecordPath(example.Site, "shop"): []byte(c.file),
		}
		tree, err := checkpoint.ParseTree(example.Site, files)
		if err != nil {
			t.Fatal(err)
		}
		list := checkpoint.ListPath(example.Site)
		files[list] = checkpoint.Begin(tree, checkpoint.Site{Name: example.Site}, nil)[list]
		build := func() ([]string, error) {
			built, err := gitops.Build(files, checkpoint.Directory(example.Site), gitops.Edits{}, nil)
			return built.Records, err
		}
		if built, err := build(); err != nil || !slices.Contains(built, "pay") || slices.Contains(built, "shop") != c.stays {
			t.Errorf("%s: built %q: %v", c.name, built, err)
		}
		files[list] = []byte("resources: [pay/checkpoint.yaml, shop/checkpoint.yaml]\n")
		if _, err := build(); (err != nil) != c.fails {
			t.Errorf("%s: with every file: %v", c.name, err)
		}
	}
}

// The list of a site without checkpoint files builds.
func TestTheFirstListBuilds(t *testing.T) {
	t.Parallel()
	tree, err := checkpoint.ParseTree(example.Site, nil)
	if err != nil {
		t.Fatal(err)
	}
	files := checkpoint.Begin(tree, checkpoint.Site{Name: example.Site}, []string{"shop"})
	built, err := gitops.Build(files, checkpoint.Directory(example.Site), gitops.Edits{}, nil)
	if err != nil || len(built.Records) > 0 {
		t.Errorf("built %q, %v", built.Records, err)
	}
}
