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
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	sites "github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// rounded are the counts that this fleet is scaled to, and the levels of 1-2-5
// that they come to. No autoscaler here goes below 2.
var rounded = map[int32]int32{2: 2, 3: 5, 4: 5, 7: 10, 12: 20, 18: 20, 45: 50, 60: 100}

// dark is the namespace whose pods have no metrics, so that its autoscalers are
// blind.
const dark = "dark"

// TestRealParts runs the tick on real parts only: a control plane with 50
// Deployments and 2 StatefulSets, the rights of the shipped ClusterRole, a git
// server over smart HTTP with credentials, and a state file. Only the clock is
// the test's. The fleet is scaled through /scale; its autoscalers are shown a
// use of just their target, so that they judge, and keep what they find. The
// subtests are one story and run in order.
func TestRealParts(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	t.Run("a first look commits nothing", r.first)
	t.Run("the second commits the fleet at once", r.seeds)
	t.Run("a quiet tick is one git request and a few LISTs", r.quiet)
	t.Run("a raise and a lowering are one commit", r.raisesAndLowers)
	t.Run("a rival at another entry of the record", r.rivalBeside)
	t.Run("a rival at the same entry", r.rivalAtIt)
	t.Run("only checkpoints were touched", r.touched)
}

// realParts is the site of the story.
type realParts struct {
	cp       *controlplane.ControlPlane
	server   *gitserver.Server
	origin   *gitserver.Origin
	calls    *calls
	sampler  tick.Sampler
	config   config.Config
	parts    sites.Parts
	now      time.Time
	runs     int
	want     map[workload.ID]int32 // what the cluster was scaled to
	declares map[workload.ID]int32 // what git is to declare
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
		return "7m" // of 10m: the 70 % that autoscalers here aim at
	})
	for _, file := range []string{"clusterrole.yaml", "clusterrolebinding.yaml"} {
		r.cp.Apply(t, read(t, filepath.Join("../../infra/rbac", file)))
	}
	r.populate(t)

	r.server.RequireAuth("x-access-token", "s3cret")
	r.origin = r.server.Create(t, "site", map[string]string{
		"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\ndefault: {hold: {down: 1h}}\n",
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
state: {bolt: {path: %q}}
repository: {url: %q, auth: {tokenEnv: TOKEN}}
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
	r.parts = sites.Parts{Sampler: r.sampler, Store: store, Repository: r.repository(t), Clock: clock}
}

// repository opens the repository as a new process does, which knows nothing of
// it but what the state says.
func (r *realParts) repository(t *testing.T) repo.Repository {
	repository, err := sites.Repository(r.config, func(string) string { return "s3cret" })
	must(t, err)
	t.Cleanup(func() {
		if err := repository.Close(); err != nil {
			t.Error(err)
		}
	})
	return repository
}

// populate makes the fleet: workloads that state no count, as in git, and
// autoscalers for all but one, which is scaled by hand.
func (r *realParts) populate(t *testing.T) {
	var manifests []string
	for namespace, n := range map[string]int{"shop": 20, "pay": 15, "search": 10, dark: 5} {
		manifests = append(manifests, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", namespace))
		for i := range n {
			name := fmt.Sprintf("app-%d", i)
			manifests = append(manifests, controlplane.Workload("Deployment", namespace, name), controlplane.Autoscaler("Deployment", namespace, name))
			r.want[id(namespace+"/"+name)] = []int32{2, 3, 7, 12}[i%4]
		}
	}
	manifests = append(manifests, controlplane.Workload("StatefulSet", "pay", "ledger"), controlplane.Autoscaler("StatefulSet", "pay", "ledger"))
	manifests = append(manifests, controlplane.Workload("StatefulSet", "search", "index"))
	r.want[ledger], r.want[index] = 3, 12
	slices.SortStableFunc(manifests, func(a, b string) int { // namespaces first
		return strings.Compare(fmt.Sprint(!strings.Contains(a, "Namespace\n")), fmt.Sprint(!strings.Contains(b, "Namespace\n")))
	})
	r.cp.Apply(t, manifests...)
	r.scale(t, r.want)
}

var (
	ledger = workload.ID{Namespace: "pay", Kind: workload.StatefulSet, Name: "ledger"}
	index  = workload.ID{Namespace: "search", Kind: workload.StatefulSet, Name: "index"}
)

// scale writes counts through /scale, and waits for the pods.
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

// settled waits until a sample shows every workload at rest at its count, with
// an autoscaler that judges it where it has metrics.
func (r *realParts) settled(t *testing.T) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), 2*time.Minute, func(ctx context.Context) error {
		fleet, err := r.sampler.Sample(ctx)
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

// tick makes one tick; time then stands a period later.
func (r *realParts) tick(t *testing.T) tick.Report {
	t.Helper()
	r.runs++
	r.server.Reset()
	r.calls.reset()
	r.parts.Owner = fmt.Sprintf("run %d", r.runs)
	report, err := sites.Tick(r.config, r.parts).Run(t.Context())
	if err != nil || report.Err() != nil {
		t.Fatalf("tick %d: %v, %v", r.runs, err, report.Err())
	}
	r.now = r.now.Add(r.config.Period)
	return report
}

// quietTicks are ticks that commit nothing.
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

// commits makes a tick that commits just these levels, as one commit on top of
// the branch.
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

// declared compares what the branch declares, file by file, with what it is to.
func (r *realParts) declared(t *testing.T) {
	t.Helper()
	files := map[string][]byte{}
	for path := range r.origin.Tree(t, "main") {
		files[path] = []byte(r.origin.Show(t, "main", path))
	}
	tree, err := checkpoint.ParseTree("prod-eu", files)
	must(t, err)
	got := map[workload.ID]int32{}
	for id, e := range tree.Entries() {
		got[id] = e.Replicas
	}
	same(t, "git", got, r.declares)
	if stale := tree.Stale(); len(stale) > 0 || len(tree.Broken) > 0 {
		t.Errorf("stale %v, broken %v", stale, tree.Broken)
	}
}

func (r *realParts) first(t *testing.T) {
	r.settled(t)
	for _, d := range r.quietTicks(t, 1).Decisions {
		if d.Verdict != policy.Pending {
			t.Errorf("%s: %s %s", d.ID, d.Verdict, d.Text)
		}
	}
}

func (r *realParts) seeds(t *testing.T) {
	before := len(r.origin.Log(t, "main"))
	levels := map[workload.ID]int32{}
	for id, n := range r.want {
		levels[id] = rounded[n]
	}
	report := r.commits(t, levels)
	if log := r.origin.Log(t, "main"); len(log) != before+1 || !strings.HasSuffix(log[0], ", +51 more") {
		t.Errorf("log %q", log)
	}
	if pushes := count(r.server.Requests(), "git-receive-pack"); pushes != 1 {
		t.Errorf("%d pushes", pushes)
	}
	for path, want := range map[string]string{
		"checkpoints/prod-eu/site.yaml": fmt.Sprintf(`# The site whose checkpoints stand beside this file. Kept by gitlatch.
apiVersion: gitlatch.dev/v1alpha1
kind: Site
name: "prod-eu"
cluster: %q
version: 1
`, r.cp.Kubectl(t, "", "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")),
		"checkpoints/prod-eu/dark/kustomization.yaml": `# Written from checkpoint.yaml beside it, and overwritten with it: edit that one.
# Include this Component above any transformer of namespaces or names.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- target: {group: apps, version: v1, kind: Deployment, namespace: "dark", name: "app-0"}
  patch: '[{"op": "add", "path": "/spec/replicas", "value": 2}]'
- target: {group: apps, version: v1, kind: Deployment, namespace: "dark", name: "app-1"}
  patch: '[{"op": "add", "path": "/spec/replicas", "value": 5}]'
- target: {group: apps, version: v1, kind: Deployment, namespace: "dark", name: "app-2"}
  patch: '[{"op": "add", "path": "/spec/replicas", "value": 10}]'
- target: {group: apps, version: v1, kind: Deployment, namespace: "dark", name: "app-3"}
  patch: '[{"op": "add", "path": "/spec/replicas", "value": 20}]'
- target: {group: apps, version: v1, kind: Deployment, namespace: "dark", name: "app-4"}
  patch: '[{"op": "add", "path": "/spec/replicas", "value": 2}]'
`,
		"checkpoints/prod-eu/dark/checkpoint.yaml": `# What the workloads of namespace "dark" come back with after a rebuild, rounded. Kept by gitlatch.
# A level you edit is adopted and left alone for a day. Deleting a workload's lines opts it out.
apiVersion: v1
kind: ConfigMap
metadata:
  name: gitlatch-checkpoint
  namespace: "dark"
data:
  deployment.app-0: "2"
  deployment.app-0_max: "200"
  deployment.app-0_min: "2"
  deployment.app-1: "5"
  deployment.app-1_max: "200"
  deployment.app-1_min: "2"
  deployment.app-2: "10"
  deployment.app-2_max: "200"
  deployment.app-2_min: "2"
  deployment.app-3: "20"
  deployment.app-3_max: "200"
  deployment.app-3_min: "2"
  deployment.app-4: "2"
  deployment.app-4_max: "200"
  deployment.app-4_min: "2"
`,
	} {
		if got := r.origin.Show(t, "main", path); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", path, got, want)
		}
	}
	body := r.origin.Git(t, "log", "-1", "--format=%an %cI%n%b", "main")
	for _, want := range []string{
		"gitlatch " + report.At.Format("2006-01-02T15:04:05"),
		"\nsearch/statefulset/index new -> 20: 2 samples in a row round to 20 or more; the last was 12\n",
		"\nGitlatch-Site: prod-eu\nGitlatch-Intent: ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the commit does not say %q:\n%s", want, body)
		}
	}
}

func (r *realParts) quiet(t *testing.T) {
	warm := r.parts.Repository
	defer func() { r.parts.Repository = warm }()
	r.parts.Repository = r.repository(t)
	report := r.quietTicks(t, 1)
	for _, d := range report.Decisions {
		if d.Verdict != policy.Quiet {
			t.Errorf("%s: %s %s: %s", d.ID, d.Verdict, d.Reason, d.Text)
		}
	}
	requests := r.server.Requests()
	if len(requests) != 1 || requests[0].Service() != "git-upload-pack" || requests[0].Status != http.StatusOK {
		t.Errorf("git requests %+v", requests)
	}
	want := []string{
		"GET /api/v1/namespaces/kube-system",
		"GET /apis/apps/v1/daemonsets",
		"GET /apis/apps/v1/deployments",
		"GET /apis/apps/v1/statefulsets",
		"GET /apis/autoscaling/v2/horizontalpodautoscalers",
		"GET /apis/keda.sh/v1alpha1/scaledobjects",
	}
	if got := r.calls.sorted(); !slices.Equal(got, want) {
		t.Errorf("API requests %q", got)
	}
}

// Two lowerings are due at the tick at which two raises are. A third, whose
// autoscaler is blind, is not made.
func (r *realParts) raisesAndLowers(t *testing.T) {
	r.scale(t, map[workload.ID]int32{id("shop/app-3"): 3, index: 4, id("dark/app-3"): 3})
	r.quietTicks(t, 11)
	r.scale(t, map[workload.ID]int32{id("pay/app-3"): 45, ledger: 7})
	r.quietTicks(t, 1)
	before := len(r.origin.Log(t, "main"))
	report := r.commits(t, map[workload.ID]int32{
		id("shop/app-3"): 5, index: 5, id("pay/app-3"): 50, ledger: 10,
	})
	if log := r.origin.Log(t, "main"); len(log) != before+1 {
		t.Errorf("log %q", log[:len(log)-before])
	}
	for _, d := range report.Decisions {
		if d.ID == id("dark/app-3") && (d.Verdict != policy.Frozen || d.Reason != policy.ReasonBlind) {
			t.Errorf("%s: %s %s: %s", d.ID, d.Verdict, d.Reason, d.Text)
		}
	}
	r.quietTicks(t, 1)
}

// A rival's push between read and push is below ours in the log, and both are
// in the record.
func (r *realParts) rivalBeside(t *testing.T) {
	r.scale(t, map[workload.ID]int32{id("shop/app-4"): 12})
	r.quietTicks(t, 1)
	rivals := r.rival(t, "shop", `app-5: "5"`, `app-5: "100"`)
	r.declares[id("shop/app-5")] = 100
	report := r.commits(t, map[workload.ID]int32{id("shop/app-4"): 20})
	if parent := r.origin.Git(t, "rev-parse", report.Commit.ID+"^"); parent != *rivals {
		t.Errorf("the commit stands on %s, want the rival's %s", parent, *rivals)
	}
	if pushes := count(r.server.Requests(), "git-receive-pack"); pushes != 2 {
		t.Errorf("%d pushes, want one lost and one won", pushes)
	}
	if after := r.quietTicks(t, 1); !noticed(after, tick.NoticeAdopted, "shop/deployment/app-5") {
		t.Errorf("notices %+v", after.Notices)
	}
}

// Where the rival edits what is to be crossed, it stays as they left it; the
// crossing beside it is made.
func (r *realParts) rivalAtIt(t *testing.T) {
	r.scale(t, map[workload.ID]int32{id("shop/app-8"): 60, id("pay/app-0"): 18})
	r.quietTicks(t, 1)
	r.rival(t, "shop", `app-8: "2"`, `app-8: "7"`)
	r.declares[id("shop/app-8")] = 7

	report := r.tick(t)
	r.declares[id("pay/app-0")] = 20
	if c := report.Commit; c == nil || len(c.Changes) != 1 || c.Changes[0].ID != id("pay/app-0") || c.ID != r.origin.Tip("main") {
		t.Fatalf("commit %+v", c)
	}
	if !noticed(report, tick.NoticeMoved, "shop/deployment/app-8") {
		t.Errorf("notices %+v", report.Notices)
	}
	if got := r.origin.Show(t, "main", checkpoint.RecordPath("prod-eu", "shop")); !strings.Contains(got, `app-8: "7"`) {
		t.Errorf("the record is now\n%s", got)
	}

	// The next tick adopts the rival's level, and only the Component follows.
	report = r.tick(t)
	if !noticed(report, tick.NoticeAdopted, "shop/deployment/app-8") {
		t.Errorf("notices %+v", report.Notices)
	}
	r.declared(t)
	if paths := r.origin.Git(t, "show", "--format=", "--name-only", "main"); paths != "checkpoints/prod-eu/shop/kustomization.yaml" {
		t.Errorf("touched %s", paths)
	}
	r.quietTicks(t, 2)
}

func (r *realParts) touched(t *testing.T) {
	for _, path := range strings.Fields(r.origin.Git(t, "log", "--author=gitlatch", "--format=", "--name-only", "main")) {
		if !strings.HasPrefix(path, "checkpoints/prod-eu/") {
			t.Errorf("touched %s", path)
		}
	}
	tree := r.origin.Tree(t, "main")
	for path, blob := range r.began {
		if tree[path] != blob {
			t.Errorf("%s was %s and is %s", path, blob, tree[path])
		}
	}
	r.origin.Check(t)
}

// rival edits a namespace's record between the next tick's read and its push,
// and returns where the id of their commit will be.
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

// same says which levels are not as they should be.
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

func noticed(r tick.Report, kind tick.NoticeKind, subject string) bool {
	return slices.ContainsFunc(r.Notices, func(n tick.Notice) bool { return n.Kind == kind && n.Subject == subject })
}

func count(requests []gitserver.Request, service string) (n int) {
	for _, r := range requests {
		if r.Service() == service {
			n++
		}
	}
	return n
}

// calls notes the requests to the API server.
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

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
