package doctor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
)

// Each case differs from a good fixture in one edit. It states the rule that still
// protects web, the replicas of web in a rebuild, and the traps.
func TestOneEditAway(t *testing.T) {
	t.Parallel()
	const (
		policy = "admission: MutatingAdmissionPolicy set-replicas acts on creation alone"
		flux   = "flux: Kustomization flux-system/shop ignores /spec/replicas"
		argo   = "argocd: Application argocd/shop ignores /spec/replicas"

		bound     = "-    namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [shop]}]}\n+    "
		constrain = "-  matchConstraints:\n+  matchConstraints:\n+    "
		ref       = "-  paramRef: {name: gitlatch-checkpoint, parameterNotFoundAction: Allow}\n+  paramRef: "
		rules     = "-    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments, statefulsets]}\n+    - "
		fluxRule  = "-spec: {path: ./apps/shop}\n+spec: {path: ./apps/shop, sourceRef: {kind: GitRepository, name: fleet}, ignore: [{paths: [/spec/replicas]}]}\n+status: {observedGeneration: 1, conditions: [{type: Ready, status: \"True\"}]}\n+---\n+" + fleetSource
		states    = "-spec: {selector: {}}\n+spec: {selector: {}, replicas: "
		owned     = "shop/deployment/web 180 3 500 kustomize-controller\n"
	)
	lost := []doctor.Trap{doctor.NoRule, doctor.ComponentMissing}
	for name, c := range map[string]struct {
		base, file, edit string // of a file in the base
		more             fixture
		inert            string
		start            int32
		traps            []doctor.Trap
	}{
		"bound to other namespaces": {"admission", "cluster.yaml", bound + "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: pay}}\n", nil, "", 1, lost},
		"bound to other objects":    {"admission", "cluster.yaml", bound + "objectSelector: {matchLabels: {tier: web}}\n", nil, "", 1, lost},
		"bound to other resources":  {"admission", "cluster.yaml", bound + "resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [statefulsets]}]\n", nil, "", 1, lost},
		"bound to its resource":     {"admission", "cluster.yaml", bound + "resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: ['*'], resources: [deployments]}]\n", nil, policy, 200, nil},
		"of other namespaces":       {"admission", "cluster.yaml", constrain + "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: pay}}\n", nil, "", 1, lost},
		"of other objects":          {"admission", "cluster.yaml", constrain + "objectSelector: {matchLabels: {tier: web}}\n", nil, "", 1, lost},
		"of other names":            {"admission", "cluster.yaml", rules + "{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments], resourceNames: [api]}\n", nil, "", 1, lost},
		"of its name":               {"admission", "cluster.yaml", rules + "{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments], resourceNames: [web]}\n", nil, policy, 200, nil},
		"with another parameter":    {"admission", "cluster.yaml", ref + "{name: other, parameterNotFoundAction: Allow}\n", nil, "", 1, lost},
		"with one parameter for all": {"admission", "cluster.yaml", ref + "{name: gitlatch-checkpoint, namespace: gitlatch, parameterNotFoundAction: Allow}\n", nil,
			"", 1, lost},
		"by a JSON patch": {"admission", "cluster.yaml", "-  - patchType: ApplyConfiguration\n+  - patchType: JSONPatch\n" +
			"-    applyConfiguration: {expression: \"Object{spec: Object.spec{replicas: int(params.data['deployment.' + object.metadata.name])}}\"}\n+    jsonPatch: {expression: \"[JSONPatch{op: 'add', path: '/spec/replicas'}]\"}\n", nil, policy, 200, nil},
		"by labels of the namespace": {"admission", "cluster.yaml", bound + "namespaceSelector: {matchLabels: {team: a}}\n+---\n+apiVersion: v1\n+kind: Namespace\n+metadata: {name: shop, labels: {team: a}}\n", nil, policy, 200, nil},
		"nothing declared yet":       {"admission", "cluster.yaml", "-spec: {path: ./checkpoints/prod}\n+spec: {path: ./elsewhere}\n", fixture{"declared": ""}, policy, 1, nil},
		"a count, and a rule":        {"admission", "cluster.yaml", fluxRule, fixture{"edit repo/apps/shop/web.yaml": states + "300}\n"}, policy, 300, nil},
		"a Component beside the policy": {"admission", "repo/apps/shop/kustomization.yaml", "-resources: [web.yaml]\n+resources: [web.yaml]\n+components: [../../checkpoints/prod/shop]\n", nil,
			"", 200, []doctor.Trap{doctor.NoRule}},
		"a Component in place of the record": {"admission", "repo/apps/shop/kustomization.yaml", "-resources: [web.yaml]\n+resources: [web.yaml]\n+components: [../../checkpoints/prod/shop]\n",
			fixture{"edit cluster.yaml": fluxRule, "repo/checkpoints/prod/kustomization.yaml": "# gitlatch writes this file\nresources: []\n"}, flux, 200, nil},
		"the record of another namespace": {"admission", "repo/checkpoints/prod/kustomization.yaml", "-resources: [shop/checkpoint.yaml]\n+resources: [pay/checkpoint.yaml]\n",
			fixture{"declared": "shop/deployment/web 200 3 500\npay/deployment/api 5 1 9\n"}, policy, 1, []doctor.Trap{doctor.ComponentMissing, doctor.RecordNotApplied}},
		"a namespace that the list leaves out": {"admission", "", "", fixture{"declared": "shop/deployment/web 200 3 500\nold/deployment/api 5 1 9\n"}, policy, 200, nil},
		"two that keep it": {"flux", "", "", fixture{"cluster.yaml": read(t, "flux")["cluster.yaml"] + "---\n" + strings.ReplaceAll(read(t, "argocd")["cluster.yaml"], "path: clusters", "path: ./clusters")},
			flux + "; " + argo, 200, nil},
		"its base built as well":         {"flux", "", "", fixture{"paths": "apps/shop", "live": owned}, flux, 200, nil},
		"a count that another applies":   {"component-missing", "", "", fixture{"live": "shop/deployment/web 180 3 500 somebody\n"}, flux, 1, []doctor.Trap{doctor.ComponentMissing}},
		"a count that Flux applied once": {"argocd", "", "", fixture{"live": owned, "edit repo/clusters/prod/shop/kustomization.yaml": "-components: [../../../checkpoints/prod/shop]\n"}, argo, 1, []doctor.Trap{doctor.ComponentMissing}},
		"a kind that is renamed to its name": {"flux", "repo/apps/shop/kustomization.yaml", "-resources: [web.yaml]\n+resources: [web.yaml]\n+namePrefix: blue-\n",
			fixture{"repo/apps/shop/web.yaml": "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 200}\n"}, "", 0, []doctor.Trap{doctor.NoApplier, doctor.PatchSkipped}},
		"a namespace with one renamed to its name": {"flux", "repo/apps/shop/kustomization.yaml", "-resources: [web.yaml]\n+resources: [web.yaml]\n+namePrefix: blue-\n",
			fixture{"repo/apps/shop/web.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: pay}\nspec: {replicas: 200}\n"}, "", 0, []doctor.Trap{doctor.NoApplier, doctor.PatchSkipped}},
		"at its max":            {"flux", "", "", fixture{"declared": "shop/deployment/web 200 3 200\n"}, flux, 200, nil},
		"declared over its max": {"flux", "", "", fixture{"declared": "shop/deployment/web 200 3 190\n"}, flux, 200, []doctor.Trap{doctor.MaxUnderNeed}},
		"two over the quota": {"flux", "", "", fixture{"declared": "shop/deployment/web 200 3 500\nshop/deployment/api 5 1 9\n"}, flux, 200,
			[]doctor.Trap{doctor.PatchSkipped, doctor.Quota}},
		"a quota of what has a deadline":    {"flux", "cluster.yaml", "-spec: {hard: {pods: \"200\"}}\n+spec: {hard: {pods: \"100\"}, scopes: [Terminating]}\n", nil, flux, 200, nil},
		"a quota of what has none":          {"flux", "cluster.yaml", "-spec: {hard: {pods: \"200\"}}\n+spec: {hard: {pods: \"100\"}, scopes: [NotTerminating]}\n", nil, flux, 200, []doctor.Trap{doctor.Quota}},
		"a quota of best effort":            {"flux", "cluster.yaml", "-spec: {hard: {pods: \"200\"}}\n+spec: {hard: {pods: \"100\"}, scopes: [NotTerminating, BestEffort]}\n", nil, flux, 200, nil},
		"a quota of a priority":             {"flux", "cluster.yaml", "-spec: {hard: {pods: \"200\"}}\n+spec: {hard: {pods: \"100\"}, scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}}\n", nil, flux, 200, nil},
		"a quota selected of what has none": {"flux", "cluster.yaml", "-spec: {hard: {pods: \"200\"}}\n+spec: {hard: {pods: \"100\"}, scopeSelector: {matchExpressions: [{scopeName: NotTerminating, operator: Exists}]}}\n", nil, flux, 200, []doctor.Trap{doctor.Quota}},
		"the floor of another":              {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 200, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}}\n", nil, flux, 200, nil},
		"a floor of another number":         {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 5, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", nil, flux, 200, nil},
		"a floor that was accepted":         {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 200, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", fixture{"declared": "shop/deployment/web 200 200 500\n"}, flux, 200, nil},
		"a floor that nobody stated":        {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 200, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", fixture{"declared": "shop/deployment/web 200 0 500\n"}, flux, 200, nil},
		"a floor at the level":              {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 200, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", fixture{"declared": "shop/deployment/web 200 50 500\n"}, flux, 200, []doctor.Trap{doctor.MinAsCheckpoint}},
		"a floor above the level":           {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 201, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", fixture{"declared": "shop/deployment/web 200 3 500\n"}, flux, 200, []doctor.Trap{doctor.MinAsCheckpoint}},
		"a floor of half the level":         {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 100, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", fixture{"declared": "shop/deployment/web 200 3 500\n"}, flux, 200, []doctor.Trap{doctor.MinAsCheckpoint}},
		"a floor below half the level":      {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 99, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", fixture{"declared": "shop/deployment/web 200 3 500\n"}, flux, 200, nil},
		"a floor that was doubled":          {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 100, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", fixture{"declared": "shop/deployment/web 200 50 500\n"}, flux, 200, nil},
		"a floor for each of three zones":   {"flux", "repo/apps/shop/web.yaml", "-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", fixture{"declared": "shop/deployment/web 5 1 500\n"}, flux, 5, nil},
		"a floor of a ScaledObject": {"flux--keda-brake-rule", "repo/apps/shop/web.yaml", `-spec: {minReplicaCount: 3, maxReplicaCount: 500, scaleTargetRef: {name: web}}
+spec: {minReplicaCount: 100, scaleTargetRef: {name: web}}
`, nil, flux, 200, []doctor.Trap{doctor.MinAsCheckpoint}},
		"a floor of the cluster alone": {"flux", "repo/apps/shop/web.yaml", `-spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
+spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: other}}
`, fixture{"live": "shop/deployment/web 180 100 500\n"}, flux, 200, []doctor.Trap{doctor.MinAsCheckpoint}},
		"a floor of the cluster that a build puts back": {"flux", "", "", fixture{"live": "shop/deployment/web 180 100 500\n"}, flux, 200, nil},
		"in the inventory": {"flux", "cluster.yaml", "-  path: ./clusters/prod/shop\n+  path: ./elsewhere\n-status: {observedGeneration: 1, conditions: [{type: Ready, status: \"True\"}], inventory: {}}\n+status: {observedGeneration: 1, conditions: [{type: Ready, status: \"True\"}], inventory: {entries: [{id: shop_web_apps_Deployment, v: v1}]}}\n", nil,
			flux, 0, []doctor.Trap{doctor.NotBuilt}},
		"a namesake of another group in the inventory": {"flux", "cluster.yaml", "-  path: ./clusters/prod/shop\n+  path: ./elsewhere\n-status: {observedGeneration: 1, conditions: [{type: Ready, status: \"True\"}], inventory: {}}\n+status: {observedGeneration: 1, conditions: [{type: Ready, status: \"True\"}], inventory: {entries: [{id: shop_web_apps.example.com_Deployment, v: v1}]}}\n", nil,
			"", 0, []doctor.Trap{doctor.NoApplier, doctor.ComponentMissing}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := read(t, c.base)
			for at, text := range c.more {
				if file, ok := strings.CutPrefix(at, "edit "); ok {
					at, text = file, edited(t, f[file], text)
				}
				f[at] = text
			}
			if c.file != "" {
				f[c.file] = edited(t, f[c.file], c.edit)
			}
			r := f.examine(t)
			var traps []doctor.Trap
			for _, found := range r.Findings {
				traps = append(traps, found.Trap)
			}
			at := slices.IndexFunc(r.Workloads, func(w doctor.Workload) bool { return w.ID == web })
			if at < 0 || r.Workloads[at].Inert.Line() != c.inert || r.Workloads[at].Start != c.start || !slices.Equal(slices.Compact(traps), c.traps) {
				t.Errorf("want inert by %q, %d, %v:\n%s", c.inert, c.start, c.traps, tell(r))
			}
		})
	}
	all := read(t, "policy-on-update--beside-flux")
	all["cluster.yaml"] = strings.ReplaceAll(all["cluster.yaml"], "operations: [CREATE, UPDATE]", "operations: ['*']")
	if r := all.examine(t); !strings.Contains(all["cluster.yaml"], "'*'") || r.Workloads[0].Inert.Line() != "" {
		t.Errorf("a policy on all operations: %s", tell(r))
	}
}
