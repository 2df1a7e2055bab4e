package cli_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/report"
)

// busy returns a world with a workload for each verdict: one has a level change, one is
// on its way down, one is frozen, one is quiet and two are not latched.
func busy(t *testing.T) *world {
	w := settled(t)
	set := func(id string, n int32) { w.api.workloads[id].desired, w.api.workloads[id].ready = n, n }
	set("shop/deployment/api", 51)
	w.api.workloads["shop/deployment/api"].most = 900
	set("shop/deployment/web", 30)
	set("shop/deployment/cart", 4)
	w.api.workloads["shop/deployment/cart"].blind = true
	if got := w.tick(); got.status != 0 {
		t.Fatalf("tick: %+v", got)
	}
	return w
}

func TestReportsHaveTheirForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
	}{
		{"tick.txt", nil},
		{"tick.json", []string{"-o", "json"}},
		{"tick.yaml", []string{"--output", "yaml"}},
		{"dry-run.txt", []string{"--dry-run"}},
		{"dry-run.json", []string{"--dry-run", "-o", "json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := busy(t).tick(c.args...)
			if got.status != 0 || got.err != "" {
				t.Errorf("status %d, %s", got.status, got.err)
			}
			golden(t, c.name, got.out)
		})
	}
}

// rolling returns a world with rollouts in flight: one advances, one fails, one is
// done, one is seen for the first time, and one changes its level. The maximum in git
// is too low for another workload.
func rolling(t *testing.T) *world {
	w := newWorld(t)
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latches + "policies: [{name: default, match: {}, series: 1-2-5, rollout: {after: 5m}}]\n"}, "policy")
	set := func(name string, n int32, r *rolls) {
		w.api.workloads["shop/deployment/"+name] = &pods{desired: n, ready: n, least: 2, most: 300, rolls: r}
	}
	for _, name := range []string{"advances", "done", "fails", "first", "level"} {
		set(name, 40, nil)
	}
	set("capped", 300, nil)
	ticks := func(n int) {
		for range n {
			if got := w.tick(); got.status != 0 {
				t.Fatalf("tick: %+v", got)
			}
		}
	}
	ticks(2)
	set("advances", 40, &rolls{updated: 10})
	set("done", 40, &rolls{updated: 36})
	set("fails", 40, &rolls{updated: 30})
	set("level", 90, &rolls{updated: 10})
	ticks(2)
	set("advances", 40, &rolls{updated: 24})
	set("capped", 320, nil)
	w.api.workloads["shop/deployment/capped"].most = 400
	ticks(1)
	set("done", 40, nil)
	set("fails", 40, &rolls{updated: 30, failed: "ProgressDeadlineExceeded"})
	set("first", 40, &rolls{updated: 3})
	set("level", 190, &rolls{updated: 190 / 2})
	return w
}

func TestReportsOfRolloutsHaveTheirForm(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"rollouts.txt":  {"tick"},
		"rollouts.json": {"tick", "--dry-run", "-o", "json"},
		// During a rollout, explain shows its entry in git, the template that a rebuild
		// returns to, and the events that would change this.
		"explain-rollout.txt":       {"explain", "shop/advances"},
		"explain-rollout-fails.txt": {"explain", "shop/fails"},
		"explain-rollout-first.txt": {"explain", "shop/first"},
		"explain-rollout-done.txt":  {"explain", "shop/done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := rolling(t).run(args...)
			if got.status != 0 || got.err != "" {
				t.Errorf("status %d, %s", got.status, got.err)
			}
			golden(t, name, got.out)
		})
	}
}

// The JSON and the YAML output have the same content, and both can be read back
// unchanged.
func TestJSONAndYAMLAreOneDocument(t *testing.T) {
	t.Parallel()
	var fromJSON, fromYAML report.Document
	d := json.NewDecoder(strings.NewReader(busy(t).tick("-o", "json").out))
	d.DisallowUnknownFields()
	if err := d.Decode(&fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict([]byte(busy(t).tick("-o", "yaml").out), &fromYAML); err != nil {
		t.Fatal(err)
	}
	rollouts := json.NewDecoder(strings.NewReader(rolling(t).tick("-o", "json").out))
	rollouts.DisallowUnknownFields()
	if err := rollouts.Decode(new(report.Document)); err != nil {
		t.Error(err)
	}
	a, _ := json.Marshal(fromJSON)
	b, _ := json.Marshal(fromYAML)
	if string(a) != string(b) {
		t.Errorf("JSON says\n%s\nYAML says\n%s", a, b)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ golden, workload string }{
		{"explain-crosses.txt", "shop/api"},
		{"explain-on-its-way-down.txt", "shop/deployment/web"},
		{"explain-stands-still.txt", "shop/cart"},
		{"explain-quiet.txt", "pay/ledger"},
		{"explain-undriven.txt", "shop/batch"},
		{"explain-system.txt", "kube-system/dns"},
	} {
		t.Run(c.golden, func(t *testing.T) {
			t.Parallel()
			w := busy(t)
			before := w.hash(t)
			got := w.run("explain", c.workload)
			if got.status != 0 || got.err != "" {
				t.Errorf("status %d, %s", got.status, got.err)
			}
			golden(t, c.golden, got.out)
			if w.hash(t) != before {
				t.Error("explain wrote")
			}
		})
	}
}

// explain describes in words a missing minimum and maximum, a single pod, a single
// sample, and a latch that cannot rise further.
func TestExplainSaysWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latches + "policies: [{name: default, match: {}, series: 1-2-5, undriven: true, hold: {up: 1, down: 0}}]\n"}, "policy")
	w.api.workloads = map[string]*pods{
		"shop/deployment/one": {desired: 1, ready: 1},
		"shop/deployment/top": {desired: 60, ready: 60, least: 2, most: 60},
		"shop/deployment/odd": {desired: 20, ready: 20, least: 2, most: 60, foreign: "weekly"},
	}
	for range 2 {
		if got := w.tick(); got.status != 0 {
			t.Fatalf("tick: %+v", got)
		}
	}
	for workload, want := range map[string][]string{
		"shop/one": {"live       1 pod, 1 of them ready\n", "in git     level 1 (any number of replicas allowed)\n", "raises levels after 1 sample", "raise      if 1 sample shows more than 1 pod\n", "lower      never: the workload is at its lowest level\n"},
		"shop/top": {"scaled by  hpa, which allows 2 to 60 replicas\n", "lowers them after 1 sample", "raise      never: the workload is at its maximum\n", "lower      if 1 sample shows at most 45 pods\n"},
		"shop/odd": {"brake      HPA odd does not scale down. The end of its brake is unknown, because its annotation gitlatch.dev/brake cannot be read\n",
			"gitlatch ignores the annotation gitlatch.dev/policy, because no policy \"weekly\" matches namespace shop\n"},
	} {
		got := w.run("explain", workload)
		for _, words := range want {
			if got.status != 0 || !strings.Contains(unfolded(got.out), words) {
				t.Errorf("%s does not say %q:\n%s%s", workload, words, got.out, got.err)
			}
		}
	}
	w.api.workloads["shop/deployment/one"].desired, w.api.workloads["shop/deployment/one"].ready = 7, 7
	if got := w.tick(); !strings.Contains(got.out, "1 sample of 7 pods rounded to level 10 or higher") {
		t.Errorf("%+v", got)
	}
}

// unfolded joins wrapped lines.
func unfolded(text string) string { return folds.ReplaceAllString(text, " ") }

var folds = regexp.MustCompile(`\n {2,}`)

// Replicas of 1 that no manifest states may be a default. explain prints the reason why
// the workload is not latched, and the change that would latch it. A user or a tool has
// set any other number.
func TestExplainSaysWhoseACountIsThatNobodyStates(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := &pods{desired: 1, ready: 1, unstated: true}
	w.api.workloads = map[string]*pods{"shop/deployment/one": one}
	says := func(words ...string) {
		t.Helper()
		got := w.run("explain", "shop/one")
		for _, want := range words {
			if !strings.Contains(unfolded(got.out), want) {
				t.Errorf("does not say %q:\n%s%s", want, got.out, got.err)
			}
		}
	}
	says("scaled by  no autoscaler found. The manifest sets no replicas, so Kubernetes uses the default of 1.\n",
		"policy     gitlatch writes no level for the workload, because it has no autoscaler. ",
		"If another program scales the workload, gitlatch writes a level when the replicas are no longer 1. To write a level now, set \"undriven: true\" in the policy.\n")

	one.desired, one.ready = 4, 4
	says("scaled by  scale, which allows any number of replicas\n", "decision   pending")

	one.desired, one.ready, one.least, one.most = 1, 1, 1, 9
	says("scaled by  hpa, which allows 1 to 9 replicas\n")

	one.least, one.most = 0, 0
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latches + "policies: [{name: default, match: {}, series: 1-2-5, undriven: true}]\n"}, "policy")
	got := w.run("explain", "shop/one")
	if !strings.Contains(got.out, "scaled by  no autoscaler found. ") || strings.Contains(got.out, "To write a level now") {
		t.Errorf("latched, it says\n%s%s", got.out, got.err)
	}
}

func TestADryRunWritesNothingAnywhere(t *testing.T) {
	t.Parallel()
	fresh := newWorld(t)
	before := fresh.hash(t)
	if got := fresh.run("tick", "--dry-run"); got.status != 0 || !strings.Contains(got.out, "sample 1 of 2") {
		t.Errorf("%+v", got)
	}
	if fresh.hash(t) != before {
		t.Error("a first dry run wrote")
	}

	w := busy(t)
	before = w.hash(t)
	first := w.run("tick", "--dry-run", "-o", "json")
	if first.status != 0 || !strings.Contains(first.out, `"crossings": 1`) {
		t.Errorf("%+v", first)
	}
	if again := w.run("tick", "--dry-run", "-o", "json"); again != first {
		t.Errorf("again it says %+v", again)
	}
	if w.hash(t) != before {
		t.Error("a dry run wrote")
	}
	if got := w.tick(); !strings.Contains(got.out, "\ncommit "+w.origin.Tip("main")+": latch(prod-eu): shop/api 50 -> 100\n") {
		t.Errorf("for real: %+v", got)
	}
}

func TestASiteThatObservesCommitsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tip := w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": strings.Replace(latching, "latch\n", "observe\n", 1)}, "observe")
	for range 3 {
		if got := w.tick(); got.status != 0 || !strings.HasSuffix(got.out, "mode is observe: nothing is written to git\n") {
			t.Errorf("%+v", got)
		}
	}
	if w.origin.Tip("main") != tip {
		t.Error("it committed")
	}
}
