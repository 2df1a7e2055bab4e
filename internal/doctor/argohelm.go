package doctor

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/chart"
)

// release sets the release of a build of the i-th source, as Argo CD renders a chart:
// values override valueFiles, and parameters override values. valuesObject replaces values.
func (a application) release(b *Build, c Cluster, i int) {
	s := a.sources()[i]
	l := &release{stated: s.Chart != "" || s.Helm != nil}
	l.options = chart.Request{Name: a.Metadata.Name, Namespace: a.Spec.Destination.Namespace, Kubernetes: c.kubernetes()}
	l.overrides = []string{".argocd-source.yaml", ".argocd-source-" + a.Metadata.Name + ".yaml"}
	b.release = l
	if s.Chart != "" {
		l.name, l.version = s.Chart, cmp.Or(a.resolved(i), s.TargetRevision)
		b.Dir, b.origin = s.Chart, origin{is: "a source of charts"}
	}
	h := s.Helm
	if h == nil {
		return
	}
	l.options.Name = cmp.Or(h.ReleaseName, l.options.Name)
	l.options.Namespace = cmp.Or(h.Namespace, l.options.Namespace)
	l.options.Kubernetes = cmp.Or(h.KubeVersion, l.options.Kubernetes)
	l.options.APIs = h.APIVersions
	for _, file := range h.ValueFiles {
		l.files = append(l.files, a.file(b, s, file, h.IgnoreMissingValueFiles))
	}
	if stated := cmp.Or(string(h.ValuesObject), h.Values); stated != "" {
		l.options.Values = append(l.options.Values, chart.Value{Data: stated})
	}
	for _, text := range []bool{false, true} { // Helm sets the strings last
		for _, p := range h.Parameters {
			if p.ForceString == text {
				l.options.Values = append(l.options.Values, chart.Value{Path: p.Name, Data: commas(a.substituted(p.Value)), Text: text})
			}
		}
	}
	for _, p := range h.FileParameters {
		f := a.file(b, s, p.Path, false)
		f.path = p.Name
		l.params = append(l.params, f)
	}
}

// resolved returns the revision that Argo CD last resolved the i-th source to: of a chart,
// its version.
func (a application) resolved(i int) string {
	seen := a.Status.Sync
	switch {
	case i < len(seen.Revisions):
		return seen.Revisions[i]
	case i == 0:
		return seen.Revision
	}
	return ""
}

// file returns a values file of a source. Its name is relative to the folder of the chart,
// or starts with a slash for the root of the repository, or with $NAME for the root of
// the source with this ref.
func (a application) file(b *Build, s argoSource, name string, optional bool) valuesFile {
	l := b.release
	ref, inRef, _ := strings.Cut(strings.TrimPrefix(name, "$"), "/")
	i := slices.IndexFunc(a.sources(), func(s argoSource) bool { return s.Ref != "" && s.Ref == ref })
	at := path.Join(s.Path, a.substituted(name))
	switch {
	case strings.HasPrefix(name, "$") && i >= 0:
		at = path.Join("/", a.substituted(inRef))[1:]
		b.also = append(b.also, a.origins()[i])
	case strings.HasPrefix(name, "/"):
		at = path.Join("/", a.substituted(name))[1:]
	case s.Chart != "":
		l.err = fmt.Errorf("its values file %s is in the packed chart. Move the values to the Application", name)
	}
	if strings.Contains(name, "://") || strings.ContainsAny(at, "*?[$") {
		l.err = fmt.Errorf("doctor cannot read its values file %s, because it is a pattern or not in the repository", name)
	}
	return valuesFile{file: at, optional: optional}
}

// substituted replaces the variables of Argo CD that do not depend on a commit.
func (a application) substituted(text string) string {
	return strings.NewReplacer(
		"$ARGOCD_APP_NAMESPACE", a.Spec.Destination.Namespace, "${ARGOCD_APP_NAMESPACE}", a.Spec.Destination.Namespace,
		"$ARGOCD_APP_NAME", a.Metadata.Name, "${ARGOCD_APP_NAME}", a.Metadata.Name,
	).Replace(text)
}

// commas escapes the commas of a parameter, unless it is a list in braces or they already
// are escaped.
func commas(value string) string {
	if strings.HasPrefix(value, "{") && strings.HasSuffix(value, "}") {
		return value
	}
	return strings.ReplaceAll(strings.ReplaceAll(value, `\,`, ","), ",", `\,`)
}
