package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A helmRelease is one of Flux.
type helmRelease struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Values map[string]any `json:"values"`
	} `json:"spec"`
}

// charts notes counts that a chart drops.
func (e *examination) charts() {
	for _, r := range e.Cluster.releases {
		e.guard(guard{name: fmt.Sprintf("HelmRelease %s/%s", r.Metadata.Namespace, r.Metadata.Name), namespace: r.Metadata.Namespace, release: r.Metadata.Name}, r.Spec.Values)
	}
	for _, a := range e.Cluster.applications {
		for _, s := range a.sources() {
			if s.Helm == nil {
				continue
			}
			values := map[string]any{}
			if err := yaml.Unmarshal([]byte(s.Helm.Values), &values); err != nil {
				e.find(BuildFails, a.name(), "its Helm values cannot be read: "+err.Error())
			}
			maps.Copy(values, s.Helm.ValuesObject)
			for _, p := range s.Helm.Parameters {
				set(values, strings.Split(p.Name, "."), p.Value)
			}
			e.guard(guard{name: a.name(), lists: a.applier(e.Cluster.Kinds).lists}, values)
		}
	}
}

// set puts a parameter among the values.
func set(values map[string]any, at []string, value string) {
	if len(at) == 1 {
		values[at[0]] = value
		return
	}
	below, ok := values[at[0]].(map[string]any)
	if !ok {
		below = map[string]any{}
		values[at[0]] = below
	}
	set(below, at[1:], value)
}

// A guard is what applies a chart whose values are such that it drops the count.
type guard struct {
	name               string
	namespace, release string               // of Flux, which puts both into labels
	lists              map[workload.ID]bool // of Argo CD, what it says it applied
	finding            Finding
}

// The labels by which Flux knows what its HelmReleases applied.
const (
	labelRelease   = "helm.toolkit.fluxcd.io/name"
	labelNamespace = "helm.toolkit.fluxcd.io/namespace"
)

// applied reports whether a workload is of the chart.
func (g guard) applied(s subject) bool {
	return g.lists[s.ID] || g.release != "" && s.labels[labelRelease] == g.release && s.labels[labelNamespace] == g.namespace
}

// guarded notes that a chart starts a workload, which nothing here builds, at 1.
func (e *examination) guarded(s *subject) {
	for _, g := range e.guards {
		if g.applied(*s) {
			s.Start, s.By, s.charted = 1, g.name, true
			s.Lowers = append(s.Lowers, g.finding)
			return
		}
	}
}

func (e *examination) guard(by guard, values map[string]any) {
	scaling, _ := values["autoscaling"].(map[string]any)
	if _, counts := values["replicaCount"]; counts && fmt.Sprint(scaling["enabled"]) == "true" {
		by.finding = e.find(ChartGuard, by.name, "its values have replicaCount beside autoscaling.enabled: a chart that guards the one by the other drops the count, and a rebuild starts at 1; use the admission policy, or a post-renderer with the Component")
		e.guards = append(e.guards, by)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if below, ok := values[key].(map[string]any); ok {
			e.guard(by, below)
		}
	}
}
