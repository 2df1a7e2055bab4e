//go:build gitops

package ways_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// rewritten returns the files that a commit of gitlatch replaces, with these decisions
// about the list.
func (l *live) rewritten(t *testing.T, listed map[string]bool) map[string]string {
	t.Helper()
	tree, err := checkpoint.ParseTree(example.Site, l.files)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	checkpoint.List(tree, files, listed)
	texts := map[string]string{}
	for name, data := range files {
		texts[name] = string(data)
	}
	return texts
}

// The file of a deleted namespace stops the apply of all checkpoint files, until the list
// leaves it out. Flux and kubectl apply the list without handwritten files.
func TestTheListAppliesWithoutADeletedNamespace(t *testing.T) {
	t.Parallel()
	l := fill(t, "admission", nil)
	l.rebuild(t, "50 app:1")
	l.want(t, "creation", "50 10")

	// gone has a checkpoint file, and the cluster does not have the namespace.
	gone := workload.ID{Namespace: "gone", Kind: workload.Deployment, Name: "web"}
	l.latch(t, map[workload.ID]int32{gone: 5, web: 100, cart: 20})
	l.tool.(*flux.Flux).Fails(t, "prod-eu-records", "gone")
	l.Applied(t, "prod-eu-records", l.push(t, l.rewritten(t, map[string]bool{"gone": false})))

	dir := t.TempDir()
	for name, data := range l.files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	apply := []string{"apply", "--server-side", "--force-conflicts", "-k", filepath.Join(dir, checkpoint.Directory(example.Site))}
	if got := l.Kubectl(t, "", apply...); !strings.Contains(got, "configmap/gitlatch-checkpoint serverside-applied") {
		t.Errorf("kubectl prints %s", got)
	}
	l.Kubectl(t, "", "delete", "-n", "shop", "deployment/web", "statefulset/cart")
	l.Reconcile(t, example.Name)
	l.want(t, "a rebuild", "100 20")

	// An empty list, as init writes it.
	l.Applied(t, "prod-eu-records", l.push(t, l.rewritten(t, map[string]bool{"gone": false, "shop": false})))
	if got := l.Kubectl(t, "", "get", "-n", "shop", "configmap", "gitlatch-checkpoint", "-o", "name"); !strings.Contains(got, "gitlatch-checkpoint") {
		t.Errorf("Flux removed the checkpoint file: %s", got)
	}
}
