package cli_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// bare returns a world with a repository that gitlatch has not used.
func bare(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.origin = gitserver.NewOrigin(t, w.path("bare.git"), map[string]string{"apps/web.yaml": "kind: Deployment\n"})
	w.configure(t, w.origin.Dir)
	return w
}

func TestInitCommitsWhatASiteBeginsWith(t *testing.T) {
	t.Parallel()
	w := bare(t)
	tip := w.origin.Tip("main")
	if got := w.run("init", "--dry-run"); got.status != 0 || w.origin.Tip("main") != tip || !strings.Contains(got.out, "--- gitlatch.yaml\n") ||
		!strings.Contains(got.out, "mode: observe\n") || strings.Contains(got.out, "prod-eu/kube-system") {
		t.Errorf("dry run: %+v", got)
	}
	got := w.run("init")
	if got.status != 0 || w.origin.Tip("main") == tip {
		t.Fatalf("%+v", got)
	}
	golden(t, "init.txt", strings.NewReplacer(w.origin.Tip("main"), "<commit>", w.dir, "<dir>").Replace(got.out))

	// The path is correct from the folder in the example.
	shown := regexp.MustCompile(` (\S+)/kustomization.yaml:\n\n  components: \[(\S+)\]\n`).FindStringSubmatch(got.out)
	if shown == nil || path.Join(shown[1], shown[2]) != "checkpoints/prod-eu/pay" {
		t.Errorf("the path of the Component is %q", shown)
	}

	// site.yaml has the UID of the cluster, for restores and later ticks.
	if site := w.origin.Show(t, "main", "checkpoints/prod-eu/site.yaml"); !strings.Contains(site, "cluster: \"1f0c-blue\"\n") {
		t.Errorf("site.yaml is %s", site)
	}

	// A second run, and a policy by a user.
	tip = w.origin.Tip("main")
	if got := w.run("init"); got.status != 0 || w.origin.Tip("main") != tip || !strings.Contains(got.out, "nothing to do") {
		t.Errorf("again: %+v", got)
	}

	// Its files build, and a tick runs with them without a warning.
	files := map[string][]byte{"live/kustomization.yaml": []byte("resources: [web.yaml]\ncomponents: [../checkpoints/prod-eu/shop, ../checkpoints/prod-eu/pay]\n"),
		"live/web.yaml": []byte(manifestsOf("shop", "web"))}
	for name, text := range w.files(t) {
		files[name] = []byte(text)
	}
	built, err := gitops.Build(files, "live", gitops.Edits{}, nil)
	if err != nil || len(built.Workloads) != 1 || built.Workloads[0].Replicas != nil {
		t.Errorf("built %+v, %v", built, err)
	}
	for range 3 {
		if got := w.tick(); got.status != 0 || !strings.HasSuffix(got.out, "mode is observe: nothing is written to git\n") || strings.Contains(got.out, "stale") {
			t.Errorf("tick: %+v", got)
		}
	}
	if w.origin.Tip("main") != tip {
		t.Error("a site that observes was written")
	}
	policy := w.files(t)["gitlatch.yaml"]
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": strings.Replace(policy, "mode: observe", "mode: latch", 1)}, "latch")
	if got := w.tick(); got.status != 0 || !strings.Contains(got.out, "\ncommit ") {
		t.Errorf("tick in mode latch: %+v", got)
	}
}

// Before Kubernetes 1.36, init recommends the rules of Flux and Argo CD. Without an answer
// about the version, it names the version that the admission policy needs.
func TestInitRecommendsARuleThatTheServerKnows(t *testing.T) {
	t.Parallel()
	w := bare(t)
	w.api.minor = "35+"
	golden(t, "init-1.35.txt", strings.ReplaceAll(strings.ReplaceAll(w.run("init").out, w.origin.Tip("main"), "<commit>"), w.dir, "<dir>"))

	w = bare(t)
	w.api.refuse["version"] = 403
	if got := w.run("init"); got.status != 0 || !strings.Contains(got.out, "gitlatch render admission") || !strings.Contains(got.out, "(Kubernetes 1.36 or\n") {
		t.Errorf("without the version: %+v", got)
	}
}

// With --mode latch, the first ticks write levels. A policy file that exists keeps its
// mode, and init names the file to edit.
func TestInitWritesAPolicyInAMode(t *testing.T) {
	t.Parallel()
	w := bare(t)
	tip := w.origin.Tip("main")
	if got := w.run("init", "--mode", "watch"); got.status != 2 || w.origin.Tip("main") != tip ||
		!strings.Contains(got.err, `--mode: must be one of observe, latch, got "watch"`) {
		t.Errorf("unknown mode: %+v", got)
	}
	if got := w.run("init", "--mode", "latch"); got.status != 0 || strings.Contains(got.out, "only observes") || !strings.Contains(got.out, "commits the level changes") {
		t.Errorf("latch: %+v", got)
	}
	policy := w.files(t)["gitlatch.yaml"]
	if !strings.Contains(policy, "\nmode: latch\n") || strings.Contains(policy, "\nmode: observe\n") {
		t.Errorf("the policy is\n%s", policy)
	}
	tip = w.origin.Tip("main")
	if got := w.run("init", "--mode", "latch"); got.status != 0 || w.origin.Tip("main") != tip || !strings.Contains(got.out, "nothing to do") {
		t.Errorf("again: %+v", got)
	}

	w = bare(t)
	if got := w.run("init"); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	tip = w.origin.Tip("main")
	if got := w.run("init", "--mode", "latch"); got.status != 2 || w.origin.Tip("main") != tip ||
		!strings.Contains(got.err, `--mode: the site has a policy file already; set "mode: latch" in gitlatch.yaml`) {
		t.Errorf("a site that observes: %+v", got)
	}
}

func TestInitWritesNothingOver(t *testing.T) {
	t.Parallel()
	w := settled(t)
	before := w.files(t)
	if got := w.run("init"); got.status != 0 || !strings.Contains(got.out, "nothing to do") {
		t.Errorf("%+v", got)
	}
	w.api.workloads["late/deployment/web"] = &pods{desired: 3, ready: 3, least: 2, most: 9}
	got := w.run("init")
	if got.status != 0 || !strings.Contains(got.out, "checkpoints/prod-eu/late/kustomization.yaml") {
		t.Errorf("a namespace that came later: %+v", got)
	}
	if strings.Contains(got.out, "observes") || !strings.Contains(got.out, `gitlatch.yaml sets "mode: latch"`) {
		t.Errorf("in mode latch: %+v", got)
	}
	after := w.files(t)
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s was written over", name)
		}
	}
	if len(after) != len(before)+1 {
		t.Errorf("%d files, and %d before", len(after), len(before))
	}
}
