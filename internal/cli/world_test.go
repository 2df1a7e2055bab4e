package cli_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/testenv/applied"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var update = flag.Bool("update", false, "rewrite testdata/reports by what is written; read the diff")

// golden compares a text with a file of testdata/reports.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("../../testdata/reports", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}

// A world is the environment of a user at a terminal: a cluster, a bare repository, a
// configuration and a state file, all below one folder.
type world struct {
	dir    string
	now    time.Time
	api    *api
	origin *gitserver.Origin
}

const (
	latches   = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"
	latching  = latches + "policies: [{name: default, match: {}, series: 1-2-5}]\n"
	configure = `apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {kubeconfig: %q}
state: {bolt: %q}
repository: {url: %q}
`
)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), api: newAPI(t)}
	w.origin = gitserver.NewOrigin(t, w.path("site.git"), map[string]string{"gitlatch.yaml": latching, "apps/web.yaml": "kind: Deployment\n"})
	w.api.applied = func() applied.Cluster { return w.applied(t) }
	w.kubeconfig(t, w.api.URL, "token: cluster-secret")
	w.configure(t, w.origin.Dir)
	return w
}

// applied returns the objects of gitlatch in the cluster, to which a tool applies git.
func (w *world) applied(t *testing.T) applied.Cluster {
	c := applied.Cluster{Minor: 37, Site: "prod-eu", Levels: map[workload.ID]int32{}}
	files := map[string][]byte{}
	for path, text := range w.origin.Files(t, "main") {
		files[path] = []byte(text)
	}
	tree, err := checkpoint.ParseTree(c.Site, files)
	if err != nil {
		return c
	}
	for id, e := range tree.Entries() {
		c.Levels[id] = e.Replicas
	}
	return c
}

// settled returns a world with the live replicas in git, after some ticks.
func settled(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for range 3 {
		if got := w.tick(); got.status != 0 {
			t.Fatalf("tick: %+v", got)
		}
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// kubeconfig writes a kubeconfig with the server of the cluster and the login of its
// user.
func (w *world) kubeconfig(t *testing.T, server, user string) {
	t.Helper()
	w.write(t, "kubeconfig", fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: blue
clusters: [{name: blue, cluster: {server: %q}}]
users: [{name: blue, user: {%s}}]
contexts: [{name: blue, context: {cluster: blue, user: blue}}]
`, server, user))
}

func (w *world) configure(t *testing.T, repository string) {
	t.Helper()
	w.write(t, "config.yaml", fmt.Sprintf(configure, w.path("kubeconfig"), w.path("state/latch.db"), repository))
}

func (w *world) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(w.path(name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// outcome is the result of a command.
type outcome struct {
	status   int
	out, err string
}

// run runs a command. It adds --config if the command works on a site.
func (w *world) run(args ...string) outcome {
	if slices.Contains([]string{"tick", "explain", "adopt", "pause", "init", "doctor", "restore", "diff", "log", "drill", "status"}, args[0]) && !slices.Contains(args, "--repository") {
		args = append(args, "--config", w.path("config.yaml"))
	}
	return run(w.now, args...)
}

func run(now time.Time, args ...string) outcome {
	var out, err bytes.Buffer
	status := cli.Run(cli.Env{
		Out: &out, Err: &err, Build: build.Info{Version: "v1.2.3"},
		Getenv: func(string) string { return "" },
		Clock:  func() time.Time { return now },
	}, args)
	return outcome{status, out.String(), err.String()}
}

// tick runs one tick, and then moves the clock one period ahead.
func (w *world) tick(args ...string) outcome {
	defer func() { w.now = w.now.Add(5 * time.Minute) }()
	return w.run(append([]string{"tick"}, args...)...)
}

// hash returns the hash of every name and byte in the world's folder.
func (w *world) hash(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fmt.Fprintln(sum, path, entry.Type())
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		sum.Write(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// state returns the content of the state file as text, except the lease, which each
// tick acquires and releases; "" without a file.
func (w *world) state(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(w.path("state/latch.db")); err != nil {
		return ""
	}
	head, latches := w.load(t)
	text, err := json.MarshalIndent([]any{head, latches}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// lease acquires the site's lease for another owner.
func (w *world) lease(t *testing.T, owner string, until time.Time) {
	t.Helper()
	store, err := bolt.Open(w.path("state/latch.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Acquire(t.Context(), "prod-eu", owner, w.now, until); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// load returns the latches in the order of workload.Compare.
func (w *world) load(t *testing.T) (latch.Head, []latch.Latch) {
	t.Helper()
	store, err := bolt.Open(w.path("state/latch.db"))
	if err != nil {
		t.Fatal(err)
	}
	head, latches, err := latch.Load(t.Context(), store, "prod-eu")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return head, slices.SortedFunc(maps.Values(latches), func(a, b latch.Latch) int { return workload.Compare(a.ID, b.ID) })
}
