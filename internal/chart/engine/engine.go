// Package engine renders Helm charts with Helm's own engine. It is the only package that
// imports Helm.
package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	commonutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	v2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	"helm.sh/helm/v4/pkg/ignore"
	"helm.sh/helm/v4/pkg/strvals"

	"github.com/gitlatch/gitlatch/internal/chart"
)

// Serve renders one chart and exits if this process is a child of chart.Child. It must be
// the first call of a main function.
func Serve() { chart.Serve(Render) }

// Render renders a chart as helm template does, without validating the values against the
// schema of the chart, because a schema can refer to an address. lookup returns an empty
// map. Render does not limit the time and the memory of the templates: see chart.Child.
func Render(_ context.Context, r chart.Request) ([]byte, error) {
	c, err := load(r)
	if err != nil {
		return nil, err
	}
	values, err := merged(r.Values)
	if err != nil {
		return nil, err
	}
	if err := vendored(c); err != nil {
		return nil, err
	}
	if err := util.ProcessDependencies(c, values); err != nil {
		return nil, fmt.Errorf("process the dependencies of the chart: %w", err)
	}
	capabilities, err := capable(r)
	if err != nil {
		return nil, err
	}
	if c.Metadata.KubeVersion != "" && !util.IsCompatibleRange(c.Metadata.KubeVersion, capabilities.KubeVersion.String()) {
		return nil, fmt.Errorf("the chart requires Kubernetes %s, but the cluster runs %s", c.Metadata.KubeVersion, &capabilities.KubeVersion)
	}
	release := common.ReleaseOptions{Name: r.Name, Namespace: r.Namespace, Revision: 1, IsInstall: true}
	all, err := commonutil.ToRenderValuesWithSchemaValidation(c, values, release, capabilities, true)
	if err != nil {
		return nil, fmt.Errorf("merge the values of the chart: %w", err)
	}
	rendered, err := engine.Engine{}.RenderWithContext(context.Background(), c, all)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if path.Base(name) == "NOTES.txt" || strings.TrimSpace(rendered[name]) == "" {
			continue
		}
		fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", name, rendered[name])
	}
	return out.Bytes(), nil
}

// load loads the chart of a request.
func load(r chart.Request) (c *v2.Chart, err error) {
	if r.Packed != nil {
		c, err = loader.LoadArchive(bytes.NewReader(r.Packed))
	} else {
		var files []*archive.BufferedFile
		if files, err = included(r.Files); err != nil {
			return nil, err
		}
		c, err = loader.LoadFiles(files)
	}
	if err != nil {
		return nil, fmt.Errorf("load the chart: %w", err)
	}
	if c.Metadata.Type == "library" {
		return nil, errors.New("the chart is a library, which renders no objects")
	}
	return c, nil
}

// included returns the files of a chart that its .helmignore includes, sorted.
func included(files map[string][]byte) (all []*archive.BufferedFile, err error) {
	rules := ignore.Empty()
	if data, ok := files[ignore.HelmIgnore]; ok {
		if rules, err = ignore.Parse(bytes.NewReader(data)); err != nil {
			return nil, fmt.Errorf("read %s: %w", ignore.HelmIgnore, err)
		}
	}
	rules.AddDefaults()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		excluded := rules.Ignore(name, entry{name: name})
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			excluded = excluded || rules.Ignore(dir, entry{name: dir, dir: true})
		}
		if !excluded {
			all = append(all, &archive.BufferedFile{Name: name, Data: bytes.TrimPrefix(files[name], []byte("\ufeff"))})
		}
	}
	return all, nil
}

// An entry describes a file or a folder of a chart for the rules of .helmignore.
type entry struct {
	name string
	dir  bool
}

// Name, Size, Mode, ModTime, IsDir and Sys implement fs.FileInfo.
func (e entry) Name() string       { return path.Base(e.name) }
func (e entry) Size() int64        { return 0 }
func (e entry) ModTime() time.Time { return time.Time{} }
func (e entry) IsDir() bool        { return e.dir }
func (e entry) Sys() any           { return nil }
func (e entry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir
	}
	return 0
}

// vendored returns an error for a dependency that the chart does not contain.
func vendored(c *v2.Chart) error {
	there := map[string]bool{}
	for _, d := range c.Dependencies() {
		there[d.Name()] = true
	}
	for _, d := range c.Metadata.Dependencies {
		if !there[d.Name] {
			return fmt.Errorf("its dependency %s %s is not in charts/. Run \"helm dependency build\", and commit charts/", d.Name, d.Version)
		}
	}
	return nil
}

// merged returns the values of a release.
func merged(all []chart.Value) (map[string]any, error) {
	values := map[string]any{}
	for _, v := range all {
		var err error
		switch {
		case v.Path == "":
			var one map[string]any
			if one, err = loader.LoadValues(strings.NewReader(v.Data)); err == nil {
				values = loader.MergeMaps(values, one)
			}
		case v.Whole:
			err = strvals.ParseIntoString(v.Path+"="+verbatim.Replace(v.Data), values)
		case v.Text:
			err = strvals.ParseIntoString(v.Path+"="+v.Data, values)
		default:
			err = strvals.ParseInto(v.Path+"="+v.Data, values)
		}
		switch {
		case err != nil && v.Path != "": // the error would show parts of the value, which may be secret
			return nil, fmt.Errorf("read the value of %s: it does not have the syntax of --set", v.Path)
		case err != nil:
			return nil, fmt.Errorf("read the values: %w", err)
		}
	}
	return values, nil
}

// verbatim escapes the syntax of --set in a value.
var verbatim = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`)

// capable returns the capabilities of the cluster.
func capable(r chart.Request) (*common.Capabilities, error) {
	c := common.DefaultCapabilities.Copy()
	c.APIVersions = slices.Concat(c.APIVersions, r.APIs)
	if r.Kubernetes != "" {
		version, err := common.ParseKubeVersion(r.Kubernetes)
		if err != nil {
			return nil, fmt.Errorf("read the version of Kubernetes: %w", err)
		}
		c.KubeVersion = *version
	}
	return c, nil
}
