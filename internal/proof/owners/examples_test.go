//go:build gitops

package owners

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// example returns an example of infra/gitops, which "gitlatch init" prints.
func example(t *testing.T, tool string) string {
	t.Helper()
	text, err := os.ReadFile("../../../infra/gitops/" + tool + "/prod-eu.yaml")
	must(t, err)
	return string(text)
}

// exampleFiles returns the repository of the levels for site prod-eu. The workloads are in
// another repository.
func exampleFiles(t *testing.T) (levels, workloads map[string]string) {
	t.Helper()
	levels = siteFiles("prod-eu", 0)
	levels[admission.Path] = policyFile(t)
	workloads = map[string]string{}
	for path, text := range fleet(t) {
		if strings.HasPrefix(path, "workloads/") {
			workloads[path] = text
		}
	}
	return levels, workloads
}

// exampleFile is the checkpoint file of a namespace of the example site.
var exampleFile = "checkpoints/prod-eu/" + teams[0] + ".levels.yaml"

// pruned removes a checkpoint file, and expects that the tool prunes its objects and writes no
// workload.
func (r *rebuild) pruned(t *testing.T, origin *gitserver.Origin, again func()) {
	t.Helper()
	before := r.version(t)
	origin.Push(t, "main", map[string]string{exampleFile: gitserver.Removed}, "remove a checkpoint file")
	again()
	r.levelled(t, teams[0], "none")
	r.Kubectl(t, "", "wait", "--for=delete", "mutatingadmissionpolicybinding/"+admission.BindingName(teams[0]), "--timeout=180s")
	if r.version(t) != before {
		t.Error("the tool wrote a workload")
	}
}

// writers returns the users that changed an object of a resource, other than by a dry run.
func (r *rebuild) writers(t *testing.T, resource string) map[string]bool {
	t.Helper()
	users := map[string]bool{}
	for _, q := range r.Audit(t) {
		writes := q.Verb == "create" || q.Verb == "patch" || q.Verb == "update" || q.Verb == "delete"
		inLevels := strings.Contains(q.URI, "/namespaces/"+admission.Namespace+"/") || resource != configmaps.Resource
		if q.Object.Resource == resource && writes && inLevels && q.Code < 300 && !strings.Contains(q.URI, "dryRun=") {
			users[q.User] = true
		}
	}
	return users
}

// A root Kustomization applies the example in a new cluster without any folder. Its comment
// orders the workloads.
func TestTheExampleOfFlux(t *testing.T) {
	r := &rebuild{world: start(t), table: &table{}, tool: "Flux", home: "flux-system"}
	text := example(t, "flux")
	line := regexp.MustCompile(`#   (dependsOn: .*)\n`).FindStringSubmatch(text)
	if line == nil {
		t.Fatalf("no comment shows dependsOn in\n%s", text)
	}
	files, workloads := exampleFiles(t)
	files["root/gitlatch.yaml"] = text
	levels, others := gitserver.NewOrigin(t, t.TempDir(), files), gitserver.NewOrigin(t, t.TempDir(), workloads)
	const other = "https://git.example.com/workloads.git"
	f := flux.Start(t, r.ControlPlane, map[string]*gitserver.Origin{repository: levels, other: others})
	from := func(repository, object string) string {
		return strings.Replace(object, "name: fleet", "name: "+repository, 1)
	}
	r.Apply(t,
		from("flux-system", fmt.Sprintf(gitRepository, repository)),
		from("workloads", fmt.Sprintf(gitRepository, other)),
		from("flux-system", kustomization("flux-system", "root", "")),
		from("workloads", kustomization("workloads", "workloads", ", "+line[1])),
	)
	r.created(t, "the example", false)
	f.Applied(t, "gitlatch-prod-eu", levels.Tip("main"))

	// The two Kustomizations with the Namespace do not write it in turn.
	version := func() string {
		return r.Kubectl(t, "", "get", "namespace", admission.Namespace, "-o", "jsonpath={.metadata.resourceVersion}")
	}
	f.Reconcile(t, "gitlatch-admission")
	before := version()
	for range 2 {
		f.Reconcile(t, "flux-system")
		f.Reconcile(t, "gitlatch-admission")
	}
	if version() != before {
		t.Error("Flux wrote the Namespace again")
	}

	r.pruned(t, levels, func() { f.Reconcile(t, "gitlatch-prod-eu") })
	const applier = "system:serviceaccount:flux-system:gitlatch-applier"
	levelled := r.writers(t, configmaps.Resource)
	delete(levelled, "system:serviceaccount:kube-system:root-ca-cert-publisher")
	if len(levelled) != 1 || !levelled[applier] {
		t.Errorf("the levels were written by %v, want %s", levelled, applier)
	}
	if got := r.writers(t, bindings.Resource); !got[applier] {
		t.Errorf("the bindings were written by %v, want %s", got, applier)
	}
}

// healthy makes an app of apps wait until a child Application has applied its folder.
const healthy = `apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data:
  resource.customizations.health.argoproj.io_Application: |
    hs = {status = "Progressing", message = ""}
    if obj.status ~= nil and obj.status.health ~= nil then
      hs.status = obj.status.health.status
    end
    return hs
`

// An app of apps applies the example in a new cluster without any folder, and then the
// Application of the workloads in wave 0.
func TestTheExampleOfArgoCD(t *testing.T) {
	r := &rebuild{world: start(t), table: &table{}, tool: "Argo CD", home: "argocd"}
	files, workloads := exampleFiles(t)
	levels, others := gitserver.NewOrigin(t, t.TempDir(), files), gitserver.NewOrigin(t, t.TempDir(), workloads)
	const auto = "prune: true, selfHeal: true"
	text := strings.ReplaceAll(example(t, "argocd"), "https://git.example.com/platform/fleet.git", argocd.URL(levels))
	parent := gitserver.NewOrigin(t, t.TempDir(), map[string]string{
		"apps/gitlatch.yaml":  text,
		"apps/workloads.yaml": application("workloads", "workloads", others, "", sync(auto)),
	})
	argocd.Start(t, r.ControlPlane)
	r.Apply(t, healthy, application("parent", "apps", parent, "", sync(auto)))
	r.created(t, "the example", false)
	r.watch(t, "gitlatch-prod-eu", "is synced", func(o anApplication) bool { return o.Status.Sync.Status == "Synced" })
	r.pruned(t, levels, func() { r.refresh(t) })

	// The project of the site permits no policy.
	_, site, _ := strings.Cut(text, "# The levels")
	r.Apply(t, "#"+strings.NewReplacer("gitlatch-prod-eu", "limited", "checkpoints/prod-eu", "checkpoints/admission").Replace(site))
	if err := r.synced(t, "limited", levels.Tip("main")); err == nil || !strings.Contains(err.Error(), "is not permitted in project gitlatch") {
		t.Errorf("the Application of a site applies the policy: %v", err)
	}
}
