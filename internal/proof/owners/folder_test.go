//go:build gitops

package owners

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// The folders are applied in each order that users have, and the workloads show whether they
// came first. Then the tool applies the folder of a site with the rights that it needs alone.
// The rows of a tool follow one another in one cluster.
func TestFolderApplied(t *testing.T) {
	for _, c := range []struct {
		name, tool, home string
		run              func(*testing.T, *rebuild)
	}{
		{"kubectl", "kubectl", "default", folderByKubectl},
		{"flux", "Flux", "flux-system", folderByFlux},
		{"argocd", "Argo CD", "argocd", folderByArgoCD},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &rebuild{world: start(t), table: &table{}, tool: c.tool, home: c.home}
			r.Apply(t, person)
			r.head("tool", "case", "result")
			c.run(t, r)
			r.same(t, "folder-"+c.name+".md")
		})
	}
}

// first applies the folders as the first thing in the cluster.
func (r *rebuild) first(t *testing.T, files map[string]string) {
	t.Helper()
	r.bootstrap(t, files, "checkpoints/admission", prod)
}

func folderByKubectl(t *testing.T, r *rebuild) {
	files := fleet(t)
	r.first(t, files)
	r.bootstrap(t, files, "workloads")
	r.created(t, "the folders, then at once the workloads", true)

	r.forget(t)
	r.first(t, files)
	r.actsInAll(t)
	r.bootstrap(t, files, "workloads")
	r.created(t, "the folders, a dry-run CREATE in the last namespace until it shows a level, then the workloads", false)

	r.forget(t)
	r.Apply(t, r.applier())
	apply := func(folders ...string) error {
		args := []string{"--as=system:serviceaccount:" + r.home + ":applier", "apply", "--server-side"}
		for _, folder := range folders {
			args = append(args, "-R", "-f", checkout(t, files)+"/"+folder)
		}
		_, err := r.TryKubectl(t.Context(), "", args...)
		return err
	}
	r.result("folder of the site, before the policy", refused(apply(prod)))
	r.bootstrap(t, files, "checkpoints/admission")
	r.result("the same command again, after the policy", refused(apply(prod)))
	r.result("requests with the rights of the applier", r.used(t))
	files[admission.Path] = strings.Replace(files[admission.Path], "failurePolicy: Ignore", "failurePolicy: Fail", 1)
	r.result("a change of the policy with the rights of the applier", refused(apply("checkpoints/admission")))
	for path, text := range siteFiles("stage", 100) {
		files[path] = text
	}
	delete(files, admission.Path)
	r.result("two sites below one recursive path", refused(apply("checkpoints"))+": "+r.site(t))

	r.forget(t)
	r.servers(t)
	r.unbound(t)
	r.foreign(t)
}

// site returns the identity of the site in the cluster, and a level.
func (r *rebuild) site(t *testing.T) string {
	t.Helper()
	m, err := r.dyn.Resource(configmaps).Namespace(admission.Namespace).Get(t.Context(), "gitlatch.site", metav1.GetOptions{})
	must(t, err)
	return fmt.Sprintf("identity of %v, levels from %s", m.Object["data"].(map[string]any)["name"], r.level(t, teams[0]))
}

// A driver makes a GitOps tool apply folders of a repository.
type driver struct {
	// limited returns the object that applies a folder with the rights of the applier alone.
	limited func(name, path string) string
	// tried waits until an object has tried to apply a commit, and returns the failure.
	tried func(t *testing.T, name, commit string) error
	// again makes an object compare the cluster with git now.
	again func(t *testing.T, name string)
	// clear waits until no object applies anything, and removes all objects.
	clear func(t *testing.T)
}

// recreated deletes a namespace of workloads, and waits until the tool has created all again.
func (r *rebuild) recreated(t *testing.T, again func()) {
	t.Helper()
	r.Kubectl(t, "", "delete", "namespace", teams[0])
	again()
	r.created(t, "a namespace of workloads deleted, and created again by the tool", false)
}

// limited applies the folder of a site with the rights of the applier.
func (r *rebuild) limited(t *testing.T, d driver, origin *gitserver.Origin) {
	t.Helper()
	r.Apply(t, r.applier(), namespace(teams[0]), d.limited("site", prod))
	r.result("folder of the site, before the policy", refused(d.tried(t, "site", origin.Tip("main"))))
	r.bootstrap(t, fleet(t), "checkpoints/admission")
	r.acts(t, teams[0], probe, level)
	r.result("the next try, after the policy", refused(nil))

	r.Apply(t, deployment(teams[0], app(0), "", "one"))
	before := r.version(t)
	file := prod + "/" + teams[0] + ".levels.yaml"
	origin.Push(t, "main", map[string]string{file: strings.ReplaceAll(origin.Show(t, "main", file), `app-0: "2"`, `app-0: "30"`)}, "raise a level")
	d.again(t, "site")
	r.levelled(t, teams[0], "30")
	r.result("commit of a level", "applied, "+r.unchanged(t, before))
	origin.Push(t, "main", map[string]string{file: gitserver.Removed}, "remove a checkpoint file")
	d.again(t, "site")
	r.levelled(t, teams[0], "none")
	r.Kubectl(t, "", "wait", "--for=delete", "mutatingadmissionpolicybinding/"+admission.BindingName(teams[0]), "--timeout=180s")
	r.result("commit that removes a checkpoint file", "binding and levels removed, "+r.unchanged(t, before))
	r.result("requests with the rights of the applier", r.used(t))

	commit := origin.Push(t, "main", map[string]string{admission.Path: strings.Replace(policyFile(t), "failurePolicy: Ignore", "failurePolicy: Fail", 1)}, "change the policy")
	r.Apply(t, d.limited("admission", "checkpoints/admission"))
	r.result("a change of the policy with the rights of the applier", refused(d.tried(t, "admission", commit)))
}

// version returns the version of a workload, which each write changes.
func (r *rebuild) version(t *testing.T) string {
	t.Helper()
	o, err := r.dyn.Resource(deployments).Namespace(teams[0]).Get(t.Context(), app(0), metav1.GetOptions{})
	must(t, err)
	return o.GetResourceVersion()
}

func (r *rebuild) unchanged(t *testing.T, version string) string {
	t.Helper()
	if r.version(t) != version {
		return "the workload is written"
	}
	return "the workload is not written"
}

var kustomizations = schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}

// worst is a phase that a request of a user brings about: Flux applies the workloads right
// after the site. Otherwise it reads their dependency again after 30 s.
const worst = "the same, the workloads at once after the site"

// creator is a service account with the rights on the objects in the file of the policy. They
// are enough for kubectl, which creates the policy before its binding. Flux starts with a dry
// run of all objects.
const creator = `apiVersion: v1
kind: ServiceAccount
metadata: {name: creator, namespace: flux-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: creator}
rules:
- apiGroups: ["", admissionregistration.k8s.io, rbac.authorization.k8s.io]
  resources: [namespaces, mutatingadmissionpolicies, mutatingadmissionpolicybindings, roles, rolebindings]
  verbs: [get, list, watch, create, patch, delete, bind, escalate]
- {apiGroups: [""], resources: [configmaps], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: creator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: creator}
subjects: [{kind: ServiceAccount, name: creator, namespace: flux-system}]
`

func depends(on string) string { return ", dependsOn: [{name: " + on + "}]" }

func folderByFlux(t *testing.T, r *rebuild) {
	origin := gitserver.NewOrigin(t, t.TempDir(), fleet(t))
	r.first(t, fleet(t))
	f := flux.Start(t, r.ControlPlane, map[string]*gitserver.Origin{repository: origin}, "--requeue-dependency=5s")
	r.Apply(t, fmt.Sprintf(gitRepository, repository))
	d := driver{
		limited: func(name, path string) string { return kustomization(name, path, ", serviceAccountName: applier") },
		tried:   r.kustomized,
		again: func(t *testing.T, name string) {
			patch := fmt.Appendf(nil, `{"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": %q}}}`, time.Now().Format(time.RFC3339Nano))
			_, err := r.dyn.Resource(kustomizations).Namespace(r.home).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{})
			must(t, err)
		},
		clear: func(t *testing.T) { r.Kubectl(t, "", "delete", "kustomizations", "-n", "flux-system", "--all") },
	}
	r.Apply(t, kustomization("workloads", "workloads", ""))
	r.created(t, "the folders before Flux is installed", false)
	r.recreated(t, func() { d.again(t, "workloads") })

	folder, site := kustomization("admission", "checkpoints/admission", ""), kustomization("site", prod, depends("admission"))
	for _, c := range []struct {
		name    string
		chance  bool
		objects []string
	}{
		{"dependsOn from the workloads to the site to the policy", false, []string{folder, site, kustomization("workloads", "workloads", depends("site"))}},
		{worst, true, []string{folder, site, kustomization("workloads", "workloads", depends("site"))}},
		{"one Kustomization of both folders, dependsOn from the workloads", false, []string{kustomization("site", "checkpoints", ""), kustomization("workloads", "workloads", depends("site"))}},
		{"no dependsOn", true, []string{folder, kustomization("site", prod, ""), kustomization("workloads", "workloads", "")}},
		{"one Kustomization of everything", false, []string{kustomization("site", ".", "")}},
	} {
		d.clear(t)
		r.forget(t)
		r.Apply(t, c.objects...)
		if c.name == worst {
			f.Applied(t, "site", origin.Tip("main"))
			d.again(t, "workloads")
		}
		r.created(t, c.name, c.chance)
		f.Applied(t, "site", origin.Tip("main"))
	}
	d.clear(t)
	r.forget(t)
	r.Apply(t, creator, kustomization("policy", "checkpoints/admission", ", serviceAccountName: creator"))
	r.result("folder of the policy, with the rights on its objects alone", refused(d.tried(t, "policy", origin.Tip("main"))))
	d.clear(t)
	r.limited(t, d, origin)

	d.clear(t)
	commit := origin.Push(t, "main", siteFiles("stage", 100), "add a site")
	r.Apply(t, kustomization("sites", "checkpoints", ""))
	r.result("two sites below one path", refused(d.tried(t, "sites", commit)))
}

// waved gives each object of the folders a sync wave.
func waved(t *testing.T, files map[string]string, wave string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for path, text := range files {
		if strings.HasPrefix(path, "checkpoints/") {
			var objects []string
			for manifest := range strings.SplitSeq(text, "---\n") {
				o := object(t, manifest)
				o.SetAnnotations(map[string]string{"argocd.argoproj.io/sync-wave": wave})
				manifest, err := yaml.Marshal(o.Object)
				must(t, err)
				objects = append(objects, string(manifest))
			}
			text = documents(objects...)
		}
		all[path] = text
	}
	return all
}

// Applications can use the account of the applier. The Applications of project limited do.
const impersonation = `apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data: {application.sync.impersonation.enabled: "true"}
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ['*']
  destinations: [{namespace: '*', server: '*'}]
  clusterResourceWhitelist: [{group: '*', kind: '*'}]
  destinationServiceAccounts: [{server: '*', namespace: '*', defaultServiceAccount: "argocd:argocd-application-controller"}]
---
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: limited, namespace: argocd}
spec:
  sourceRepos: ['*']
  destinations: [{namespace: '*', server: '*'}]
  clusterResourceWhitelist: [{group: '*', kind: '*'}]
  destinationServiceAccounts: [{server: '*', namespace: '*', defaultServiceAccount: "argocd:applier"}]
`

func folderByArgoCD(t *testing.T, r *rebuild) {
	files := fleet(t)
	r.first(t, files)
	argocd.Start(t, r.ControlPlane)
	r.Apply(t, impersonation)
	plain := gitserver.NewOrigin(t, t.TempDir(), files)
	const auto = "prune: true, selfHeal: true"
	app := func(name, path string, origin *gitserver.Origin, options ...string) string {
		return application(name, path, origin, "", sync(auto, options...))
	}
	limited := func(name, path string, retries int) string {
		spec := fmt.Sprintf("syncPolicy: {automated: {%s}, retry: {limit: %d, backoff: {duration: 1s, maxDuration: 1s}}}", auto, retries)
		return strings.Replace(application(name, path, plain, "", spec), "project: default", "project: limited", 1)
	}
	// An app of apps: the folders in wave -1, the workloads in wave 0.
	parent := gitserver.NewOrigin(t, t.TempDir(), map[string]string{
		"apps/folders.yaml":   application("folders", "checkpoints", plain, `, annotations: {argocd.argoproj.io/sync-wave: "-1"}`, sync(auto)),
		"apps/workloads.yaml": application("workloads", "workloads", plain, `, annotations: {argocd.argoproj.io/sync-wave: "0"}`, sync(auto)),
	})
	early := gitserver.NewOrigin(t, t.TempDir(), waved(t, files, "-1"))
	halves := map[string]string{}
	for i, team := range teams {
		halves[[]string{"a/", "b/"}[i%2]+team+".yaml"] = files["workloads/"+team+".yaml"]
	}
	half := gitserver.NewOrigin(t, t.TempDir(), halves)

	d := driver{
		limited: func(name, path string) string { return limited(name, path, -1) },
		tried:   r.synced,
		again:   func(t *testing.T, name string) { r.refresh(t) },
		clear: func(t *testing.T) {
			for _, name := range strings.Fields(r.Kubectl(t, "", "get", "applications.argoproj.io", "-n", "argocd", "-o", "jsonpath={.items[*].metadata.name}")) {
				r.watch(t, name, "rests", func(o anApplication) bool {
					state := o.Status.OperationState
					return strings.Contains(state.Message, "Retrying") || o.Operation == nil && state.Phase != "Running"
				})
			}
			// The parent of deleted Applications may create them again.
			eventually(t, "no Application exists", func(context.Context) error {
				r.Kubectl(t, "", "delete", "applications.argoproj.io", "-n", "argocd", "--all")
				if left := r.Kubectl(t, "", "get", "applications.argoproj.io", "-n", "argocd", "-o", "name"); left != "" {
					return errors.New(left)
				}
				return nil
			})
		},
	}
	r.Apply(t, app("a", "a", half), app("b", "b", half))
	r.created(t, "the folders before Argo CD is installed", false)
	// With its Application, selfHeal would begin while the namespace is being deleted, with a
	// sync that leaves the namespace out. It fails in each try, and then it stops.
	r.Kubectl(t, "", "delete", "applications.argoproj.io", "-n", "argocd", "a")
	r.recreated(t, func() { r.Apply(t, app("a", "a", half)) })

	for _, c := range []struct {
		name    string
		chance  bool
		objects []string
	}{
		{"one Application, the folders in wave -1", false, []string{app("all", ".", early)}},
		{"the same with ServerSideApply", false, []string{app("all", ".", early, "ServerSideApply=true")}},
		{"an app of apps, the folders in wave -1", true, []string{app("parent", "apps", parent)}},
		{"two Applications at once", true, []string{app("folders", "checkpoints", plain), app("workloads", "workloads", plain)}},
		{"one Application without waves", false, []string{app("all", ".", plain)}},
	} {
		d.clear(t)
		r.forget(t)
		r.Apply(t, c.objects...)
		r.created(t, c.name, c.chance)
	}
	d.clear(t)
	r.forget(t)
	r.limited(t, d, plain)

	d.clear(t)
	r.forget(t)
	r.Apply(t, r.applier(), limited("site", prod, 1))
	r.watch(t, "site", "has failed", func(o anApplication) bool { return o.Status.OperationState.Phase == "Failed" })
	r.bootstrap(t, files, "checkpoints/admission")
	d.again(t, "site")
	r.watch(t, "site", "is not tried again", func(o anApplication) bool {
		_, requested := o.Metadata.Annotations["argocd.argoproj.io/refresh"]
		return !requested && slices.ContainsFunc(o.Status.Conditions, func(c condition) bool { return c.Type == "SyncError" })
	})
	commit := plain.Push(t, "main", map[string]string{prod + "/README": "new"}, "add a file")
	d.again(t, "site")
	r.result("folder of the site, retry.limit over before the policy", "not tried again for the same commit; next commit: "+refused(d.tried(t, "site", commit)))

	d.clear(t)
	commit = plain.Push(t, "main", siteFiles("stage", 100), "add a site")
	r.Apply(t, app("sites", "checkpoints", plain))
	err := d.tried(t, "sites", commit)
	r.watch(t, "sites", "warns", func(o anApplication) bool {
		return slices.ContainsFunc(o.Status.Conditions, func(c condition) bool { return c.Type == "RepeatedResourceWarning" })
	})
	r.result("two sites below one recursive path", refused(err)+" with a RepeatedResourceWarning: "+r.site(t))
}
