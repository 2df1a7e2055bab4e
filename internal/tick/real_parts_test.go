//go:build cluster || aws || gitops

package tick_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// realParts is the site of the story.
type realParts struct {
	cp       *controlplane.ControlPlane
	server   *gitserver.Server
	origin   *gitserver.Origin
	calls    *calls
	sampler  tick.Sampler
	config   config.Config
	parts    local.Parts
	now      time.Time
	runs     int
	want     map[workload.ID]int32 // the scales that were set in the cluster
	declares map[workload.ID]int32 // the expected levels in git
	began    map[string]string     // the repository's tree before
}

func newReal(t *testing.T) *realParts {
	r := &realParts{
		cp: controlplane.Start(t, controlplane.Options{}), server: gitserver.Start(t), calls: &calls{},
		now: morning, want: map[workload.ID]int32{}, declares: map[workload.ID]int32{},
	}
	r.cp.Nodes(t, 1)
	r.cp.Metrics(t, func(namespace string) string {
		if namespace == dark {
			return ""
		}
		return "7m" // of 10m: the autoscalers have a target of 70 %
	})
	for _, file := range []string{"clusterrole.yaml", "clusterrolebinding.yaml"} {
		r.cp.Apply(t, text(t, filepath.Join("../../infra/rbac", file)))
	}
	r.populate(t)

	r.server.RequireAuth("x-access-token", "s3cret")
	r.origin = r.server.Create(t, "site", map[string]string{
		"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies: [{name: default, match: {}, series: 1-2-5, hold: {down: 1h}}]\n",
		"apps/web.yaml": "kind: Deployment\n",
	})
	r.began = r.origin.Tree(t, "main")
	r.open(t)
	return r
}

// open opens the parts as a program does, from a configuration.
func (r *realParts) open(t *testing.T) {
	var err error
	r.config, err = config.ParseConfig("config", fmt.Appendf(nil, `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
state: {bolt: %q}
repository: {url: %q, credential: env:TOKEN}
`, filepath.Join(t.TempDir(), "state.db"), r.server.URL("site")))
	must(t, err)
	store, err := bolt.Open(r.config.State.Bolt)
	must(t, err)
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	as := r.cp.As("gitlatch", "gitlatch:samplers")
	as.Wrap(r.calls.wrap)
	clock := func() time.Time { return r.now }
	r.sampler, err = kube.New(as, kube.Options{Site: r.config.Site, Clock: clock})
	must(t, err)
	r.parts = local.Parts{Sampler: r.sampler, Store: store, Repository: r.repository(t), Clock: clock}
}

// repository opens the repository like a new process, which has only the state.
func (r *realParts) repository(t *testing.T) repo.Repository {
	repository, err := local.Git(r.config, func(string) string { return "s3cret" })
	must(t, err)
	t.Cleanup(func() {
		if err := repository.Close(); err != nil {
			t.Error(err)
		}
	})
	return repository
}

// populate creates the workloads, without replicas in git, and autoscalers for all but
// one, which is scaled by hand.
func (r *realParts) populate(t *testing.T) {
	var namespaces, workloads, autoscalers []string
	for namespace, n := range map[string]int{"shop": 20, "pay": 15, "search": 10, dark: 5} {
		namespaces = append(namespaces, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", namespace))
		for i := range n {
			name := fmt.Sprintf("app-%d", i)
			workloads = append(workloads, controlplane.Workload("Deployment", namespace, name))
			autoscalers = append(autoscalers, controlplane.Autoscaler("Deployment", namespace, name))
			r.want[id(namespace+"/"+name)] = []int32{2, 3, 7, 12}[i%4]
		}
	}
	workloads = append(workloads, controlplane.Workload("StatefulSet", "pay", "ledger"), controlplane.Workload("StatefulSet", "search", "index"))
	autoscalers = append(autoscalers, controlplane.Autoscaler("StatefulSet", "pay", "ledger"))
	r.want[ledger], r.want[index] = 3, 12
	r.cp.Apply(t, slices.Concat(namespaces, workloads)...)
	r.scale(t, r.want)
	r.cp.Apply(t, autoscalers...)
}

var (
	ledger = workload.ID{Namespace: "pay", Kind: workload.StatefulSet, Name: "ledger"}
	index  = workload.ID{Namespace: "search", Kind: workload.StatefulSet, Name: "index"}
)

// scale sets replicas through /scale, and waits for the pods.
func (r *realParts) scale(t *testing.T, counts map[workload.ID]int32) {
	t.Helper()
	type group struct {
		namespace string
		count     int32
	}
	groups := map[group][]string{}
	for id, count := range counts {
		r.want[id] = count
		g := group{id.Namespace, count}
		groups[g] = append(groups[g], string(id.Kind)+"/"+id.Name)
	}
	for g, names := range groups {
		r.cp.Kubectl(t, "", append([]string{"scale", "-n", g.namespace, fmt.Sprintf("--replicas=%d", g.count)}, names...)...)
	}
	if r.sampler != nil {
		r.settled(t)
	}
}

// settled waits until a sample shows every workload at rest at its replicas. A workload
// with metrics must have an autoscaler that judges it.
func (r *realParts) settled(t *testing.T) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		fleet, err := r.sampler.Sample(ctx, nil)
		if err != nil {
			return err
		}
		if len(fleet.Samples) != len(r.want) || len(fleet.Unread) > 0 {
			return fmt.Errorf("%d samples, unread: %q", len(fleet.Samples), fleet.Unread)
		}
		for _, s := range fleet.Samples {
			n := r.want[s.ID]
			if s.Scale == nil || s.Scale.Desired != n || s.Scale.Ready != n || s.Rollout == nil || s.Rollout.InFlight ||
				(s.Scale.Blind != "") != (s.ID.Namespace == dark) {
				return fmt.Errorf("%s: %+v, want %d", s.ID, s.Scale, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tick runs one tick; the clock then moves one period ahead.
func (r *realParts) tick(t *testing.T) tick.Report {
	t.Helper()
	r.runs++
	r.server.Reset()
	r.calls.reset()
	r.parts.Owner = fmt.Sprintf("run %d", r.runs)
	report, err := local.Tick(r.config, r.parts).Run(t.Context())
	if err != nil || report.Err() != nil {
		t.Fatalf("tick %d: %v, %v", r.runs, err, report.Err())
	}
	r.now = r.now.Add(r.config.Period)
	return report
}

// quietTicks runs ticks that make no commit.
func (r *realParts) quietTicks(t *testing.T, n int) (last tick.Report) {
	t.Helper()
	for range n {
		tip := r.origin.Tip("main")
		last = r.tick(t)
		if last.Commit != nil || r.origin.Tip("main") != tip {
			t.Fatalf("committed %+v", last.Commit)
		}
	}
	return last
}

// commits runs a tick that commits exactly these levels, as one commit on the tip.
func (r *realParts) commits(t *testing.T, levels map[workload.ID]int32) tick.Report {
	t.Helper()
	report := r.tick(t)
	if report.Commit == nil || report.Commit.ID != r.origin.Tip("main") {
		t.Fatalf("commit %+v, tip %s", report.Commit, r.origin.Tip("main"))
	}
	got := map[workload.ID]int32{}
	for _, d := range report.Commit.Changes {
		got[d.ID] = d.To.Replicas
	}
	same(t, "the commit", got, levels)
	maps.Copy(r.declares, levels)
	r.declared(t)
	return report
}

// declared compares the levels on the branch, file by file, with the expected levels.
func (r *realParts) declared(t *testing.T) {
	t.Helper()
	tree := r.tree(t)
	got := map[workload.ID]int32{}
	for id, e := range tree.Entries() {
		got[id] = e.Replicas
	}
	same(t, "git", got, r.declares)
	if stale := tree.Stale(); len(stale) > 0 || len(tree.Broken) > 0 {
		t.Errorf("stale %v, broken %v", stale, tree.Broken)
	}
}

// rival edits the checkpoint file of a namespace between the next tick's read and its
// push. It returns a pointer to the id of the rival's commit.
func (r *realParts) rival(t *testing.T, namespace, old, edited string) *string {
	t.Helper()
	path := checkpoint.RecordPath("prod-eu", namespace)
	record := r.origin.Show(t, "main", path)
	if strings.Count(record, old) != 1 {
		t.Fatalf("the record holds %q other than once:\n%s", old, record)
	}
	var made string
	r.server.BeforePush(func() {
		made = r.origin.Push(t, "main", map[string]string{path: strings.Replace(record, old, edited, 1)}, "by hand")
	})
	return &made
}

// same returns the levels that differ from the expected ones.
func same(t *testing.T, where string, got, want map[workload.ID]int32) {
	t.Helper()
	for id, level := range want {
		if got[id] != level {
			t.Errorf("%s declares %s %d, want %d", where, id, got[id], level)
		}
	}
	for id, level := range got {
		if _, ok := want[id]; !ok {
			t.Errorf("%s declares %s %d, which nobody asked for", where, id, level)
		}
	}
}

func noticed(r tick.Report, kind notes.Kind, subject string) bool {
	return slices.ContainsFunc(r.Notices, func(n notes.Notice) bool { return n.Kind == kind && n.Subject == subject })
}

func count(requests []gitserver.Request, service string) (n int) {
	for _, r := range requests {
		if r.Service() == service {
			n++
		}
	}
	return n
}

// calls records the requests to the API server.
type calls struct {
	mu   sync.Mutex
	seen []string
}

func (c *calls) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		c.mu.Lock()
		c.seen = append(c.seen, r.Method+" "+r.URL.Path)
		if r.URL.Query().Has("watch") {
			c.seen = append(c.seen, "WATCH "+r.URL.Path)
		}
		c.mu.Unlock()
		return next.RoundTrip(r)
	})
}

func (c *calls) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = nil
}

func (c *calls) sorted() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(slices.Values(c.seen))
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func text(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}
