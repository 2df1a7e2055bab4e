package doctor_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Helm does not ignore fields. A policy on creation thus leaves the start of a chart's
// workload unknown. Its rendered manifests make the start known, unless they state
// replicas.
func TestTheWorkloadOfAHelmRelease(t *testing.T) {
	t.Parallel()
	const (
		guarded  = "{replicaCount: 3, autoscaling: {enabled: true}}"
		rendered = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {selector: {}REPLICAS}\n"
	)
	for name, c := range map[string]struct {
		base, values, path string
		start              int32
		traps              string
	}{
		"a policy":                           {"not-built--nobody", "{replicaCount: 3}", "", 0, "not-built"},
		"a policy, and a guard":              {"not-built--nobody", guarded, "", 0, "not-built"},
		"a policy, rendered without a count": {"not-built--nobody", guarded, strings.Replace(rendered, "REPLICAS", "", 1), 200, ""},
		"a policy, rendered with a count":    {"not-built--nobody", "{replicaCount: 3}", strings.Replace(rendered, "REPLICAS", ", replicas: 3", 1), 200, "replicas-reset"},
		"no policy":                          {"no-applier", "{replicaCount: 3}", "", 0, "not-built"},
		"no policy, and a guard":             {"no-applier", guarded, "", 0, "not-built"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := read(t, c.base)
			f["cluster.yaml"] += "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: cart, namespace: team}\nspec: {values: " + c.values + "}\n"
			f["paths"] = ""
			if c.path != "" {
				f["paths"] = "rendered"
				f["repo/rendered/kustomization.yaml"] = "resources: [web.yaml]\n"
				f["repo/rendered/web.yaml"] = c.path
			}
			seen := f.read(t)
			seen.Fleet.Samples[0].Labels = workload.LabelsOf(map[string]string{"helm.toolkit.fluxcd.io/name": "cart", "helm.toolkit.fluxcd.io/namespace": "team"})
			r := doctor.Examine(seen)
			if r.Workloads[0].Start != c.start || traps(r) != c.traps {
				t.Errorf("want %d, %q:\n%s", c.start, c.traps, tell(r))
			}
			for _, found := range r.Findings {
				if strings.Contains(found.Text, "Component") || strings.Contains(found.Text, "overlay") {
					t.Errorf("a chart includes no Component and is no overlay: %s", found.Text)
				}
			}
		})
	}
}

// A policy sets the level on creation. The tool that applies the workload is unknown in
// each of these cases, so the replicas that it sets later are also unknown.
func TestAPolicyAloneMakesNoStartKnown(t *testing.T) {
	t.Parallel()
	const destination = "-  destination: {server: https://kubernetes.default.svc, namespace: shop}\n+  destination: {name: NAME, namespace: shop}\n"
	for name, c := range map[string]struct {
		base  string
		more  fixture
		start int32
		traps string
	}{
		"Applications are unread":                   {"not-built", fixture{"unread Application": "forbidden: no\n"}, 0, ""},
		"its Application may be of another":         {"not-built", fixture{"edit cluster.yaml": strings.Replace(destination, "NAME", "prod", 1)}, 0, "not-built"},
		"one with a rule may be of another":         {"not-built--ignored", fixture{"edit cluster.yaml": strings.Replace(destination, "NAME", "prod", 1)}, 0, "not-built"},
		"one with a rule is of this cluster":        {"not-built--ignored", fixture{"edit cluster.yaml": strings.Replace(destination, "NAME", "in-cluster", 1)}, 200, ""},
		"a count in a folder that no tool applies":  {"not-built--nobody", fixture{"paths": "apps/shop", "edit repo/apps/shop/web.yaml": "-spec: {selector: {}}\n+spec: {selector: {}, replicas: 3}\n"}, 3, "replicas-reset"},
		"its folder has a Component, and is broken": {"not-built--remote-base", fixture{"repo/apps/shop/kustomization.yaml": "resources: [gone.yaml]\ncomponents: [../../checkpoints/prod/shop]\n"}, 0, "no-ignore-rule build-fails"},
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
			if r := f.examine(t); r.Workloads[0].Start != c.start || traps(r) != c.traps {
				t.Errorf("want %d, %q:\n%s", c.start, c.traps, tell(r))
			}
		})
	}
}
