package cli_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// bare returns a world with a repository that gitlatch has not used.
func bare(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.origin = gitserver.NewOrigin(t, w.path("bare.git"), map[string]string{"apps/web.yaml": "kind: Deployment\n"})
	w.configure(t, w.origin.Dir)
	return w
}

// initial runs init in a repository that gitlatch has not used.
func initial(t *testing.T) *world {
	t.Helper()
	w := bare(t)
	if got := w.run("init", "--mode", "latch"); got.status != 0 {
		t.Fatalf("init: %+v", got)
	}
	return w
}

// policyOf returns the file of the admission policy.
func policyOf(t *testing.T, p admission.Policy) string {
	t.Helper()
	text, err := p.Format()
	must(t, err)
	return string(text)
}

// changed returns the paths that the latest commit changed.
func (w *world) changed(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(w.origin.Git(t, "diff", "--name-only", "main~1", "main"))
}

func TestInitCommitsWhatASiteBeginsWith(t *testing.T) {
	t.Parallel()
	w := bare(t)
	tip := w.origin.Tip("main")
	if got := w.run("init", "--dry-run"); got.status != 0 || w.origin.Tip("main") != tip || !strings.Contains(got.out, "--- gitlatch.yaml\n") ||
		!strings.Contains(got.out, "mode: observe\n") || !strings.Contains(got.out, "--- checkpoints/admission/gitlatch.yaml\n") {
		t.Errorf("dry run: %+v", got)
	}
	got := w.run("init")
	if got.status != 0 {
		t.Fatalf("%+v", got)
	}
	golden(t, "init.txt", strings.NewReplacer(w.origin.Tip("main"), "<commit>", w.dir, "<dir>").Replace(got.out))
	if got, want := w.changed(t), "checkpoints/admission/gitlatch.yaml\ncheckpoints/prod-eu/site.yaml\ngitlatch.yaml"; got != want {
		t.Errorf("the commit changes\n%s\nwant\n%s", got, want)
	}
	if w.origin.Show(t, "main", admission.Path) != policyOf(t, admission.Policy{}) {
		t.Error("the file of the admission policy has another text")
	}

	// site.yaml has the UID of the cluster, for restores and later ticks.
	if site := w.origin.Show(t, "main", "checkpoints/prod-eu/site.yaml"); !strings.Contains(site, "\"1f0c-blue\"\n") {
		t.Errorf("site.yaml is %s", site)
	}

	tip = w.origin.Tip("main")
	if got := w.run("init"); got.status != 0 || w.origin.Tip("main") != tip || !strings.Contains(got.out, "nothing to do") {
		t.Errorf("again: %+v", got)
	}
	for range 3 {
		if got := w.tick(); got.status != 0 || !strings.HasSuffix(got.out, "mode is observe: nothing is written to git\n") {
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

// After an upgrade, init changes the file of the admission policy alone, in one commit.
func TestInitUpdatesTheAdmissionPolicy(t *testing.T) {
	t.Parallel()
	w := initial(t)
	w.origin.Push(t, "main", map[string]string{admission.Path: strings.Replace(policyOf(t, admission.Policy{}), "failurePolicy: Ignore", "failurePolicy: Fail", 1)}, "an older version")
	before := w.files(t)
	tip := w.origin.Tip("main")
	if got := w.run("init", "--dry-run"); got.status != 0 || w.origin.Tip("main") != tip || !strings.HasPrefix(got.out, "--- checkpoints/admission/gitlatch.yaml\n") {
		t.Errorf("dry run: %+v", got)
	}
	got := w.run("init")
	if got.status != 0 || w.origin.Tip("main~1") != tip || w.changed(t) != admission.Path || !strings.HasPrefix(got.out, "commit "+w.origin.Tip("main")+"\n  "+admission.Path+"\n") {
		t.Errorf("%+v changes %s", got, w.changed(t))
	}
	if subject := w.origin.Log(t, "main")[0]; subject != "latch(prod-eu): update the admission policy" {
		t.Errorf("the subject is %q", subject)
	}
	w.origin.Push(t, "main", map[string]string{
		"gitlatch.yaml": latching + "commit: {subject: \"chore: {{.Changes}}\"}\n",
		admission.Path:  strings.Replace(policyOf(t, admission.Policy{}), "failurePolicy: Ignore", "failurePolicy: Fail", 1),
	}, "a subject")
	before = w.files(t)
	if got := w.run("init"); got.status != 0 || w.origin.Log(t, "main")[0] != "chore: update the admission policy" {
		t.Errorf("with a subject: %+v, %q", got, w.origin.Log(t, "main")[0])
	}
	after := w.files(t)
	if after[admission.Path] != policyOf(t, admission.Policy{}) {
		t.Errorf("the file is\n%s", after[admission.Path])
	}
	delete(after, admission.Path)
	for name, text := range after {
		if before[name] != text {
			t.Errorf("%s was written over", name)
		}
	}
	tip = w.origin.Tip("main")
	if got := w.run("init"); got.status != 0 || w.origin.Tip("main") != tip || !strings.Contains(got.out, "nothing to do") {
		t.Errorf("again: %+v", got)
	}
}

var team = workload.Kinds{"team": {Group: "example.com", Version: "v1", Resource: "teams", Replicas: ".spec.size"}}

const workers = "kinds:\n- {apiVersion: example.com/v1, kind: Worker, resource: workers, replicas: .spec.pool.size}\n"

// The file has the kinds of the site's policy, and keeps the kinds of another site. A second
// site gets its first files and the change of the shared file in two commits.
func TestInitKeepsTheKindsOfAnotherSite(t *testing.T) {
	t.Parallel()
	worker := workload.Kinds{"worker": {Group: "example.com", Version: "v1", Resource: "workers", Replicas: ".spec.pool.size"}}
	both := team.With(worker)

	w := initial(t)
	w.origin.Push(t, "main", map[string]string{
		admission.Path:  policyOf(t, admission.Policy{Kinds: team}),
		"gitlatch.yaml": latching + workers + "admission: {images: true}\n",
	}, "another site, and a kind")
	if got := w.run("init"); got.status != 0 || w.changed(t) != admission.Path {
		t.Errorf("%+v changes %s", got, w.changed(t))
	}
	if got := w.files(t)[admission.Path]; got != policyOf(t, admission.Policy{Kinds: both, Images: true}) {
		t.Errorf("the file is\n%s", got)
	}

	w = bare(t)
	tip := w.origin.Push(t, "main", map[string]string{admission.Path: policyOf(t, admission.Policy{Kinds: team}), "gitlatch.yaml": latching + workers}, "another site")
	if got := w.run("init"); got.status != 0 || strings.Count(got.out, "commit ") != 2 || w.origin.Tip("main~2") != tip || w.changed(t) != admission.Path {
		t.Errorf("%+v changes %s", got, w.changed(t))
	}
	if got := w.files(t)[admission.Path]; got != policyOf(t, admission.Policy{Kinds: both}) {
		t.Errorf("the file is\n%s", got)
	}

	w.origin.Push(t, "main", map[string]string{admission.Path: "kind: Namespace\n"}, "break the file")
	if got := w.run("init"); got.status != 2 || !strings.Contains(got.err, admission.Path+": the file in git has no MutatingAdmissionPolicy gitlatch-levels. Delete the file") {
		t.Errorf("a broken file: %+v", got)
	}
}

// A kind whose replicas no expression can set is in no policy, and init names it.
func TestInitNamesAKindThatNoPolicyRaises(t *testing.T) {
	t.Parallel()
	w := bare(t)
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latching + strings.Replace(workers, ".spec.pool.size", ".spec.pool-size", 1)}, "a kind")
	got := w.run("init")
	if got.status != 0 || !strings.Contains(got.err, "kinds[worker].replicas: the admission policy cannot set .spec.pool-size. After a rebuild, \"gitlatch restore\" raises the workers.example.com\n") {
		t.Errorf("%+v", got)
	}
	if got := w.files(t)[admission.Path]; got != policyOf(t, admission.Policy{}) {
		t.Errorf("the file is\n%s", got)
	}
}

// Argo CD gets the URL of a git server as the configuration has it. An address of this machine may
// be one that the cluster cannot reach, so init names it.
func TestInitPrintsAnAddressOfThisMachine(t *testing.T) {
	t.Parallel()
	w := served(t, initial(t))
	got := w.run("init", "-o", "argocd")
	url, _, _ := strings.Cut(got.err, " ")
	if got.status != 0 || !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(got.err, " is an address of this machine. If Argo CD cannot reach this address, replace it in the output\n") {
		t.Errorf("%+v", got)
	}
	if n := strings.Count(got.out, "repoURL: \""+url+"\""); n != 2 || strings.Contains(got.out, "git.example.com") {
		t.Errorf("%d of the 2 Applications read %s:\n%s", n, url, got.out)
	}
}

// The examples in infra/gitops are the output of init for a site prod-eu.
func TestInitPrintsTheExamples(t *testing.T) {
	t.Parallel()
	w := initial(t)
	for tool, warning := range map[string]string{
		"flux":   "",
		"argocd": "A cluster cannot read the repository at " + w.origin.Dir + ". Before you apply the output, replace https://git.example.com/platform/fleet.git with a URL that the cluster can reach\n",
	} {
		got := w.run("init", "-o", tool)
		if got.status != 0 || got.err != warning {
			t.Fatalf("%+v", got)
		}
		golden(t, "../../infra/gitops/"+tool+"/prod-eu.yaml", got.out)
	}
	golden(t, "rbac-none.txt", w.run("init", "-o", "rbac").out)

	// With custom kinds, the objects include the rights that -o rbac prints.
	w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": latching + workers}, "a kind")
	rights := w.run("init", "-o", "rbac").out
	golden(t, "rbac.txt", rights)
	for _, tool := range []string{"flux", "argocd"} {
		if got := w.run("init", "-o", tool); got.status != 0 || !strings.HasSuffix(got.out, rights) {
			t.Errorf("%s: %+v", tool, got)
		}
	}
}

// The folder of the admission policy is below the folder of the sites.
func TestASiteIsNotNamedAdmission(t *testing.T) {
	t.Parallel()
	w := bare(t)
	got := run(w.now, "init", "--repository", w.origin.Dir, "--site", "admission")
	if got.status != 2 || !strings.Contains(got.err, "--site: must not be admission, because the folder checkpoints/admission contains the admission policy. Use another name") {
		t.Errorf("%+v", got)
	}
}
