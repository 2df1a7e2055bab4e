package doctor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var web = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}

// imaging returns a cluster with a policy that restores images on creation from
// checkpoint files. Each pair of edits is a text in the policy and its replacement.
func imaging(t *testing.T, edits ...string) doctor.Cluster {
	t.Helper()
	c := doctor.Cluster{Minor: 37}
	for kind, text := range map[string]string{
		"MutatingAdmissionPolicy": `{"metadata": {"name": "images"}, "spec": {"failurePolicy": "Ignore", "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]},
"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{spec: Object.spec{template: {image: ''}}}"}}]}}`,
		"MutatingAdmissionPolicyBinding": `{"metadata": {"name": "images"}, "spec": {"policyName": "images", "paramRef": {"name": "gitlatch-checkpoint", "parameterNotFoundAction": "Allow"}}}`,
	} {
		if err := c.Add(kind, []byte(strings.NewReplacer(edits...).Replace(text))); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestARolloutSaysWhichTemplateReturns(t *testing.T) {
	t.Parallel()
	from, to := checkpoint.Template{Hash: "1", Images: "main=app:1"}, checkpoint.Template{Hash: "2", Images: "main=app:2"}
	early := checkpoint.Rollout{Milestone: 25, From: from, To: to, Returns: checkpoint.SideFrom, ImagesOnly: true}
	const unaided = "; no policy restores it, so a rebuild creates git's template"
	for name, c := range map[string]struct {
		rollout checkpoint.Rollout
		cluster doctor.Cluster
		want    string
	}{
		"none": {checkpoint.Rollout{}, imaging(t), ""},
		"before the cut": {early, imaging(t),
			"the template before, at milestone 25 %: main=app:1"},
		"after it": {checkpoint.Rollout{Milestone: 75, From: from, To: to, Returns: checkpoint.SideTo}, doctor.Cluster{},
			"the new template, at milestone 75 %: main=app:2"},
		"without a policy":      {early, doctor.Cluster{}, "the template before, at milestone 25 %: main=app:1" + unaided},
		"of other workloads":    {early, imaging(t, `["deployments"]`, `["statefulsets"]`), "the template before, at milestone 25 %: main=app:1" + unaided},
		"on more than creation": {early, imaging(t, `["CREATE"]`, `["CREATE", "UPDATE"]`), "the template before, at milestone 25 %: main=app:1" + unaided},
		"of something else":     {early, imaging(t, `image: ''`, `spec: {}`), "the template before, at milestone 25 %: main=app:1" + unaided},
		"more than the images":  {checkpoint.Rollout{From: from, To: to, Returns: checkpoint.SideFrom}, imaging(t), "the template before, at milestone 0 %: main=app:1" + unaided},
		"images unknown":        {checkpoint.Rollout{Milestone: 50, From: checkpoint.Template{Hash: "1"}, To: checkpoint.Template{Hash: "2"}, Returns: checkpoint.SideTo}, doctor.Cluster{}, "the new template, at milestone 50 %"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := checkpoint.Tree{Records: map[string]checkpoint.Record{"shop": {Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{web: {Rollout: c.rollout}}}}}
			applied := []doctor.Overlay{{Overlay: gitops.Overlay{Dir: "records", Records: []string{"shop"},
				Admission: []string{"MutatingAdmissionPolicy images", "MutatingAdmissionPolicyBinding images"}}}}
			r := doctor.Examine(doctor.Case{Site: "prod", Tree: tree, Cluster: c.cluster, Overlays: applied})
			if len(r.Workloads) != 1 || r.Workloads[0].Returns != c.want || r.Workloads[0].Inert.Line() != "" || len(r.Findings) > 0 {
				t.Errorf("got %+v, want %q, and no findings: %+v", r.Workloads, c.want, r.Findings)
			}
		})
	}
}

// A Rollout of Argo Rollouts that is created paused still gets its first pods.
func TestADeploymentAloneHasNoPodsWherePaused(t *testing.T) {
	t.Parallel()
	for kind, want := range map[workload.Kind]bool{workload.Deployment: true, workload.ArgoRollout: false} {
		id := workload.ID{Namespace: "shop", Kind: kind, Name: "web"}
		three := int32(3)
		r := doctor.Examine(doctor.Case{Site: "prod",
			Tree:     checkpoint.Tree{Records: map[string]checkpoint.Record{"shop": {Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{id: {Replicas: 3}}}}},
			Overlays: []doctor.Overlay{{Overlay: gitops.Overlay{Dir: "apps", Workloads: []gitops.Object{{ID: id, Replicas: &three, Paused: true}}}}},
		})
		found := slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return f.Trap == doctor.Paused })
		if w := r.Workloads[0]; found != want || w.Paused != want || (w.Start == 0) != want {
			t.Errorf("%s: %s", kind, tell(r))
		}
	}
}

// An entry of a DaemonSet has a rollout but no level that could act.
func TestADaemonSetNeedsNothingThatKeepsItInert(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"    target: {group: apps, kind: Deployment}", "    target: {group: apps}"} {
		f := read(t, "flux")
		f["cluster.yaml"] = edited(t, f["cluster.yaml"], "-    target: {group: apps, kind: Deployment}\n+"+rule+"\n")
		f["repo/apps/shop/web.yaml"] += "---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: shop}\nspec: {selector: {}}\n"
		c := f.read(t)
		agent := workload.ID{Namespace: "shop", Kind: workload.DaemonSet, Name: "agent"}
		c.Tree.Records["shop"].Entries[agent] = checkpoint.Entry{Rollout: checkpoint.Rollout{From: checkpoint.Template{Hash: "1"}, To: checkpoint.Template{Hash: "2"}, Returns: checkpoint.SideTo}}
		c.Fleet.Samples = append(c.Fleet.Samples, workload.Sample{ID: agent})
		r := doctor.Examine(c)
		if len(r.Findings) > 0 || len(r.Workloads) != 2 || r.Workloads[0].Inert.Line() != "" {
			t.Errorf("%s: %s", rule, tell(r))
		}
	}
}

func TestWhatIsUnreadIsNotJudged(t *testing.T) {
	t.Parallel()
	f := read(t, "flux")
	f["unread Kustomization"] = "forbidden: no\n"
	r := f.examine(t)
	for _, one := range r.Findings {
		if one.Trap == doctor.NoApplier {
			t.Errorf("found %+v, while what applies it could not be read", one)
		}
	}
	if len(r.Unread) != 1 || r.Unread[0].String() != "kustomizations.kustomize.toolkit.fluxcd.io: forbidden: no" {
		t.Errorf("unread %q", r.Unread)
	}
}

// The list leaves out a file that is not YAML, so no build reports it.
func TestABrokenCheckpointFileIsUnread(t *testing.T) {
	t.Parallel()
	f := read(t, "admission")
	f["repo/checkpoints/prod/pay/checkpoint.yaml"] = "data: [\n"
	if r := f.examine(t); len(r.Unread) != 1 || !strings.HasPrefix(r.Unread[0].String(), "checkpoints/prod/pay/checkpoint.yaml:1: is not YAML") {
		t.Errorf("unread %q", r.Unread)
	}
}

func TestAFolderOfAnotherRepositoryIsPassedOver(t *testing.T) {
	t.Parallel()
	f := read(t, "flux")
	f["cluster.yaml"] += "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: infra, namespace: flux-system}\nspec: {path: ./infra}\n"
	if r := f.examine(t); tell(r) != f["want"] {
		t.Errorf("got\n%s\nwant\n%s", tell(r), f["want"])
	}
}

func TestWhatAToolSaysItAppliedIsItsOwn(t *testing.T) {
	t.Parallel()
	f := read(t, "flux") // another repository builds it, but it is in the inventory
	f["cluster.yaml"] = edited(t, f["cluster.yaml"], "-  path: ./clusters/prod/shop\n+  path: ./elsewhere\n-  sourceRef: {kind: GitRepository, name: fleet}\n+  sourceRef: {kind: GitRepository, name: other}\n") +
		"---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop, namespace: argocd}\nspec: {source: {chart: web, helm: {}}}\nstatus: {resources: [{group: apps, kind: Deployment, namespace: shop, name: web}]}\n"
	r := f.examine(t)
	if len(r.Workloads) != 1 || r.Workloads[0].Inert.Line() != "" || r.Findings[0].Trap != doctor.NoRule {
		t.Errorf("%s", tell(r))
	}
	const sources = "sources: [{repoURL: 'https://charts.example.com', chart: web, helm: {}}, {repoURL: 'git@git.example.com:platform/fleet', targetRevision: main, ref: values}]"
	f["cluster.yaml"] = edited(t, f["cluster.yaml"], "-spec: {source: {chart: web, helm: {}}}\n+spec: {destination: {name: in-cluster}, "+sources+", ignoreDifferences: [{group: '*', kind: Deployment, jqPathExpressions: [.spec.replicas]}], syncPolicy: {syncOptions: [RespectIgnoreDifferences=true, ApplyOutOfSyncOnly=true]}}\n"+
		"-status: {resources: [{group: apps, kind: Deployment, namespace: shop, name: web}]}\n+status: {sync: {status: Synced}, resources: [{group: apps, kind: Deployment, namespace: shop, name: web}]}\n")
	if r = f.examine(t); r.Workloads[0].Inert.Line() != "argocd: Application argocd/shop ignores /spec/replicas" {
		t.Errorf("%s", tell(r))
	}
}

func TestTheRootIsBuiltByItsKustomization(t *testing.T) {
	t.Parallel()
	f := read(t, "flux")
	for _, spec := range []string{"path: ./", "path: ''", "path: ./../outside"} {
		f["cluster.yaml"] = strings.Replace(read(t, "flux")["cluster.yaml"], "path: ./clusters/prod/shop", spec, 1)
		r := f.examine(t)
		if len(r.Findings) != 2 || r.Findings[1].Trap != doctor.ComponentMissing {
			t.Errorf("%s: %s", spec, tell(r))
		}
	}
	f["repo/kustomization.yaml"] = "resources: [clusters/prod/shop]\n"
	f["cluster.yaml"] = strings.Replace(read(t, "flux")["cluster.yaml"], "path: ./clusters/prod/shop", "path: ./", 1)
	if got, want := tell(f.examine(t)), strings.ReplaceAll(f["want"], `"clusters/prod/shop"`, `"."`); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
