package doctor_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Helm ignores no field, so a policy on creation does not make the start of a
// chart's workload known. Its rendered manifests do, unless they state replicas.
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
		"a policy, rendered with a count":    {"not-built--nobody", "{replicaCount: 3}", strings.Replace(rendered, "REPLICAS", ", replicas: 3", 1), 3, "stated-count"},
		"no policy":                          {"no-applier", "{replicaCount: 3}", "", 0, "no-applier not-built"},
		"no policy, and a guard":             {"no-applier", guarded, "", 0, "no-applier chart-guard"},
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
