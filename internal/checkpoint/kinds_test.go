package checkpoint

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

var (
	worker  = workload.ID{Namespace: "shop", Kind: "worker", Name: "web.v2"}
	workers = workload.Kinds{"worker": {Group: "example.com", Version: "v1", Kind: "Worker", Resource: "workers", Replicas: ".spec.pool.size", Ready: workload.Ready}}
)

// naming returns the files of a site with one worker entry, as in git.
func naming(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	site := Site{Name: example.Name, Kinds: workers}
	merged, skipped := Merge(mustParse(t, files), site, []Change{{ID: worker, To: to(200)}, {ID: shopWeb, To: to(5)}})
	if len(skipped) > 0 {
		t.Fatalf("skipped %v", skipped)
	}
	return merged
}

func TestAKindThatASiteNamesIsPatchedWhereItsCountStands(t *testing.T) {
	t.Parallel()
	files := naming(t)
	for path, want := range map[string]string{
		sitePath:   "kinds:\n  worker: {apiVersion: \"example.com/v1\", kind: \"Worker\", replicas: \".spec.pool.size\"}\n",
		shopRecord: `  deployment.web: "5"` + "\n" + `  worker.web.v2: "200"` + "\n",
		shopComponent: `- target: {group: example.com, kind: Worker, namespace: "shop", name: "web[.]v2"}
  patch: '{"apiVersion": "example.com/v1", "kind": "Worker", "metadata": {"name": "web.v2"}, "spec": {"pool": {"size": 200}}}'
`,
	} {
		if !strings.HasSuffix(string(files[path]), want) {
			t.Errorf("%s is\n%s\nand does not end in\n%s", path, files[path], want)
		}
	}
	tree := mustParse(t, files)
	if e := tree.Entries()[worker]; e.Replicas != 200 || len(tree.Stale()) > 0 {
		t.Errorf("it reads back as %+v, stale %v", e, tree.Stale())
	}
}

// A gitlatch that no longer has a kind keeps the kind's entries in the checkpoint file
// and in a Component that it writes again.
func TestAKindThatIsNoLongerNamedStaysInGit(t *testing.T) {
	t.Parallel()
	files := naming(t)
	before := string(files[shopComponent])
	merged, skipped := Merge(mustParse(t, files), Site{Name: example.Name}, []Change{{ID: shopWeb, From: to(5), To: to(10)}})
	if len(skipped) > 0 {
		t.Fatalf("skipped %v", skipped)
	}
	if want := strings.Replace(before, `"value": 5}`, `"value": 10}`, 1); string(merged[shopComponent]) != want {
		t.Errorf("the Component is\n%s\nwant\n%s", merged[shopComponent], want)
	}
	if _, rewritten := merged[sitePath]; rewritten {
		t.Errorf("site.yaml is\n%s", merged[sitePath])
	}
	if !strings.Contains(string(merged[shopRecord]), `worker.web.v2: "200"`) {
		t.Errorf("the record is\n%s", merged[shopRecord])
	}
}

// Without a definition of its kind, an entry could not be patched. It is refused like a
// typing error, which affects its namespace alone.
func TestAKindThatNobodyNamesIsRefused(t *testing.T) {
	t.Parallel()
	files := naming(t)
	delete(files, sitePath)
	tree, err := ParseTree(example.Name, files)
	if err != nil {
		t.Fatal(err)
	}
	err = tree.Broken["shop"]
	want := `data["worker.web.v2"]: unknown kind "worker". Known kinds are daemonset, deployment, rollout, statefulset, and the kinds in checkpoints/prod-eu/site.yaml`
	if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want %s", err, want)
	}
	other := workload.ID{Namespace: "pay", Kind: "worker", Name: "web"}
	if files, skipped := Merge(tree, Site{Name: example.Name}, []Change{{ID: other, To: to(5)}}); len(files) > 0 || len(skipped) != 1 {
		t.Errorf("wrote %v, skipped %v", paths(files), skipped)
	}
}

func TestABrokenKindOfASiteSaysAllThatIsWrong(t *testing.T) {
	t.Parallel()
	head := string(Site{Name: example.Name}.Format())
	_, err := parseSite(siteFile, []byte(head+`kinds:
  worker: {apiVersion: v1, kind: "Wor, ker", replicas: spec.replicas, resource: workers}
  deployment: {apiVersion: apps/v1, kind: Deployment, replicas: .spec.replicas}
  Web: {}
`))
	want := []string{
		`7: kinds.worker.apiVersion: must be a group and version, such as example.com/v1, got "v1"`,
		`7: kinds.worker.kind: must be the kind of an object, such as Worker, got "Wor, ker"`,
		`7: kinds.worker.replicas: must be a field of the spec, such as .spec.replicas, got "spec.replicas"`,
		`7: kinds.worker.resource: unknown field; known here: apiVersion, kind, replicas`,
		`8: kinds.deployment: must be a DNS label, and not a built-in kind`,
		`9: kinds.Web: must be a DNS label, and not a built-in kind`,
	}
	if got := strings.ReplaceAll(all(err), "site.yaml:", ""); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
