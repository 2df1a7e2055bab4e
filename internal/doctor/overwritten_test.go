package doctor_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// brakes returns the findings about brakes.
func brakes(r doctor.Report) []doctor.Finding {
	return slices.DeleteFunc(r.Findings, func(f doctor.Finding) bool { return f.Trap != doctor.BrakeOverwritten })
}

// keda returns an edit of the annotation in the fixture of KEDA.
func keda(value string) string {
	const line = "metadata: {name: web, namespace: shop, annotations: {autoscaling.keda.sh/paused-scale-in: "
	return "-" + line + "\"false\"}}\n+" + line + value + "}}\n"
}

// Each case differs from a fixture with a finding in one edit. It states whether the
// finding stays.
func TestABrakeIsResetOrNot(t *testing.T) {
	t.Parallel()
	const (
		hpa     = "-spec: {minReplicas: 3, maxReplicas: 500, behavior: {scaleDown: {selectPolicy: Max}}, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+spec: "
		rule    = "-  - {group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}\n+  - {group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}\n+  - "
		ofFlux  = "-    target: {group: apps, kind: Deployment}\n+    target: {group: apps, kind: Deployment}\n+  - "
		manager = "-  - {manager: kustomize-controller, operation: Apply, fieldsType: FieldsV1, fieldsV1: {\"f:spec\": {\"f:behavior\": {\"f:scaleDown\": {\"f:selectPolicy\": {}}}}}}\n+  - "
		listed  = "-status: {observedGeneration: 1, conditions: [{type: Ready, status: \"True\"}], inventory: {entries: [{id: shop_web-cpu_autoscaling_HorizontalPodAutoscaler, v: v2}]}}\n+"
		options = "-  syncPolicy: {syncOptions: [RespectIgnoreDifferences=true, ApplyOutOfSyncOnly=true]}\n+  syncPolicy: {syncOptions: [ApplyOutOfSyncOnly=true]}\n"
		web     = "repo/apps/shop/web.yaml"
	)
	for name, c := range map[string]struct {
		base, file, edit string
		more             fixture
		stays            bool
	}{
		"the other policy":            {"brake-overwritten", web, hpa + "{behavior: {scaleDown: {selectPolicy: Min}}, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", nil, true},
		"never scales down":           {"brake-overwritten", web, hpa + "{behavior: {scaleDown: {selectPolicy: Disabled}}, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", nil, false},
		"another field":               {"brake-overwritten", web, hpa + "{behavior: {scaleDown: {stabilizationWindowSeconds: 9}}, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n", nil, false},
		"of another workload":         {"brake-overwritten", web, hpa + "{behavior: {scaleDown: {selectPolicy: Max}}, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: api}}\n", nil, false},
		"no level":                    {"brake-overwritten", "", "", fixture{"declared": "shop/deployment/api 5 0 0\n"}, false},
		"a parent of the field":       {"brake-overwritten", "cluster.yaml", ofFlux + "paths: [/spec/behavior]\n", nil, false},
		"a field with the same start": {"brake-overwritten", "cluster.yaml", ofFlux + "paths: [/spec/behavior/scaleDown/select]\n", nil, true},
		"a rule for another kind":     {"brake-overwritten", "cluster.yaml", ofFlux + "{paths: [/spec/behavior], target: {kind: ScaledObject}}\n", nil, true},
		"a rule for its labels":       {"brake-overwritten", "cluster.yaml", ofFlux + "{paths: [/spec/behavior], target: {labelSelector: team=a}}\n", nil, true},
		"KEDA reads it as a pause":    {"brake-overwritten--keda", web, keda("\"yes\""), nil, false},
		"KEDA reads it as no pause":   {"brake-overwritten--keda", web, keda("\"0\""), nil, true},
		"Flux does not update it": {"brake-overwritten", "repo/apps/shop/kustomization.yaml", "-resources: [web.yaml]\n+resources: [web.yaml]\n+patches: " +
			`[{target: {kind: HorizontalPodAutoscaler}, patch: '[{"op": "add", "path": "/metadata/annotations", "value": {"kustomize.toolkit.fluxcd.io/ssa": "IfNotPresent"}}]'}]` + "\n", nil, false},
		"a rule with jq":                 {"brake-overwritten--argocd", "cluster.yaml", rule + "{group: autoscaling, kind: HorizontalPodAutoscaler, jqPathExpressions: [.spec.behavior.scaleDown.selectPolicy]}\n", nil, false},
		"a rule for the brake's manager": {"brake-overwritten--argocd", "cluster.yaml", rule + "{group: '*', kind: '*', managedFieldsManagers: [gitlatch-restore]}\n", nil, false},
		"a rule without a group":         {"brake-overwritten--argocd", "cluster.yaml", rule + "{kind: HorizontalPodAutoscaler, jsonPointers: [/spec/behavior]}\n", nil, true},
		"a rule that is not respected":   {"argocd--brake-rule", "cluster.yaml", options, nil, true},
		"another manager":                {"brake-overwritten--live", "cluster.yaml", manager + "{manager: kubectl, operation: Update, fieldsType: FieldsV1, fieldsV1: {\"f:spec\": {\"f:behavior\": {\"f:scaleDown\": {\"f:selectPolicy\": {}}}}}}\n", nil, false},
		"a manager of another field":     {"brake-overwritten--live", "cluster.yaml", manager + "{manager: kustomize-controller, operation: Apply, fieldsType: FieldsV1, fieldsV1: {\"f:spec\": {\"f:behavior\": {}}}}\n", nil, false},
		"a field that git had before": {"flux", "cluster.yaml", "-apiVersion: v1\n+kind: HorizontalPodAutoscaler\n+metadata: {name: web, namespace: shop, managedFields: [" +
			"{manager: kustomize-controller, fieldsV1: {\"f:spec\": {\"f:behavior\": {\"f:scaleDown\": {\"f:selectPolicy\": {}}}}}}]}\n" +
			"+spec: {behavior: {scaleDown: {selectPolicy: Max}}, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n+---\n+apiVersion: v1\n", nil, false},
		"an applier without the HPA": {"brake-overwritten--live", "cluster.yaml", listed + "status: {}\n", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := read(t, c.base)
			for at, text := range c.more {
				f[at] = text
			}
			if c.file != "" && c.edit != "" {
				f[c.file] = edited(t, f[c.file], c.edit)
			}
			r := f.examine(t)
			if found := brakes(r); len(found) > 0 != c.stays || strings.Contains(traps(r), "build-fails") {
				t.Errorf("stays %v: %s", c.stays, tell(r))
			}
		})
	}
}

// A restore does not brake a workload that is opted out.
func TestAnOptedOutWorkloadHasNoBrakeToReset(t *testing.T) {
	t.Parallel()
	c := read(t, "brake-overwritten").read(t)
	c.Fleet.Samples[0].OptOut = true
	if found := brakes(doctor.Examine(c)); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}

// An Application of a destination that may be this cluster may reset the brake.
func TestAnotherDestinationMayResetABrake(t *testing.T) {
	t.Parallel()
	f := read(t, "brake-overwritten--live")
	f["cluster.yaml"] = strings.ReplaceAll(f["cluster.yaml"], "kustomize-controller", "argocd-controller") + `---
kind: Application
metadata: {name: other, namespace: argocd}
spec: {destination: {name: blue}}
status: {resources: [{group: autoscaling, kind: HorizontalPodAutoscaler, namespace: shop, name: web-cpu}]}
`
	found := brakes(f.examine(t))
	if len(found) != 1 || !strings.Contains(found[0].Text, "its destination name: blue may be this cluster") ||
		!strings.Contains(found[0].Fix, " to spec.ignoreDifferences and RespectIgnoreDifferences=true to spec.syncPolicy.syncOptions of Application argocd/other. Alternatively, remove") {
		t.Errorf("found %+v", found)
	}
}

// A HelmRelease resets the brake only if it detects and corrects drift.
func TestAHelmReleaseResetsABrake(t *testing.T) {
	t.Parallel()
	const fix = "add {paths: [/spec/behavior/scaleDown/selectPolicy], target: {kind: HorizontalPodAutoscaler}} to spec.driftDetection.ignore of HelmRelease shop/chart. Alternatively, remove"
	const disabled = "{driftDetection: {mode: enabled}} # disabled"
	for spec, want := range map[string]string{
		disabled:                            "",
		"{}":                                "",
		"{driftDetection: {mode: warn}}":    "",
		"{driftDetection: {mode: enabled}}": fix,
		"{driftDetection: {mode: enabled, ignore: [{paths: [/spec/replicas]}]}}":                        fix,
		"{driftDetection: {mode: enabled, ignore: [{paths: [/spec/behavior/scaleDown/selectPolicy]}]}}": "",
	} {
		f := read(t, "brake-overwritten--live")
		f["cluster.yaml"] = strings.NewReplacer("kustomize-controller", "helm-controller",
			"  namespace: shop\n", "  namespace: shop\n  labels: {helm.toolkit.fluxcd.io/name: chart, helm.toolkit.fluxcd.io/namespace: shop}\n").Replace(f["cluster.yaml"]) +
			"---\nkind: HelmRelease\nmetadata: {name: chart, namespace: shop}\nspec: " + spec + "\n"
		if spec == disabled {
			f["cluster.yaml"] = strings.Replace(f["cluster.yaml"], "  managedFields:\n", "  annotations: {helm.toolkit.fluxcd.io/driftDetection: disabled}\n  managedFields:\n", 1)
		}
		found := brakes(f.examine(t))
		if len(found) != min(len(want), 1) || want != "" && !strings.HasPrefix(found[0].Fix, want) {
			t.Errorf("%s: found %+v", spec, found)
		}
	}
}

// The rule that doctor prints ignores the field that a brake sets.
func TestTheRuleIsForTheFieldOfABrake(t *testing.T) {
	t.Parallel()
	for base, kind := range map[string]plan.Kind{"brake-overwritten": plan.HPA, "brake-overwritten--keda": plan.ScaledObject} {
		found := brakes(read(t, base).examine(t))
		if len(found) != 1 || !strings.Contains(found[0].Text, " applies "+brake.Field(kind)+" of ") {
			t.Fatalf("%s: found %+v", base, found)
		}
		patch, _, err := brake.Put(brake.Object{Kind: kind}, time.Unix(0, 0), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		set, err := json.Marshal(patch)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.Split(regexp.MustCompile(`paths: \[/([^]]+)]`).FindStringSubmatch(found[0].Fix)[1], "/")
		for i, name := range path {
			path[i] = strings.ReplaceAll(name, "~1", "/")
		}
		if workload.At(set, path...) == nil {
			t.Errorf("a brake sets %s, and the rule ignores %q", set, path)
		}
	}
}
