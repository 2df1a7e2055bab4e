package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/chart"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// Charts renders Helm charts. The zero value renders none.
type Charts struct {
	Render chart.Render // nil fails for every chart
	// Packed contains charts that are not in the repository, as files with the name
	// NAME-VERSION.tgz. Nil contains none.
	Packed fs.FS
}

// A release is a Helm chart with the options of a GitOps tool.
type release struct {
	// stated is true if the object names a chart. Otherwise the folder is a chart if it
	// has a Chart.yaml and no kustomization.
	stated bool
	// name and version identify a chart outside of git; "" for a chart in a folder.
	name, version string
	// options has the options that do not depend on files. Its values take precedence
	// over files, and files over defaults. If there are defaults, they replace the values
	// of the chart.
	options         chart.Request
	defaults, files []valuesFile
	// from are objects with values, which files and the values of options override. set
	// are those that override everything. params are files that override both.
	from, set []valuesFrom
	params    []valuesFile
	overrides []string     // files in the folder of the chart that override the options
	edits     gitops.Edits // of the post-renderers
	err       error        // the reason why the options cannot be used
}

// A valuesFile is a file in the repository with values.
type valuesFile struct {
	file     string // from the root of the repository
	optional bool
	path     string // the path of the only value, which the file contains verbatim; or ""
}

// A valuesFrom is a key of a ConfigMap or a Secret with values.
type valuesFrom struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	ValuesKey  string `json:"valuesKey"`
	TargetPath string `json:"targetPath"`
	Optional   bool   `json:"optional"`
	Literal    bool   `json:"literal"`

	namespace string
}

// The reasons why a chart is not rendered.
var (
	errChart     = errors.New("it contains a Helm chart. \"gitlatch doctor\" renders a chart only for an Application or a HelmRelease")
	errElsewhere = errors.New("the chart is not in the repository")
)

// isChart reports whether the tool renders the folder of a build as a Helm chart.
func (b Build) isChart(files map[string][]byte) bool {
	there := func(name string) bool { return files[path.Join(b.Dir, name)] != nil }
	found := there("Chart.yaml") && !slices.ContainsFunc(gitops.KustomizationNames(), there)
	return b.release != nil && b.release.stated || found
}

// elsewhere reports whether the build is a chart outside of git.
func (b Build) elsewhere() bool { return b.release != nil && b.release.name != "" }

// asks returns the paths of the files that a release needs.
func (b Build) asks() []string {
	if b.release == nil {
		return nil
	}
	r := b.release
	all := lists.Map(slices.Concat(r.defaults, r.files, r.params), func(f valuesFile) string { return f.file })
	if b.Dir == "." && r.name == "" {
		all = append(all, "Chart.yaml", "Chart.lock", "values.yaml", ".helmignore", "templates", "charts")
	}
	return all
}

// render renders the chart of a build. built are the overlays that can contain its values.
func (b Build) render(ctx context.Context, r reader, charts Charts, built []Overlay) (gitops.Overlay, error) {
	none := gitops.Overlay{Dir: b.Dir}
	if b.release == nil {
		return none, errChart
	}
	if b.release.err != nil {
		return none, b.release.err
	}
	request, err := b.release.request(b, r, charts, built)
	if err != nil {
		return none, err
	}
	if charts.Render == nil {
		return none, errors.New("this program does not render Helm charts")
	}
	manifests, err := charts.Render(ctx, request)
	if err != nil {
		return none, err
	}
	return gitops.BuildChart(manifests, b.Dir, b.release.edits, b.kinds)
}

// request returns the chart with its options.
func (l release) request(b Build, r reader, charts Charts, built []Overlay) (chart.Request, error) {
	q := l.options
	files := b.takes(r.files)
	if err := l.chart(&q, b, r, files, charts); err != nil {
		return q, err
	}
	if len(l.defaults) > 0 {
		all, err := inFiles(l.defaults, files)
		if err != nil {
			return q, err
		}
		q.Files = maps.Clone(q.Files)
		q.Files["values.yaml"] = []byte(strings.Join(lists.Map(all, func(v chart.Value) string { return v.Data }), "\n---\n"))
	}
	from, err := values(l.from, built)
	if err != nil {
		return q, err
	}
	stated, err := inFiles(l.files, files)
	if err != nil {
		return q, err
	}
	set, err := values(l.set, built)
	if err != nil {
		return q, err
	}
	params, err := inFiles(l.params, files)
	q.Values = slices.Concat(from, stated, q.Values, set, params)
	return q, err
}

// chart sets the files of a chart.
func (l release) chart(q *chart.Request, b Build, r reader, files map[string][]byte, charts Charts) error {
	if l.name != "" {
		if charts.Packed == nil {
			return errElsewhere
		}
		data, err := fs.ReadFile(charts.Packed, path.Base(l.name)+"-"+l.version+".tgz")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
			return errElsewhere
		}
		q.Packed = data
		return err
	}
	if data, ok := files[b.Dir]; ok {
		q.Packed = data
		return nil
	}
	q.Files = map[string][]byte{}
	for name, data := range files {
		if at, ok := strings.CutPrefix(name, b.Dir+"/"); ok {
			q.Files[at] = data
		} else if b.Dir == "." {
			q.Files[name] = data
		}
	}
	for _, at := range l.overrides {
		if _, ok := q.Files[at]; ok {
			return fmt.Errorf("%s in its folder overrides the Application, which doctor does not support", at)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(r.unsafe)) {
		if strings.HasPrefix(at, b.Dir+"/") || b.Dir == "." {
			return fmt.Errorf("%s %s", at, r.unsafe[at])
		}
	}
	return nil
}

// inFiles returns the values in files.
func inFiles(all []valuesFile, files map[string][]byte) (found []chart.Value, err error) {
	for _, f := range all {
		data, ok := files[f.file]
		switch {
		case ok:
			found = append(found, chart.Value{Path: f.path, Data: string(data), Whole: f.path != ""})
		case !f.optional:
			return nil, fmt.Errorf("the values file %s is not in the repository", f.file)
		}
	}
	return found, nil
}

// values returns the values in ConfigMaps and Secrets that a build contains.
func values(all []valuesFrom, built []Overlay) (found []chart.Value, err error) {
	for _, f := range all {
		name := fmt.Sprintf("%s %s/%s", f.Kind, f.namespace, f.Name)
		c, ok := config(f, built)
		data, has := c.Data[f.ValuesKey]
		switch {
		case !ok && f.Optional:
			return nil, fmt.Errorf("the optional %s in spec.valuesFrom is not in a folder that doctor builds, but it can be in the cluster", name)
		case !ok:
			return nil, fmt.Errorf("%s in spec.valuesFrom is not in a folder that doctor builds", name)
		case c.Sealed:
			return nil, fmt.Errorf("%s in spec.valuesFrom is encrypted", name)
		case has:
			found = append(found, f.value(data))
		case !f.Optional:
			return nil, fmt.Errorf("%s in spec.valuesFrom has no key %s", name, f.ValuesKey)
		}
	}
	return found, nil
}

// config returns the ConfigMap or the Secret of a reference.
func config(f valuesFrom, built []Overlay) (gitops.Config, bool) {
	for _, o := range built {
		for _, c := range o.Configs {
			namespace := c.Namespace
			if c.Unplaced && o.Namespace != "" {
				namespace = o.Namespace
			}
			if c.Kind == f.Kind && c.Name == f.Name && namespace == f.namespace {
				return c, true
			}
		}
	}
	return gitops.Config{}, false
}

// value returns the value of a reference. Quotes around a text make it a string.
func (f valuesFrom) value(data string) chart.Value {
	v := chart.Value{Path: f.TargetPath, Data: data, Whole: f.Literal && f.TargetPath != ""}
	for _, quote := range []string{"'", `"`} {
		if v.Path != "" && !v.Whole && strings.HasPrefix(data, quote) && strings.HasSuffix(data, quote) {
			v.Data, v.Text = strings.Trim(data, quote), true
		}
	}
	return v
}

// charted adds a finding about a workload of a chart that a rebuild starts below its
// level, or below its live replicas if it has no level.
func (e *examination) charted(s *subject, stated *int32) {
	need := s.Level
	if need == 0 {
		need = s.Live
	}
	switch {
	case s.Start >= need:
	case stated == nil:
		e.lowers(s, ChartGuard, s.ID.String(), "The chart renders the workload without replicas, so a rebuild starts it with 1 pod. A replica count in the values, for example replicaCount, has no effect.",
			e.admission("", helpHelm))
	default:
		e.lowers(s, StatedCount, s.ID.String(), "The chart renders the workload with fewer replicas than the workload needs, and a rebuild starts it with the replicas of the chart.",
			e.admission("", helpHelm))
	}
}
