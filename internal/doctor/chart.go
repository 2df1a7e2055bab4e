package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A helmRelease is a HelmRelease of Flux, reduced to the fields that doctor reads.
type helmRelease struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Values         map[string]any `json:"values"`
		DriftDetection struct {
			Mode   string       `json:"mode"`
			Ignore []ignoreRule `json:"ignore"`
		} `json:"driftDetection"`
	} `json:"spec"`
}

func (r helmRelease) name() string {
	return fmt.Sprintf("HelmRelease %s/%s", r.Metadata.Namespace, r.Metadata.Name)
}

// The labels that Flux sets on the objects of a HelmRelease.
const (
	labelRelease   = "helm.toolkit.fluxcd.io/name"
	labelNamespace = "helm.toolkit.fluxcd.io/namespace"
)

// releases returns the names of the HelmReleases that apply a workload.
func (e *examination) releases(s subject) []string {
	return lists.Map(lists.Filter(e.Cluster.releases, func(r helmRelease) bool { return r.applies(s.labels) }), helmRelease.name)
}

// applies reports whether the HelmRelease applies an object with these labels.
func (r helmRelease) applies(labels map[string]string) bool {
	return labels[labelRelease] == r.Metadata.Name && labels[labelNamespace] == r.Metadata.Namespace
}

// driftAnnotation disables drift detection for one object.
const driftAnnotation = "helm.toolkit.fluxcd.io/driftDetection"

// applier returns an applier without builds and lists. Its keeps returns a finding if
// drift detection resets the field of the subject.
func (r helmRelease) applier() applier {
	drift := r.Spec.DriftDetection
	keeps := func(s subject, annotations map[string]string) *Finding {
		ignored := slices.ContainsFunc(drift.Ignore, func(rule ignoreRule) bool { return rule.ignores(s) })
		if drift.Mode != "enabled" || annotations[driftAnnotation] == "disabled" || ignored {
			return nil
		}
		return &Finding{Trap: NoRule, Fix: fmt.Sprintf("add {paths: [%s], target: {kind: %s}} to spec.driftDetection.ignore of %s", s.pointer(), s.object.Kind, r.name())}
	}
	next := func(json.RawMessage, string) (string, func(subject, map[string]string) *Finding) { return "", nil }
	return applier{name: r.name(), keeps: keeps, next: next}
}

// charts records the charts whose values may drop the replica count.
func (e *examination) charts() {
	for _, r := range e.Cluster.releases {
		e.guard(r.name(), r.Spec.Values)
	}
	for _, a := range e.Cluster.applications {
		for _, s := range a.sources() {
			if s.Helm == nil {
				continue
			}
			values := map[string]any{}
			if err := yaml.Unmarshal([]byte(s.Helm.Values), &values); err != nil {
				e.find(BuildFails, a.name(), "\"gitlatch doctor\" cannot parse the Helm values: "+err.Error(), "correct helm.values of its source")
			}
			maps.Copy(values, s.Helm.ValuesObject)
			for _, p := range s.Helm.Parameters {
				_ = unstructured.SetNestedField(values, p.Value, strings.Split(p.Name, ".")...) // it fails below a scalar, which has no fields to set
			}
			e.guard(a.name(), values)
		}
	}
}

// guard records values that can make a chart leave out the replica count. by is the
// object that applies the chart.
func (e *examination) guard(by string, values map[string]any) {
	scaling, _ := values["autoscaling"].(map[string]any)
	if _, counts := values["replicaCount"]; counts && fmt.Sprint(scaling["enabled"]) == "true" {
		e.guards[by] = Finding{ChartGuard, by, "The Helm values set replicaCount and enable autoscaling. If the chart omits replicas when autoscaling is enabled, a rebuild ignores replicaCount and starts the workload with 1 pod.", renderAdmission}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if below, ok := values[key].(map[string]any); ok {
			e.guard(by, below)
		}
	}
}
