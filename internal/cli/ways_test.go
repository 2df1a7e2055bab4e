package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// The output for the site of the examples equals the files in infra/gitops.
func TestRenderPrintsWhatKeepsASiteInert(t *testing.T) {
	t.Parallel()
	const url = "https://git.example.com/platform/fleet.git"
	w := newWorld(t)
	w.origin.Git(t, "branch", "live", "main")
	shipped := func(name string) string {
		text, err := os.ReadFile(filepath.Join("../../infra/gitops", name))
		must(t, err)
		return string(text)
	}
	argocd, flux, policy, images := shipped("argocd/prod-eu.yaml"), shipped("flux/prod-eu.yaml"), shipped("admission/policy.yaml"), shipped("admission/images.yaml")
	writers := shipped("admission/writers.yaml")
	const asTools = " --writer system:serviceaccount:flux-system:kustomize-controller --writer system:serviceaccount:argocd:argocd-application-controller"
	named := strings.NewReplacer(`"prod-eu"`, `"fleet"`, "clusters/prod-eu", "deploy", `"main"`, `"live"`).Replace(flux)
	for name, c := range map[string]struct {
		branch, args, want string
	}{
		"argocd":     {"main", "argocd --url " + url, argocd},
		"flux":       {"main", "flux --url " + url, flux},
		"admission":  {"main", "admission", policy},
		"patch":      {"main", "argocd --patch", shipped("argocd/patch.yaml")},
		"flux patch": {"main", "flux --patch", shipped("flux/patch.yaml")},
		"images":     {"main", "admission --images" + asTools, policy + images + writers},
		"writers":    {"main", "admission" + asTools, policy + writers},
		"named":      {"live", "flux --name fleet --path deploy --url " + url, named},
	} {
		w.write(t, "prod-eu.yaml", "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {memory: {}}\nrepository: {url: "+w.origin.Dir+", branch: "+c.branch+"}\n")
		args := append([]string{"render"}, strings.Fields(c.args)...)
		if got := run(w.now, append(args, "--config", w.path("prod-eu.yaml"))...); got != (outcome{0, c.want, ""}) {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// Rules are limited to namespaces with a Component in git. For another namespace, such
// as a misspelled one, they would protect nothing.
func TestRenderNarrowsToNamespacesThatGitKnows(t *testing.T) {
	t.Parallel()
	w := settled(t)
	begun := checkpoint.Record{Namespace: "new"}.Component(nil) // created by init, without entries
	w.origin.Push(t, "main", map[string]string{checkpoint.ComponentPath("prod-eu", "new"): string(begun)}, "begun")
	before := w.hash(t)
	w.api.Close() // render reads only git
	for args, c := range map[string]struct {
		says string
		n    int
	}{
		"flux pay pay --url https://git.example.com/fleet.git": {`namespace: "pay"}`, 3},
		"flux new --url https://git.example.com/fleet.git":     {`namespace: "new"}`, 3},
		"admission --images --writer jane shop pay":            {`values: ["pay", "shop"]`, 3},
	} {
		got := w.run(append([]string{"render"}, strings.Fields(args)...)...)
		if got.status != 0 || got.err != "" || strings.Count(got.out, c.says) != c.n {
			t.Errorf("%s: %+v", args, got)
		}
	}
	for _, form := range []string{"flux --patch", "argocd --patch", "admission"} {
		if got := w.run(append(append([]string{"render"}, strings.Fields(form)...), "nope")...); got.status != 2 || got.out != "" || !strings.Contains(got.err, "namespace nope: git has no level in it; namespaces with levels: ") {
			t.Errorf("%s: %+v", form, got)
		}
	}
	if w.hash(t) != before {
		t.Error("render wrote")
	}
}

// A policy that copies images from checkpoint files needs another policy that limits
// who may write them.
func TestRenderPrintsNoPolicyForImagesThatAnyoneCanChoose(t *testing.T) {
	t.Parallel()
	w := settled(t)
	for args, says := range map[string]string{
		"--images":                       "--images requires --writer. Otherwise anyone who may write ConfigMaps can choose an image",
		"--images --writer a'b":          `--writer: must be the name of a user without spaces and quotes, as "kubectl auth whoami" prints it, got "a'b"`,
		`--writer a\b`:                   "--writer: must be the name of a user",
		"--writer jane --writer \u2028x": "--writer: must be the name of a user",
	} {
		got := w.run(append([]string{"render", "admission"}, strings.Split(args, " ")...)...)
		if got.status != 2 || got.out != "" || !strings.Contains(got.err, says) {
			t.Errorf("%s: %+v, want %s", args, got, says)
		}
	}
}

// Users commit the output. So render refuses a URL with a secret, without repeating it,
// and a name that no cluster could have.
func TestRenderRefusesWhatMustNotBeCommitted(t *testing.T) {
	t.Parallel()
	const good = "https://git.example.com/platform/fleet.git"
	long := strings.Repeat("a", 64)
	for _, c := range []struct{ flag, value, want string }{
		{"url", "https://deploy:hunter2@git.example.com/fleet.git", "--url: must not contain a password or token"},
		{"url", "https://hunter2@git.example.com/fleet.git", "--url: must not contain a password or token"},
		{"url", "ssh://git:hunter2@git.example.com/fleet.git", "--url: must not contain a password or token"},
		{"url", "https://git.example.com/fleet.git?private_token=hunter2", "--url: must not have a query"},
		{"url", "https://git.example.com/fleet.git#hunter2", "--url: must not have a query or a fragment"},
		{"url", "https://deploy:hunter2@git.example.com/%zz", "--url: must be an https, http or ssh URL"},
		{"url", "git@git.example.com:hunter2.git", "--url: must be an https, http or ssh URL"},
		{"url", "https:///hunter2.git", "--url: must be an https, http or ssh URL"},
		{"url", "https://hunter2", "--url: must be an https, http or ssh URL"},
		{"url", "file:///srv/hunter2.git", "--url: must be an https, http or ssh URL"},
		{"name", "Prod", `--name: must be a DNS name: lower case letters, digits, dashes and dots, at most 63; got "Prod"`},
		{"name", "prod_eu", "--name: must be a DNS name"},
		{"name", "prod\nkind: Secret", "--name: must be a DNS name"},
		{"name", long, "--name: must be a DNS name"},
		{"path", "/clusters/prod", `--path: must be a folder from the root of the repository, such as clusters/prod, got "/clusters/prod"`},
		{"path", "../other", "--path: must be a folder"},
		{"path", "clusters/../../other", "--path: must be a folder"},
		{"path", "clusters//prod", "--path: must be a folder"},
	} {
		for _, tool := range []string{"flux", "argocd"} {
			args := []string{"render", tool, "--repository", "/nonexistent", "--url", good, "--" + c.flag, c.value}
			got := run(time.Time{}, args...)
			if got.status != 2 || got.out != "" || !strings.Contains(got.err, c.want) || strings.Contains(got.err, "hunter2") {
				t.Errorf("%s --%s %s: %+v, want %s", tool, c.flag, c.value, got, c.want)
			}
		}
	}
	all := run(time.Time{}, "render", "flux", "--repository", "/nonexistent", "--name", "X", "--path", "..")
	if strings.Count(all.err, "--") != 3 {
		t.Errorf("not all that is wrong: %+v", all)
	}
}

// The fields for an existing object have no name, folder or URL: render refuses these
// flags.
func TestRenderRefusesASourceForAnObjectThatExists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, tool := range []string{"flux", "argocd"} {
		for flag, value := range map[string]string{"name": "fleet", "path": "deploy", "url": "https://git.example.com/fleet.git"} {
			got := w.run("render", tool, "--patch", "--"+flag, value)
			if got.status != 2 || got.out != "" || !strings.Contains(got.err, "[patch "+flag+"]") {
				t.Errorf("%s --patch --%s: %+v", tool, flag, got)
			}
		}
	}
}

func TestRenderTakesWhatBothToolsTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for flag, values := range map[string][]string{
		"url":  {"ssh://git@git.example.com/fleet.git", "http://gitea.git.svc:3000/platform/fleet.git", "https://git.example.com:8443/fleet"},
		"name": {"fleet", "fleet.prod", "0"},
		"path": {"./clusters/prod", "clusters/prod/", "./", ".", "deploy"},
	} {
		for _, value := range values {
			got := w.run("render", "flux", "--url", "https://git.example.com/a.git", "--"+flag, value)
			if got.status != 0 || !strings.Contains(got.out, strconv.Quote(value)) {
				t.Errorf("--%s %s: %+v", flag, value, got)
			}
		}
	}
}
