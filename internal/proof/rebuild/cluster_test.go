//go:build gitops

package rebuild

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/load"
)

// A cluster is a cluster that starts empty, with its full load.
type cluster struct {
	form form
	cp   *controlplane.ControlPlane
	load *load.Load
	from time.Time // the instant of the first apply
	cpu  string    // the CPU that each program used until the load was served, as a line

	origin *gitserver.Origin // the repository of the rebuild
	git    string            // the folder that its branch is checked out in
	flux   *flux.Flux        // the Flux that fills the cluster, if any
	argo   *argocd.ArgoCD    // the Argo CD of the rebuild
}

func newCluster(t *testing.T, f form, k *keeper) *cluster {
	t.Helper()
	c := &cluster{form: f, cp: controlplane.Start(t, f.options()), origin: k.origin, git: checkOut(t, k.branch(t))}
	c.cp.Nodes(t, f.room())
	c.load = load.Start(t, c.cp, f.constants(), f.every, f.loads())
	return c
}

// build returns the manifests that a folder of the branch builds.
func (c *cluster) build(t *testing.T, folder string) string {
	t.Helper()
	return c.cp.Kubectl(t, "", "kustomize", filepath.Join(c.git, folder))
}

// checkOut writes the files of a branch into a folder, and returns it.
func checkOut(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for path, data := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// wait polls the last sample until missing returns ""; otherwise its text names the
// missing part.
func (c *cluster) wait(t *testing.T, within time.Duration, missing func(load.Look) string) error {
	t.Helper()
	return controlplane.Eventually(t.Context(), within, func(context.Context) error {
		if what := missing(c.load.Last()); what != "" {
			return fmt.Errorf("%s", what)
		}
		return nil
	})
}

// atRest lists the differences between the workloads and the state that their load
// needs, including the replicas.
func (c *cluster) atRest(l load.Look) string {
	var lacks []string
	for _, m := range c.form.fleet() {
		state, scale := l.States[m.String()], l.Scales[m.String()]
		if int(scale.Asked) != m.need || state.Ready != m.need || !scale.Owned {
			lacks = append(lacks, fmt.Sprintf("%s: %+v %+v, want %d", m, scale, state, m.need))
		}
	}
	return strings.Join(lacks, "; ")
}

// served lists the workloads that do not serve their full load.
func (c *cluster) served(l load.Look) string {
	var lacks []string
	for _, m := range c.form.fleet() {
		if s, ok := l.States[m.String()]; !ok || !s.Whole() {
			lacks = append(lacks, fmt.Sprintf("%s: %+v", m, s))
		}
	}
	return strings.Join(lacks, "; ")
}
