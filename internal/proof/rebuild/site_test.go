//go:build gitops

package rebuild

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// site is the site of the rebuilt clusters.
const site = "prod-eu"

// A keeper is gitlatch as the site runs it: a git server, a state file, and a tick that
// samples the present cluster of the site.
type keeper struct {
	origin *gitserver.Origin
	config config.Config
	parts  local.Parts
	now    time.Time
	runs   int
	// retires lets the ticks retire every absent workload after an hour.
	retires bool
}

func newKeeper(t *testing.T, files map[string]string, period time.Duration) *keeper {
	t.Helper()
	server := gitserver.Start(t)
	k := &keeper{origin: server.Create(t, "site", files), now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	var err error
	k.config, err = config.ParseConfig("config", fmt.Appendf(nil, `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: %s
state: {bolt: %q}
repository: {url: %q}
period: %s
`, site, filepath.Join(t.TempDir(), "state.db"), server.URL("site"), period))
	must(t, err)
	store, err := bolt.Open(k.config.State.Bolt)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	repository, err := local.Git(k.config, func(string) string { return "" })
	must(t, err)
	t.Cleanup(func() { must(t, repository.Close()) })
	k.parts = local.Parts{Store: store, Repository: repository, Clock: func() time.Time { return k.now }}
	return k
}

// onDisk makes the ticks open the repository on disk. Thousands of ticks read the tip,
// which starts no process there.
func (k *keeper) onDisk(t *testing.T) {
	t.Helper()
	k.config.Repository.URL = k.origin.Dir
	repository, err := local.Git(k.config, func(string) string { return "" })
	must(t, err)
	t.Cleanup(func() { must(t, repository.Close()) })
	k.parts.Repository = repository
}

// sampler returns a sampler of a cluster. Its requests pass through wrap, if it is not
// nil.
func (k *keeper) sampler(t *testing.T, cp *controlplane.ControlPlane, wrap func(http.RoundTripper) http.RoundTripper) tick.Sampler {
	t.Helper()
	rest := cp.Config()
	if wrap != nil {
		rest.Wrap(wrap)
	}
	s, err := kube.New(rest, kube.Options{Site: site, Clock: k.parts.Clock})
	must(t, err)
	return s
}

// tick runs one tick over a cluster; the clock then moves one period ahead.
func (k *keeper) tick(t *testing.T, s tick.Sampler) tick.Report {
	t.Helper()
	k.runs++
	k.parts.Sampler, k.parts.Owner = s, fmt.Sprintf("run %d", k.runs)
	one := local.Tick(k.config, k.parts)
	parse := one.ParsePolicy
	one.ParsePolicy = func(file string, data []byte) (policy.Set, error) {
		set, err := parse(file, data)
		if k.retires {
			set.Guards.RetireAfter, set.Guards.RetireShare = time.Hour, 1
		}
		return set, err
	}
	report, err := one.Run(t.Context())
	must(t, err)
	if report.NotRun != "" {
		t.Fatalf("tick %d: %s", k.runs, report.NotRun)
	}
	k.now = k.now.Add(k.config.Period)
	return report
}

// branch returns all files of the branch.
func (k *keeper) branch(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	packed := tar.NewReader(strings.NewReader(k.origin.Git(t, "archive", "--format=tar", "main")))
	for {
		header, err := packed.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		must(t, err)
		if header.Typeflag == tar.TypeReg {
			files[header.Name], err = io.ReadAll(packed)
			must(t, err)
		}
	}
}

// declares returns the levels in git.
func (k *keeper) declares(t *testing.T) map[workload.ID]int32 {
	t.Helper()
	tree, err := checkpoint.ParseTree(site, k.branch(t))
	must(t, err)
	levels := map[workload.ID]int32{}
	for id, e := range tree.Entries() {
		levels[id] = e.Replicas
	}
	return levels
}

func same(t *testing.T, what string, got, want map[workload.ID]int32) {
	t.Helper()
	for id, level := range want {
		if got[id] != level {
			t.Errorf("%s: %s at %d, want %d", what, id, got[id], level)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d workloads, want %d", what, len(got), len(want))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func bytesOf(files map[string]string) map[string][]byte {
	all := map[string][]byte{}
	for path, text := range files {
		all[path] = []byte(text)
	}
	return all
}
