package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is printed for the site of the examples is what infra/gitops holds.
func TestRenderPrintsWhatKeepsASiteInert(t *testing.T) {
	t.Parallel()
	const url = "https://git.example.com/platform/fleet.git"
	file := filepath.Join(t.TempDir(), "prod-eu.yaml")
	configured := func(repository string) {
		must(t, os.WriteFile(file, []byte("apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: prod-eu\nstate: {memory: {}}\nrepository: "+repository+"\n"), 0o600))
	}
	shipped := func(name string) string {
		text, err := os.ReadFile(filepath.Join("../../infra/gitops", name))
		must(t, err)
		return string(text)
	}
	argocd, flux, policy, images := shipped("argocd/prod-eu.yaml"), shipped("flux/prod-eu.yaml"), shipped("admission/policy.yaml"), shipped("admission/images.yaml")
	narrowed := strings.NewReplacer("kind: Deployment}", `kind: Deployment, namespace: "pay"}`, "kind: StatefulSet}", `kind: StatefulSet, namespace: "pay"}`).Replace(flux)
	named := strings.NewReplacer(`"prod-eu"`, `"fleet"`, "clusters/prod-eu", "deploy", `"main"`, `"live"`).Replace(flux)
	for name, c := range map[string]struct {
		repository, args, want string
	}{
		"argocd":      {"{url: " + url + "}", "argocd", argocd},
		"flux":        {"{url: " + url + "}", "flux", flux},
		"admission":   {"{url: " + url + "}", "admission", policy},
		"images":      {"{url: " + url + "}", "admission --images", policy + images},
		"narrowed":    {"{url: " + url + "}", "flux pay pay", narrowed},
		"named":       {"{url: " + url + ", branch: live}", "flux --name fleet --path deploy", named},
		"by path":     {"{url: /srv/fleet.git}", "flux --url " + url, flux},
		"github":      {"{github: {repository: platform/fleet, tokenSecret: fleet}}", "flux", strings.ReplaceAll(flux, "git.example.com", "github.com")},
		"enterprise":  {"{github: {repository: platform/fleet, tokenSecret: fleet, apiURL: https://git.example.com/api/v3}}", "flux", flux},
		"codecommit":  {"{codecommit: {name: fleet, region: eu-west-1}}", "argocd", strings.ReplaceAll(argocd, url, "https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet")},
		"no git read": {"{url: /nonexistent}", "admission", policy},
	} {
		configured(c.repository)
		args := append([]string{"render"}, strings.Fields(c.args)...)
		if got := run(time.Time{}, append(args, "--config", file)...); got != (outcome{0, c.want, ""}) {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// A narrowed policy names its namespaces in each of its bindings.
func TestRenderNarrowsTheAdmissionPolicies(t *testing.T) {
	t.Parallel()
	got := run(time.Time{}, "render", "admission", "--images", "shop", "pay", "--repository", "/nonexistent")
	if got.status != 0 || strings.Count(got.out, `values: ["pay", "shop"]`) != 2 {
		t.Errorf("%+v", got)
	}
}
