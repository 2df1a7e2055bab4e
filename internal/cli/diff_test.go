package cli_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

var shopRecord = checkpoint.RecordPath("prod-eu", "shop")

// strayed is a settled world with one workload for each state: in sync with replicas
// between two levels, above, below, frozen, removed, new, and proposed.
func strayed(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.api.workloads["shop/deployment/web"].most = 2500
	w.set("shop/deployment/web", 1600)
	w.api.workloads["shop/deployment/old"] = &pods{desired: 7, ready: 7, least: 2, most: 20}
	w.api.workloads["shop/deployment/night"] = &pods{desired: 70, ready: 70, least: 2, most: 200}
	for range 3 {
		if got := w.tick(); got.status != 0 {
			t.Fatalf("tick: %+v", got)
		}
	}
	w.origin.Push(t, "gitlatch/prod-eu", nil, "begin a branch")
	w.origin.ForcePush(t, "gitlatch/prod-eu", w.origin.Tip("main"))
	w.origin.Push(t, "gitlatch/prod-eu", map[string]string{
		shopRecord: strings.Replace(w.origin.Show(t, "main", shopRecord), `api: "50"`, `api: "100"`, 1)}, "propose")
	w.origin.Push(t, "main", map[string]string{"apps/web.yaml": "kind: Deployment # moved on\n"}, "go on")

	w.set("shop/deployment/web", 1874)
	w.set("shop/deployment/api", 51)
	w.api.workloads["shop/deployment/api"].most = 900
	w.set("shop/deployment/night", 12)
	w.set("shop/deployment/cart", 4)
	w.api.workloads["shop/deployment/cart"].blind = true
	delete(w.api.workloads, "shop/deployment/old")
	w.api.workloads["shop/deployment/new"] = &pods{desired: 33, ready: 30, least: 2, most: 200}
	return w
}

func (w *world) set(id string, n int32) {
	w.api.workloads[id].desired, w.api.workloads[id].ready = n, n
}

// quiet returns a world without a difference: 1,874 pods run, and the level is 2,000.
func quiet(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.api.workloads["shop/deployment/web"].most = 2500
	w.set("shop/deployment/web", 1600)
	for range 3 {
		if got := w.tick(); got.status != 0 {
			t.Fatalf("tick: %+v", got)
		}
	}
	w.set("shop/deployment/web", 1874)
	return w
}

func TestDiffIsQuietBetweenTheThresholds(t *testing.T) {
	t.Parallel()
	w := quiet(t)
	before := w.hash(t)
	if got := w.run("diff"); got != (outcome{0, "Not listed: 4 workloads in sync, 2 not latched. To list all workloads, use -o\njson.\n", ""}) {
		t.Errorf("%+v", got)
	}
	got := w.run("diff", "shop/web")
	if got.status != 0 || got.err != "" {
		t.Errorf("%+v", got)
	}
	golden(t, "diff-in-sync.txt", got.out)
	w.set("shop/deployment/web", 2001)
	if got := w.run("diff"); got.status != 1 || !strings.Contains(strings.Join(strings.Fields(got.out), " "), "2001 is above 2000, so the level changes to 2500 after 2 samples in a row") {
		t.Errorf("one more: %+v", got)
	}
	w.set("shop/deployment/web", 1874)
	if w.hash(t) != before {
		t.Error("it wrote")
	}
}

// A workload that scales down at night is within the policy. Each format lists it, but
// not as a difference.
func TestDiffOfWhatWaitsIsNoDifference(t *testing.T) {
	t.Parallel()
	w := quiet(t)
	w.set("shop/deployment/web", 300)
	if got := w.run("diff"); got.status != 0 || got.err != "" || !strings.Contains(got.out, "shop/web  300   2000    waiting  300 is at or below 909, so the level changes to\n                                 500 after 26h\n") {
		t.Errorf("%+v", got)
	}
	var d struct {
		Differs bool
		Rows    []struct {
			Name, State string
			Differs     bool
			To          int32
		}
	}
	if got := w.run("diff", "shop/web", "-o", "json"); got.status != 0 || json.Unmarshal([]byte(got.out), &d) != nil || d.Differs || len(d.Rows) != 1 || d.Rows[0].Differs || d.Rows[0].State != "waiting" || d.Rows[0].To != 500 {
		t.Errorf("%+v", got)
	}
	w.api.workloads["shop/deployment/web"].most = 3000 // and a user should accept this
	if got := w.run("diff"); got.status != 1 || !strings.Contains(got.out, "waiting") {
		t.Errorf("other bounds: %+v", got)
	}
}

func TestDiffHasItsForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		golden string
		args   []string
	}{
		{"diff.txt", nil},
		{"diff.json", []string{"-o", "json"}},
		{"diff.yaml", []string{"-o", "yaml"}},
		{"diff-namespace.txt", []string{"shop"}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			t.Parallel()
			w := strayed(t)
			before := w.hash(t)
			got := w.run(append([]string{"diff"}, c.args...)...)
			if got.status != 1 || got.err != "" {
				t.Errorf("status %d, %s", got.status, got.err)
			}
			tip := w.origin.Tip("main")
			if !strings.Contains(got.out, tip) && strings.HasPrefix(c.golden, "diff.") && c.golden != "diff.txt" {
				t.Errorf("it does not say that it read %s", tip)
			}
			golden(t, c.golden, strings.ReplaceAll(got.out, tip, "TIP"))
			for line := range strings.Lines(got.out) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 && strings.HasSuffix(c.golden, ".txt") {
					t.Errorf("%d columns: %s", n, line)
				}
				if strings.Contains(line, "\x1b") {
					t.Errorf("colour where there is no terminal: %q", line)
				}
			}
			if w.hash(t) != before {
				t.Error("it wrote")
			}
		})
	}
}

func TestDiffSaysTheSameInJSONAndYAML(t *testing.T) {
	t.Parallel()
	w := strayed(t)
	var a, b any
	if err := json.Unmarshal([]byte(w.run("diff", "-o", "json").out), &a); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(w.run("diff", "-o", "yaml").out), &b); err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(a)
	other, _ := json.Marshal(b)
	if string(one) != string(other) {
		t.Errorf("JSON says\n%s\nYAML says\n%s", one, other)
	}
}

// The CI of a pull request has a checkout and the cluster, but not the state or the
// branch.
func TestDiffOfACheckout(t *testing.T) {
	t.Parallel()
	w := quiet(t)
	w.set("shop/deployment/web", 187)
	tree := t.TempDir()
	for path, content := range map[string]string{
		"gitlatch.yaml":                         latching,
		shopRecord:                              strings.Replace(w.origin.Show(t, "main", shopRecord), `web: "2000"`, `web: "100"`, 1),
		checkpoint.RecordPath("prod-eu", "pay"): w.origin.Show(t, "main", checkpoint.RecordPath("prod-eu", "pay")),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(tree, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, path), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(w.path("state")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(w.origin.Dir); err != nil {
		t.Fatal(err)
	}
	before := w.hash(t)
	want := "shop/web  187   100     pending  187 is above 100, so the level changes to 200\n                                 after 2 samples in a row\n"
	if got := w.run("diff", "--tree", tree); got.status != 1 || got.err != "" || !strings.Contains(got.out, want) {
		t.Errorf("%+v, want %s", got, want)
	}
	if w.hash(t) != before {
		t.Error("it wrote")
	}

	// The error about a broken file in a pull request names the file. Its workloads are
	// not reported as in sync.
	if err := os.WriteFile(filepath.Join(tree, shopRecord), []byte("<<<<<<< HEAD\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := w.run("diff", "--tree", tree); got.status != 2 || !strings.Contains(got.err, shopRecord) || strings.Contains(got.out, "in-sync") {
		t.Errorf("broken: %+v", got)
	}
	if err := os.Remove(filepath.Join(tree, shopRecord)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(w.dir, "config.yaml"), filepath.Join(tree, shopRecord)); err != nil {
		t.Fatal(err)
	}
	if got := w.run("diff", "--tree", tree); got.status != 2 || !strings.Contains(got.err, shopRecord+" is not a regular file") {
		t.Errorf("linked: %+v", got)
	}
	if got := w.run("diff", "--tree", t.TempDir()); got.status != 2 || !strings.Contains(got.err, "contains no checkpoints/prod-eu and no gitlatch.yaml") {
		t.Errorf("another folder: %+v", got)
	}
}

func TestDiffTellsTroubleFromDifferences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*world)
		args  []string
		says  string
	}{
		"a cluster that does not answer": {func(w *world) { w.api.Close() }, nil, "another cluster with --kubeconfig"},
		"part of the cluster":            {func(w *world) { w.api.refuse["deployments"] = http.StatusForbidden }, nil, "not read: deployments"},
		"no such repository":             {func(w *world) { _ = os.RemoveAll(w.origin.Dir) }, nil, "this path does not exist"},
		"an unknown form":                {nil, []string{"-o", "xml"}, "must be one of table, json, yaml"},
		"an unknown flag":                {nil, []string{"--wat"}, "unknown flag: --wat"},
		"an unknown workload":            {nil, []string{"shop/wep"}, "shop/api, shop/batch"},
		"an unknown namespace":           {nil, []string{"show"}, `namespace "show"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := settled(t)
			if c.spoil != nil {
				c.spoil(w)
			}
			if got := w.run(append([]string{"diff"}, c.args...)...); got.status != 2 || !strings.Contains(got.err, c.says) {
				t.Errorf("%+v, want 2 and %q", got, c.says)
			}
		})
	}
}
