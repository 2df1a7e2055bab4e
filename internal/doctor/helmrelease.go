package doctor

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/chart"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// A helmRelease is a HelmRelease of Flux, reduced to the fields that doctor reads.
type helmRelease struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Chart *struct {
			Spec struct {
				Chart                    string    `json:"chart"`
				Version                  string    `json:"version"`
				SourceRef                sourceRef `json:"sourceRef"`
				ValuesFiles              []string  `json:"valuesFiles"`
				IgnoreMissingValuesFiles bool      `json:"ignoreMissingValuesFiles"`
			} `json:"spec"`
		} `json:"chart"`
		ReleaseName     string          `json:"releaseName"`
		TargetNamespace string          `json:"targetNamespace"`
		KubeConfig      *struct{}       `json:"kubeConfig"`
		Values          json.RawMessage `json:"values"`
		ValuesFrom      []valuesFrom    `json:"valuesFrom"`
		PostRenderers   []struct {
			Kustomize struct {
				Patches []any `json:"patches"`
				Images  []any `json:"images"`
			} `json:"kustomize"`
		} `json:"postRenderers"`
		DriftDetection struct {
			Mode   string       `json:"mode"`
			Ignore []ignoreRule `json:"ignore"`
		} `json:"driftDetection"`
	} `json:"spec"`
	Status struct {
		History []struct {
			ChartName    string `json:"chartName"`
			ChartVersion string `json:"chartVersion"`
		} `json:"history"` // the newest release first
	} `json:"status"`
}

func (r helmRelease) name() string {
	return fmt.Sprintf("HelmRelease %s/%s", r.Metadata.Namespace, r.Metadata.Name)
}

// The labels that Flux sets on the objects of a HelmRelease.
const (
	labelRelease   = "helm.toolkit.fluxcd.io/name"
	labelNamespace = "helm.toolkit.fluxcd.io/namespace"
)

// helm returns the appliers of the HelmReleases that apply a workload: its labels or a
// build show this.
func (e *examination) helm(s subject) (all []applier) {
	for i, r := range e.Cluster.releases {
		_, built := e.installs[i].built(s.ID, e.Overlays)
		if built || r.applies(s.labels) {
			all = append(all, e.installs[i])
		}
	}
	return all
}

// applies reports whether the HelmRelease applies an object with these labels.
func (r helmRelease) applies(labels map[string]string) bool {
	return labels[labelRelease] == r.Metadata.Name && labels[labelNamespace] == r.Metadata.Namespace
}

// driftAnnotation disables drift detection for one object.
const driftAnnotation = "helm.toolkit.fluxcd.io/driftDetection"

// applier returns an applier without lists. Its keeps returns a finding if drift detection
// resets the field of the subject.
func (r helmRelease) applier(c Cluster) applier {
	drift := r.Spec.DriftDetection
	keeps := func(s subject, annotations map[string]string) *Finding {
		ignored := slices.ContainsFunc(drift.Ignore, func(rule ignoreRule) bool { return rule.ignores(s) })
		if drift.Mode != "enabled" || annotations[driftAnnotation] == "disabled" || ignored {
			return nil
		}
		return &Finding{Trap: NoRule, Fix: fmt.Sprintf("add {paths: [%s], target: {kind: %s}} to spec.driftDetection.ignore of %s", s.pointer(), s.object.Kind, r.name())}
	}
	next := func(json.RawMessage, string) (string, func(subject, map[string]string) *Finding) { return "", nil }
	a := applier{tool: Flux, name: r.name(), keeps: keeps, next: next, chart: true}
	if r.Spec.KubeConfig == nil { // otherwise it installs the chart in another cluster
		a.builds = []Build{r.build(c, a.by())}
	}
	return a
}

// build returns the build of the chart.
func (r helmRelease) build(c Cluster, by string) Build {
	namespace := cmp.Or(r.Spec.TargetNamespace, r.Metadata.Namespace)
	l := release{stated: true, options: chart.Request{Name: r.release(), Namespace: namespace, Kubernetes: c.kubernetes()}}
	b := Build{By: by, Namespace: namespace, kinds: c.Kinds, release: &l}
	if len(r.Spec.Values) > 0 {
		l.options.Values = []chart.Value{{Data: string(r.Spec.Values)}}
	}
	for _, f := range r.Spec.ValuesFrom {
		f.namespace, f.ValuesKey = r.Metadata.Namespace, cmp.Or(f.ValuesKey, "values.yaml")
		if f.TargetPath == "" {
			l.from = append(l.from, f)
		} else {
			l.set = append(l.set, f)
		}
	}
	if len(r.Spec.PostRenderers) > 0 {
		var patches, images []any
		for _, p := range r.Spec.PostRenderers {
			patches, images = append(patches, p.Kustomize.Patches...), append(images, p.Kustomize.Images...)
		}
		l.edits = gitops.Edits{Fields: map[string]any{"patches": patches, "images": images}}
	}
	from := r.Spec.Chart
	if from == nil || from.Spec.SourceRef.Kind != "GitRepository" {
		l.name, l.version = r.packed()
		b.Dir = l.name
		b.origin = origin{is: "a source of charts"}
		return b
	}
	source := from.Spec.SourceRef.in(r.Metadata.Namespace)
	in := c.repository(source)
	b.Dir = path.Clean("./" + from.Spec.Chart)
	b.source, b.origin = in.source(source), source.origin(in)
	l.defaults = lists.Map(from.Spec.ValuesFiles, func(file string) valuesFile {
		return valuesFile{file: path.Clean("./" + file), optional: from.Spec.IgnoreMissingValuesFiles}
	})
	return b
}

// release returns the name of the Helm release. Flux shortens a name that is too long for
// Helm.
func (r helmRelease) release() string {
	const most, hash = 53, 12
	name := r.Metadata.Name
	if r.Spec.TargetNamespace != "" {
		name = r.Spec.TargetNamespace + "-" + name
	}
	name = cmp.Or(r.Spec.ReleaseName, name)
	if len(name) <= most {
		return name
	}
	return name[:most-hash-1] + "-" + fmt.Sprintf("%x", sha256.Sum256([]byte(name)))[:hash]
}

// packed returns the name and the version of a chart that is not in git.
func (r helmRelease) packed() (name, version string) {
	if r.Spec.Chart != nil {
		name, version = r.Spec.Chart.Spec.Chart, r.Spec.Chart.Spec.Version
	}
	if h := r.Status.History; len(h) > 0 && (name == "" || name == h[0].ChartName) { // the version may be a range
		name, version = h[0].ChartName, h[0].ChartVersion
	}
	return cmp.Or(name, "unknown"), version
}

// kubernetes returns the version of Kubernetes, or "" if it is unknown.
func (c Cluster) kubernetes() string {
	if c.Minor == 0 {
		return ""
	}
	return fmt.Sprintf("1.%d.0", c.Minor)
}
