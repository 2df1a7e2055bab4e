package doctor_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
)

// A repository has several URLs. A similar URL can be another repository.
func TestARepositoryIsKnownByEachOfItsNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		site, source string
		same         bool
	}{
		{"https://git.example.com/platform/fleet.git", "https://GIT.example.com/platform/fleet/", true},
		{"https://git.example.com/platform/fleet", "http://git.example.com:80/platform/fleet.git", true},
		{"https://git.example.com/platform/fleet", "http://git.example.com:3000/platform/fleet.git", false},
		{"https://git.example.com:8443/platform/fleet", "https://bot@git.example.com:8443/platform/fleet.git", true},
		{"https://git.example.com:443/platform/fleet", "https://git.example.com:8443/platform/fleet.git", false},
		{"https://git.example.com/platform/fleet.git", "https://git.example.com/platform/Fleet.git", false},
		{"https://git.example.com/platform/fleet.git", "https://git.example.com/platform/fleet-2.git", false},
		{"https://git.example.com/platform/fleet.git", "https://git.example.com.evil.example/platform/fleet.git", false},
		{"https://git.example.com/platform/fleet.git", "https://git.example.com@evil.example/platform/fleet.git", false},
		{"git@git.example.com:platform/fleet.git", "ssh://git@git.example.com:7999/platform/fleet", true},
		{"git@git.example.com:platform/fleet.git", "git.example.com:/platform/fleet.git", true},
		{"https://github.com/platform/fleet.git", "ssh://git@ssh.github.com:443/platform/fleet.git", true},
		{"https://dev.azure.com/org/project/_git/fleet", "git@ssh.dev.azure.com:v3/org/project/fleet", true},
		{"https://dev.azure.com/org/project/_git/fleet", "git@ssh.dev.azure.com:v3/org/other/fleet", false},
		{"https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet", "ssh://APKAEXAMPLE@git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet", true},
		{"https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet", "https://git-codecommit.us-east-1.amazonaws.com/v1/repos/fleet", false},
	} {
		f := read(t, "argocd")
		f["cluster.yaml"] = strings.Replace(f["cluster.yaml"], here.Repository, c.source, 1)
		seen := f.read(t)
		seen.Here.Repository = c.site
		r := doctor.Examine(seen)
		if same := r.Workloads[0].Inert.Line() != ""; same != c.same || !same && r.Findings[0].Trap != doctor.OtherRepository {
			t.Errorf("%s is %s: %v\n%s", c.source, c.site, same, tell(r))
		}
	}
}

// An Application has a source in another repository and a source in the site's
// repository. The second source does not prove that the Application applies the
// workloads in the first. The list of applied resources in its status does.
func TestAnApplicationOfTwoRepositoriesAppliesWhatItLists(t *testing.T) {
	t.Parallel()
	const one, lists = "  source: {repoURL: https://git.example.com/platform/fleet.git, targetRevision: main, path: clusters/prod/shop}", "status: {sync: {status: Synced}}"
	for status, want := range map[string]string{
		lists: "",
		"status: {sync: {status: Synced}, resources: [{group: apps, kind: Deployment, namespace: shop, name: web}]}": "argocd: Application argocd/shop ignores /spec/replicas",
	} {
		f := read(t, "argocd")
		f["cluster.yaml"] = edited(t, f["cluster.yaml"], "-"+one+"\n+  sources: [{repoURL: https://git.example.com/shop/app.git, path: clusters/prod/shop}, {repoURL: https://git.example.com/platform/fleet.git, targetRevision: main, path: checkpoints/prod, directory: {recurse: true, include: '*/checkpoint.yaml'}}]\n-"+lists+"\n+"+status+"\n")
		if r := f.examine(t); r.Workloads[0].Inert.Line() != want || want == "" && r.Findings[0].Trap != doctor.NoApplier {
			t.Errorf("want inert by %q:\n%s", want, tell(r))
		}
	}
}

// A policy on creation works without an object of a GitOps tool. An Application for
// another cluster does not affect it, for any source of the Application. An Application
// at another revision may re-apply the replicas.
func TestAPolicyLosesNothingToAnotherCluster(t *testing.T) {
	t.Parallel()
	const spec = "\nkind: Application\nmetadata: {name: staging, namespace: argocd}\nspec: {destination: {DESTINATION}, source: {repoURL: https://git.example.com/platform/fleet.git, targetRevision: v1, path: clusters/shop}}\n"
	for destination, kept := range map[string]bool{"name: staging": true, "server: https://api.prod.example.com:443/": false} {
		f := read(t, "admission")
		f["repo/clusters/shop/kustomization.yaml"] = "resources: [../../apps/shop]\ncomponents: [../../checkpoints/prod/shop]\n"
		f["cluster.yaml"] += "---" + strings.Replace(spec, "DESTINATION", destination, 1)
		if r := f.examine(t); (tell(r) == f["want"]) != kept || (r.Workloads[0].Inert.Line() != "") != kept {
			t.Errorf("%s:\n%s", destination, tell(r))
		}
	}
}
