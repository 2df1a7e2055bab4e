package doctor_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const gitopsFolder = "../../infra/gitops"

// place is the site of the shipped examples.
var place = ways.Place{Site: "prod-eu", Repository: "https://git.example.com/platform/fleet.git", Branch: "main", Name: "prod-eu", Path: "clusters/prod-eu"}

// exampleOf returns the fixture of a shipped method: the repository of its example, and
// a cluster with the manifests that are rendered for it and the example's own objects.
func exampleOf(t *testing.T, way string, objects ...string) fixture {
	t.Helper()
	f := fixture{"site": place.Site, "live": "shop/deployment/web 40 2 200\nshop/statefulset/cart 7 2 200\n", "cluster.yaml": strings.Join(objects, "\n---\n")}
	root := os.DirFS(filepath.Join(gitopsFolder, way, "example"))
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		f["repo/"+name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The manifests that gitlatch prints, and the example repositories around them, satisfy
// doctor.
func TestTheWaysThatShipAreGood(t *testing.T) {
	t.Parallel()
	admission := string(ways.Admission(place)) + "\n---\n" + string(ways.Images(place))
	steps := file(t, filepath.Join(gitopsFolder, "admission/example/flux/prod-eu.yaml"))
	application := file(t, filepath.Join(gitopsFolder, "admission/example/argocd/prod-eu.yaml"))
	const policy = "MutatingAdmissionPolicy gitlatch-replicas"
	const ready = "status: {conditions: [{type: Ready, status: 'True'}]}\n"
	for name, c := range map[string]struct {
		fixture
		inert, by string
	}{
		"argocd": {exampleOf(t, "argocd", string(ways.ArgoCD(place))+"status: {sync: {status: Synced}}\n"), "argocd: Application argocd/prod-eu ignores /spec/replicas", place.Path},
		"flux":   {exampleOf(t, "flux", strings.Replace(string(ways.Flux(place)), "\n---\n", "\n"+ready+"---\n", 1)+ready), "flux: Kustomization flux-system/prod-eu ignores /spec/replicas", place.Path},
		"admission by Flux": {exampleOf(t, "admission", admission, steps),
			"admission: " + policy + " acts on creation alone", policy},
		"admission by Argo CD": {exampleOf(t, "admission", admission, application+"status: {sync: {status: Synced}}\n"),
			"admission: " + policy + " acts on creation alone", policy},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.examine(t)
			if len(r.Findings)+len(r.Unread) > 0 || len(r.Workloads) != 2 {
				t.Fatalf("%s", tell(r))
			}
			for i, start := range []int32{50, 10} {
				if w := r.Workloads[i]; w.Inert.Line() != c.inert || w.Level != start || w.Start != start || w.By != c.by {
					t.Errorf("%+v", w)
				}
			}
		})
	}
}

// A policy raises the workloads that it can find in the checkpoint file. A policy that
// derives the word in the file from the API's kind does not find a kind with another
// word.
func TestAPolicyThatCannotFindAKindDoesNotRaiseIt(t *testing.T) {
	t.Parallel()
	own := place
	own.Kinds = workload.Kinds{
		"crew":   {Group: "example.com", Version: "v1", Kind: "Worker", Resource: "workers", Replicas: workload.Replicas},
		"runner": {Group: "example.com", Version: "v1", Kind: "Runner", Resource: "runners", Replicas: workload.Replicas},
	}
	rendered := string(ways.Admission(own))
	table, rest, _ := strings.Cut(rendered, "      {\n")
	_, rest, _ = strings.Cut(rest, "      }\n")
	lowers := strings.Replace(table+"      {}\n"+rest, "variables.words[request.resource.resource + '.' + request.resource.group]", "request.kind.kind.lowerAscii()", 1)
	const raised = "admission: MutatingAdmissionPolicy gitlatch-replicas acts on creation alone"
	for name, c := range map[string]struct{ policy, crew, runner string }{
		"by a table":            {rendered, raised, raised},
		"by the kind's name":    {lowers, "", raised},
		"by words in place":     {strings.Replace(lowers, "variables.asked < variables.level", "'crew' != ''", 1), raised, raised},
		"one for other kinds":   {string(ways.Admission(place)), "", ""},
		"an older and this one": {lowers + "\n---\n" + strings.ReplaceAll(rendered, "gitlatch-replicas", "new"), strings.Replace(raised, "gitlatch-replicas", "new", 1), raised},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			examined := exampleOf(t, "admission", c.policy).read(t)
			examined.Cluster.Kinds = own.Kinds
			want := map[workload.ID]string{}
			for kind, inert := range map[workload.Kind]string{"crew": c.crew, "runner": c.runner} {
				id := workload.ID{Namespace: "shop", Kind: kind, Name: "big"}
				want[id] = inert
				examined.Fleet.Samples = append(examined.Fleet.Samples, workload.Sample{ID: id, Scale: &workload.Scale{Driver: workload.DrivenByHPA, Desired: 40, Ready: 40, Min: 2, Max: 200}})
			}
			r := doctor.Examine(examined)
			for _, w := range r.Workloads {
				if inert, own := want[w.ID]; own && w.Inert.Line() != inert {
					t.Errorf("%s is inert by %q, want %q:\n%s", w.ID, w.Inert.Line(), inert, tell(r))
				}
				delete(want, w.ID)
			}
			if len(want) > 0 {
				t.Errorf("not looked at: %v", want)
			}
		})
	}
}

func file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
