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

func TestAKindThatASiteNamesIsInItsFiles(t *testing.T) {
	t.Parallel()
	files := naming(t)
	for path, want := range map[string]string{
		sitePath:   "data:\n  kind.worker: \"example.com/v1 Worker\"\n  name: \"prod-eu\"\n  version: \"1\"\n",
		shopRecord: `  deployment.web: "5"` + "\n" + `  worker.web.v2: "200"` + "\n",
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

// A gitlatch that no longer has a kind keeps the kind's entries in the checkpoint file.
func TestAKindThatIsNoLongerNamedStaysInGit(t *testing.T) {
	t.Parallel()
	files := naming(t)
	merged, skipped := Merge(mustParse(t, files), Site{Name: example.Name}, []Change{{ID: shopWeb, From: to(5), To: to(10)}})
	if len(skipped) > 0 {
		t.Fatalf("skipped %v", skipped)
	}
	if _, rewritten := merged[sitePath]; rewritten {
		t.Errorf("site.yaml is\n%s", merged[sitePath])
	}
	if !strings.Contains(string(merged[shopRecord]), `worker.web.v2: "200"`) {
		t.Errorf("the record is\n%s", merged[shopRecord])
	}
}

// An entry of an unknown kind is refused like a typing error, which affects its namespace
// alone.
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
	_, err := parseSite(siteFile, []byte(head+`  kind.worker: v1 Wor, ker
  kind.deployment: apps/v1 Deployment
  kind.Web: example.com/v1 Web
  colour: blue
`))
	want := []string{
		`10: data["kind.worker"]: must be the API version and the kind of an object, such as example.com/v1 Worker, got "v1 Wor, ker"`,
		`11: data["kind.deployment"]: must be the name of a kind that is a DNS label, and not a built-in kind`,
		`12: data["kind.Web"]: must be the name of a kind that is a DNS label, and not a built-in kind`,
		`13: data.colour: unknown key. Known keys are cluster, name, version, and kind. with the name of a kind`,
	}
	if got := strings.ReplaceAll(all(err), "site.yaml:", ""); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
