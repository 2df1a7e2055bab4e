package doctor_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const application = "kind: Application\nmetadata: {name: shop, namespace: argocd}\nspec: {syncPolicy: {automated: {selfHeal: true}}}\nstatus: {sync: {status: Synced}, operationState: {phase: Succeeded}}\n"

// argo makes one Application apply the workload and the levels, the levels in an earlier wave.
// managers own the fields of the workload, and annotations are added to it.
func argo(annotations string, managers ...string) func(*world) {
	return func(w *world) {
		w.labels, w.wave = map[string]string{"application": "shop"}, "-1"
		w.objects = map[string]string{"shop": application, "node": w.objects["node"],
			"web": deployment(`annotations: {argocd.argoproj.io/tracking-id: "shop:apps/Deployment:shop/web"`+annotations+"}", "", managers...)}
	}
}

// parent makes an app of apps apply the Application shop, and the Application levels in an
// earlier wave.
func parent(w *world) {
	argo("", nobody)(w)
	child := func(name, wave string) string {
		named := strings.Replace(application, "name: shop", "name: "+name, 1)
		return strings.Replace(named, "namespace: argocd", fmt.Sprintf("namespace: argocd, annotations: {argocd.argoproj.io/tracking-id: %q, argocd.argoproj.io/sync-wave: %q}",
			"parent:argoproj.io/Application:argocd/"+name, wave), 1)
	}
	w.labels, w.wave = map[string]string{"application": "levels"}, ""
	w.objects["shop"], w.objects["levels"] = child("shop", "0"), child("levels", "-1")
	w.objects["parent"] = strings.Replace(application, "name: shop", "name: parent", 1)
}

// Each case changes one fact of a world in which everything is observed. The want has the
// basis of the start, the start with and without gitlatch, and the findings.
func TestEachQuestionHasItsAnswer(t *testing.T) {
	t.Parallel()
	argoUpdate := strings.Replace(updated, "kubectl-client-side-apply", "argocd-controller", 1)
	for name, c := range map[string]struct {
		make func(*world)
		want string
	}{
		"everything is observed": {func(*world) {}, "observed 50, without 1: "},

		// Does anything apply the folders?
		"the cluster lacks the levels":   {func(w *world) { w.change = lacking("shop") }, "observed 1, without 1: not-applied"},
		"the cluster has an older level": {func(w *world) { w.data["deployment.web"] = "20" }, "unknown 1 to 50, without 1: not-applied"},
		"git has had the level for an hour": {func(w *world) {
			w.data["deployment.web"] = "20"
			w.change = changed(time.Hour)
		}, "observed 50, without 1: "},
		"git has had the level for three hours": {func(w *world) {
			w.data["deployment.web"] = "20"
			w.change = changed(3 * time.Hour)
		}, "unknown 1 to 50, without 1: not-applied"},
		"kubectl applied an older level":       {func(w *world) { w.data["deployment.web"], w.labels = "20", nil }, "observed 1, without 1: not-applied order-unknown"},
		"kubectl applied the level":            {func(w *world) { w.labels = nil; w.first() }, "stated 50, without 1: "},
		"the levels' Kustomization is stopped": {func(w *world) { w.objects["levels"] = kustomization("levels", "suspend: true", "True") }, "unknown 1 to 50, without 1: owner-suspended"},
		"another site's levels":                {func(w *world) { w.site = "staging" }, "observed 1, without 1: other-site"},
		"levels that may not be read":          {func(w *world) { w.change = blind }, "unknown 1 to 50, without 1: missing-rights not-read order-unknown"},

		// Is the policy the one in git?
		"another policy": {func(w *world) { w.change = policyOf(admission.Policy{Images: true}) }, "observed 1, without 1: policy-differs"},
		"no file in git": {func(w *world) { w.change = func(c *doctor.Case) { c.Admission = nil } }, "unknown 1 to 50, without 1: policy-differs"},
		"no binding": {func(w *world) {
			w.change = func(c *doctor.Case) { c.Cluster.Levels.Bindings = admission.Observed([]map[string]any{}) }
		}, "observed 1, without 1: policy-differs"},
		"Kubernetes 1.35": {func(w *world) { w.minor = 35 }, "observed 1, without 1: kubernetes-too-old"},

		// Does the folder come before the workloads?
		"no order":                             {func(w *world) { w.objects["apps"] = kustomization("apps", "", "True") }, "unknown 1 to 50, without 1: order-unknown"},
		"a user states it":                     {func(w *world) { w.objects["apps"] = kustomization("apps", "", "True"); w.first() }, "stated 50, without 1: "},
		"another dependency":                   {func(w *world) { w.objects["apps"] = kustomization("apps", "dependsOn: [{name: other}]", "True") }, "unknown 1 to 50, without 1: order-unknown"},
		"nothing shows who applies the policy": {func(w *world) { w.handmade = true }, "unknown 1 to 50, without 1: order-unknown"},
		"a parent of the levels": {func(w *world) {
			w.objects["apps"] = kustomization("apps", "dependsOn: [{name: infra}]", "True")
			w.objects["infra"] = kustomization("infra", "", "True")
			w.objects["levels"] = strings.Replace(kustomization("levels", "", "True"), "namespace: flux-system}", "namespace: flux-system, labels: {kustomize.toolkit.fluxcd.io/name: infra, kustomize.toolkit.fluxcd.io/namespace: flux-system}}", 1)
		}, "unknown 1 to 50, without 1: order-unknown"},
		"an indirect one":     {func(w *world) { w.indirect() }, "observed 50, without 1: "},
		"Argo CD, with waves": {argo("", nobody), "observed 50, without 1: "},
		"an app of apps":      {parent, "unknown 1 to 50, without 1: order-unknown"},
		"its levels are direct": {func(w *world) {
			parent(w)
			w.labels, w.wave = map[string]string{"application": "parent"}, "-1"
		}, "observed 50, without 1: "},
		"Argo CD, one wave": {func(w *world) { argo("", nobody)(w); w.wave = "" }, "unknown 1 to 50, without 1: order-unknown"},

		// Would a rebuild create the workload?
		"its Kustomization is gone": {func(w *world) { delete(w.objects, "apps"); w.first() }, "unknown 0 to 50, without 0 to 1: owner-missing"},
		"its Kustomization is stopped": {func(w *world) {
			w.objects["apps"] = kustomization("apps", "suspend: true, dependsOn: [{name: levels}]", "True")
		}, "unknown 0 to 50, without 0 to 1: owner-suspended"},
		"its Kustomization is broken": {func(w *world) { w.objects["apps"] = kustomization("apps", "dependsOn: [{name: levels}]", "False") }, "unknown 0 to 50, without 0 to 1: owner-not-ready"},
		"a user syncs it": {func(w *world) {
			argo("", nobody)(w)
			w.objects["shop"] = strings.Replace(application, "automated: {selfHeal: true}", "", 1)
		}, "unknown 0 to 50, without 0 to 1: owner-syncs-manually"},
		"automated is off": {func(w *world) {
			argo("", nobody)(w)
			w.objects["shop"] = strings.Replace(application, "selfHeal: true", "enabled: false", 1)
		}, "unknown 0 to 50, without 0 to 1: owner-syncs-manually"},
		"its sync fails": {func(w *world) {
			argo("", nobody)(w)
			w.objects["shop"] = strings.Replace(application, "Succeeded", "Failed", 1)
		}, "unknown 0 to 50, without 0 to 1: owner-not-ready"},
		"nobody applies it": {func(w *world) { w.objects["web"] = deployment("labels: {}", "", nobody); w.first() }, "unknown 0 to 50, without 0 to 1: no-owner"},
		"a pipeline runs helm": {func(w *world) {
			w.objects["web"] = deployment("annotations: {meta.helm.sh/release-name: web}", "", nobody)
			w.first()
		}, "unknown 0 to 50, without 0 to 1: no-owner"},
		"a copied tracking annotation": {func(w *world) {
			argo("", nobody)(w)
			w.objects["web"] = strings.Replace(w.objects["web"], "shop/web", "shop/old", 1)
			w.first()
		}, "unknown 0 to 50, without 0 to 1: no-owner"},
		"a controller creates it": {func(w *world) {
			w.objects["web"] = deployment("ownerReferences: [{controller: true, kind: Site, name: web, apiVersion: example.com/v1, uid: u}], "+fluxOwned, "", nobody)
		}, "unknown 0 to 50, without 0 to 1: no-owner"},
		"Kustomizations may not be read": {func(w *world) { w.forbidden = []string{"kustomizations"} }, "unknown 0 to 50, without 0 to 1: missing-rights not-read order-unknown"},
		"git has it no longer, for Flux": {func(w *world) {
			w.objects["apps"] = strings.Replace(w.objects["apps"], "status: {", "status: {inventory: {entries: [{id: shop_api_apps_Deployment, v: v1}]}, ", 1)
		}, "unknown 0 to 50, without 0 to 1: owner-missing"},
		"git has it, for Flux": {func(w *world) {
			w.objects["apps"] = strings.Replace(w.objects["apps"], "status: {", "status: {inventory: {entries: [{id: shop_web_apps_Deployment, v: v1}]}, ", 1)
		}, "observed 50, without 1: "},
		"git has it no longer, for Argo CD": {func(w *world) {
			argo("", nobody)(w)
			w.objects["shop"] = strings.Replace(application, "status: {", "status: {resources: [{group: apps, kind: Deployment, namespace: shop, name: web, requiresPruning: true}, {kind: ConfigMap, namespace: gitlatch-levels, name: shop}, {group: admissionregistration.k8s.io, kind: MutatingAdmissionPolicy, name: gitlatch-levels}], ", 1)
		}, "unknown 0 to 50, without 0 to 1: owner-missing"},
		"it is paused":   {func(w *world) { w.objects["web"] = deployment(fluxOwned, ", paused: true", nobody) }, "unknown 0 to 50, without 0 to 1: paused"},
		"it is not live": {func(w *world) { delete(w.objects, "web") }, "unknown 0 to 50, without 0 to 50: order-unknown manifest-unknown"},

		// Does a tool reset the replicas later? Does the manifest state 0?
		"Flux states a count": {func(w *world) { w.objects["web"] = deployment(fluxOwned, "", fluxStates) }, "observed 42, without 42: replicas-reset"},
		"Flux states the level, or less": {func(w *world) {
			w.objects["web"] = deployment("annotations: {gitlatch.dev/floor: \"42\"}, "+fluxOwned, "", fluxStates)
		}, "unknown 1 to 50, without 1 to 50: replicas-reset"},
		"Flux may ignore it": {func(w *world) {
			w.objects["web"], w.objects["apps"] = deployment(fluxOwned, "", fluxStates), kustomization("apps", "ignore: [{paths: [/spec/replicas]}], dependsOn: [{name: levels}]", "True")
		}, "unknown 42 to 50, without 42: manifest-unknown"},
		"a count that was scaled since":    {func(w *world) { w.objects["web"] = deployment(fluxOwned, "", nobody, scaled) }, "unknown 0 to 50, without 0 to 50: manifest-unknown"},
		"Argo CD client-side omits it":     {argo(", "+noted(`{"selector": {}}`), argoUpdate), "observed 50, without 1: "},
		"Argo CD client-side, scaled":      {argo(", "+noted(`{"selector": {}}`), scaled), "observed 50, without 1: "},
		"Argo CD client-side states 3":     {argo(", "+noted(`{"replicas": 3}`), argoUpdate), "observed 3, without 3: replicas-reset"},
		"Argo CD client-side states 60":    {argo(", "+noted(`{"replicas": 60}`), argoUpdate), "observed 60, without 60: replicas-reset"},
		"Argo CD client-side states 0":     {argo(", "+noted(`{"replicas": 0}`), scaled), "observed 0, without 0: manifest-states-zero replicas-reset"},
		"no annotation shows the manifest": {argo("", argoUpdate), "unknown 0 to 50, without 0 to 50: manifest-unknown"},
		"Argo CD respects its ignore rules": {func(w *world) {
			argo(", "+noted(`{"replicas": 42}`), argoUpdate)(w)
			w.objects["shop"] = strings.Replace(application, "syncPolicy: {", "syncPolicy: {syncOptions: [RespectIgnoreDifferences=true], ", 1)
		}, "unknown 0 to 50, without 0 to 50: manifest-unknown"},
		"a tool changed from client-side to server-side": {func(w *world) {
			w.objects["web"] = deployment("annotations: {"+noted(`{"selector": {}}`)+"}, "+fluxOwned, "", nobody, scaled)
		}, "unknown 0 to 50, without 0 to 50: manifest-unknown"},
		"Helm adopted it": {func(w *world) {
			w.objects["web"] = deployment("annotations: {meta.helm.sh/release-name: web, "+noted(`{"selector": {}}`)+"}, "+fluxOwned, "", scaled)
		}, "unknown 0 to 50, without 0 to 50: manifest-unknown"},
		"a level below the live count": {func(w *world) {
			w.data["deployment.web"] = "20"
			w.objects["web"] = deployment(fluxOwned, "", nobody, scaled)
			w.change = func(c *doctor.Case) { c.Tree.Records["shop"].Entries[web] = checkpoint.Entry{Replicas: 20} }
		}, "unknown 0 to 42, without 0 to 42: manifest-unknown"},
		"without managed fields": {func(w *world) { w.objects["web"] = deployment(fluxOwned, "") }, "unknown 0 to 50, without 0 to 50: manifest-unknown"},
		"a maximum in git below the desired": {func(w *world) {
			w.change = func(c *doctor.Case) { c.Tree.Records["shop"].Entries[web] = checkpoint.Entry{Replicas: 50, Max: 40} }
		}, "observed 50, without 1: max-under-need"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			c.make(w)
			r := doctor.Examine(w.read(t))
			if got := told(r); got != c.want {
				t.Errorf("got  %s\nwant %s\n%+v", got, c.want, r.Findings)
			}
			if r.Clean() != (len(r.Findings) == 0) {
				t.Errorf("clean: %v, unread %q, fit %+v", r.Clean(), r.Unread, r.Fit)
			}
		})
	}
}

// first states in the policy that the levels come first.
func (w *world) first() {
	change := w.change
	w.change = func(c *doctor.Case) {
		change(c)
		c.Set.First = true
	}
}

// indirect makes apps depend on levels through another Kustomization.
func (w *world) indirect() {
	w.objects["apps"] = kustomization("apps", "dependsOn: [{name: infra}]", "True")
	w.objects["infra"] = kustomization("infra", "dependsOn: [{name: levels, namespace: flux-system}]", "True")
}

// changed makes git have the level since a time.
func changed(ago time.Duration) func(*doctor.Case) {
	return func(c *doctor.Case) {
		c.Fleet.At = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
		c.Changed = map[workload.ID]time.Time{web: c.Fleet.At.Add(-ago)}
	}
}

// lacking removes a ConfigMap from the cluster.
func lacking(name string) func(*doctor.Case) {
	return func(c *doctor.Case) {
		all, _ := c.Cluster.Levels.ConfigMaps.Value()
		var kept []admission.ConfigMap
		for _, one := range all {
			if one.Name != name {
				kept = append(kept, one)
			}
		}
		c.Cluster.Levels.ConfigMaps = admission.Observed(kept)
		c.Set.First = true
	}
}

func blind(c *doctor.Case) {
	c.Cluster.Levels.ConfigMaps = admission.Unread[[]admission.ConfigMap]("configmaps could not be read: forbidden: no")
}

// policyOf replaces the file in git.
func policyOf(p admission.Policy) func(*doctor.Case) {
	return func(c *doctor.Case) {
		file, err := p.Format()
		if err != nil {
			panic(err)
		}
		c.Admission = file
	}
}

// If nothing shows the manifest, the reset and the zero are both unknown.
func TestAnUnknownManifestAnswersNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.objects["web"] = deployment(fluxOwned, "", nobody, scaled)
	a := doctor.Examine(w.read(t)).Workloads[0].Answers
	for name, one := range map[string]doctor.Answer{"kept": a.Kept, "positive": a.Positive} {
		if one.Yes() || one.No() || one.Basis() != doctor.Unknown {
			t.Errorf("%s: %+v", name, one)
		}
	}
}

// The zero value of an answer is not yes, and it is not no.
func TestTheZeroAnswerIsUnknown(t *testing.T) {
	t.Parallel()
	var a doctor.Answer
	text, err := json.Marshal(a)
	if a.Yes() || a.No() || err != nil || !strings.Contains(string(text), `"basis":"unknown","value":null`) {
		t.Errorf("%s, %v", text, err)
	}
	if s := (doctor.Start{}); s.Basis != doctor.Unknown {
		t.Errorf("%+v", s)
	}
}

// In another cluster than the site's, the marks show which workloads were created with their
// level.
func TestTheMarksOfARebuild(t *testing.T) {
	t.Parallel()
	for mark, want := range map[string]string{
		"50": "observed 50, without 1: other-cluster; 1 of 1 workload was created with its level",
		"":   `observed 1, without 1: other-cluster created-too-early; 0 of 1 workload was created with its level; run "gitlatch restore"`,
	} {
		w := newWorld()
		w.change = func(c *doctor.Case) {
			c.Fleet.Cluster = "green"
			c.Fleet.Samples[0].Mark = mark
			c.Set.First = true // the marks are better than the statement
		}
		r := doctor.Examine(w.read(t))
		if r.Marks == nil {
			t.Fatalf("%s: no marks", told(r))
		}
		if got := told(r) + "; " + r.Marks.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// A missing right is one finding with all of them, and with the manifest that grants them.
func TestMissingRightsAreOneFinding(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.forbidden = []string{"kustomizations", "applications", "resourcequotas"}
	w.change = func(c *doctor.Case) {
		blind(c)
		c.Fleet.Unread = []workload.Unread{{Part: "horizontalpodautoscalers", Why: "forbidden: no"}, {Part: "daemonsets", Why: "unreachable"}}
	}
	r := doctor.Examine(w.read(t))
	f := r.Findings[0]
	if f.Trap != doctor.MissingRights || strings.Join(f.Subjects, " ") != "kustomizations.kustomize.toolkit.fluxcd.io applications.argoproj.io resourcequotas horizontalpodautoscalers.autoscaling configmaps" {
		t.Errorf("%+v", f)
	}
	for _, part := range []string{"kind: ClusterRole\n", `{apiGroups: ["autoscaling"], resources: [horizontalpodautoscalers], verbs: [get, list]}`, "kind: Role\nmetadata: {name: gitlatch-doctor-configmaps, namespace: gitlatch-levels}", `name: "gitlatch:people"`} {
		if !strings.Contains(f.Manifest, part) {
			t.Errorf("the manifest lacks %s:\n%s", part, f.Manifest)
		}
	}
	var table strings.Builder
	if err := r.Table(&table, term.Style{}); err != nil || strings.Count(table.String(), "\ncould not be read: ") != 1 || !strings.Contains(table.String(), "could not be read: daemonsets: unreachable") || !strings.Contains(table.String(), "\n- {apiGroups: [\"autoscaling\"]") || r.Clean() || len(r.Unread) != 5 {
		t.Errorf("%v, unread %+v\n%s", err, r.Unread, table.String())
	}
}

// Equal findings about several workloads are one.
func TestEqualFindingsAreOne(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.objects["apps"] = kustomization("apps", "", "True")
	w.objects["api"] = strings.Replace(w.objects["web"], "name: web", "name: api", 1)
	w.data["deployment.api"] = "20"
	w.change = func(c *doctor.Case) {
		c.Tree.Records["shop"].Entries[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "api"}] = checkpoint.Entry{Replicas: 20}
	}
	r := doctor.Examine(w.read(t))
	if len(r.Findings) != 1 || strings.Join(r.Findings[0].Subjects, " ") != "shop/deployment/api shop/deployment/web" {
		t.Errorf("%+v", r.Findings)
	}
}
