package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Lister reads objects of a cluster.
type Lister interface {
	// List returns all objects of a kind as JSON. It returns no objects if the cluster
	// does not have the kind.
	List(ctx context.Context, path, resource, kind string) ([]json.RawMessage, error)
	// Get returns one object as JSON, or nil if the object does not exist.
	Get(ctx context.Context, path string) (json.RawMessage, error)
	// Minor returns the minor version of the API server, as in Kubernetes 1.x.
	Minor(ctx context.Context) (int, error)
}

// ReadCluster reads the cluster. It lists in Unread the parts that could not be read and
// that findings need, and in Objects.Unknown those that the placement needs.
func ReadCluster(ctx context.Context, from Lister, kinds workload.Kinds) Cluster {
	c := Cluster{Kinds: kinds, definitions: map[workload.Kind]definition{}, clients: map[workload.ID]bool{}}
	unread := func(what string, err error) {
		if err != nil {
			c.Unread = append(c.Unread, workload.Unread{Part: what, Why: err.Error()})
		}
	}
	minor, err := from.Minor(ctx)
	unread("version", err)
	c.Minor = minor
	for _, s := range Sources() {
		err := read(ctx, from, s.Path, s.Resource, s.Kind, func(o []byte) error { return c.Add(s.Kind, o) })
		unread(s.Name, err)
		if limits := []string{"ResourceQuota", "Namespace"}; slices.Contains(limits, s.Kind) {
			c.fail(s.Name, false, err)
		}
	}
	for _, k := range objects.Kinds() {
		c.fail(k.Name, k.Adds, read(ctx, from, k.Path, k.Resource, k.Kind, func(o []byte) error { return c.Objects.Add(k.Kind, o) }))
	}
	for _, kind := range kinds.All() {
		if o, _ := kinds.Object(kind); o.Resource != "" { // only checkpoint files have another kind
			add := func(one []byte) error {
				c.client(kind, o, one)
				return c.Objects.AddWorkload(kind, o.Replicas, one)
			}
			c.fail(o.FullResource(), false, read(ctx, from, o.Path(), o.Resource, o.Kind, add))
		}
	}
	for _, namespace := range c.controllers() {
		data, err := from.Get(ctx, "/api/v1/namespaces/"+namespace+"/configmaps/"+settings)
		if err == nil && data != nil { // if the ConfigMap does not exist, Argo CD uses its defaults
			err = c.govern(namespace, data)
		}
		unread("configmaps "+namespace+"/"+settings, err)
	}
	for kind, o := range kinds {
		if o.Resource == "" {
			continue // only checkpoint files have this kind
		}
		var d definition
		data, err := from.Get(ctx, definitions+o.FullResource())
		if err == nil && json.Unmarshal(data, &d) == nil { // without this right, only the comparison of kinds is missing
			c.definitions[kind] = d
		}
	}
	return c
}

// read passes each object of a kind to add.
func read(ctx context.Context, from Lister, path, resource, kind string, add func([]byte) error) error {
	all, err := from.List(ctx, path, resource, kind)
	for _, o := range all {
		err = errors.Join(err, add(o))
	}
	return err
}

// fail adds a reading for the placement that failed. adds is as in fit.Reading.
func (c *Cluster) fail(name string, adds bool, err error) {
	if err != nil {
		c.Objects.Unknown = append(c.Objects.Unknown, fit.Reading{Name: name, Why: err.Error(), Adds: adds})
	}
}

// deepest is the maximum number of times that a build is searched for missing files.
const deepest = 20

// ReadOverlays builds folders of a repository at a commit. It skips a folder that does
// not exist, because its object may apply another repository. If a user named the folder,
// it returns an error.
func ReadOverlays(ctx context.Context, from repo.Repository, commit string, builds []Build, charts Charts) ([]Overlay, error) {
	r := reader{from: from, commit: commit, files: map[string][]byte{}, unsafe: map[string]string{}, asked: map[string]bool{}}
	var all []Overlay
	for _, b := range builds {
		o := Overlay{By: b.By, Namespace: b.Namespace}
		there, err := r.fetch(ctx, b)
		var unsafe *repo.UnsafeError
		switch {
		case errors.As(err, &unsafe): // such a folder cannot be built
			o.Dir, o.Err = b.Dir, err
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", b.Dir, err)
		case !there && b.By == ByPath:
			return nil, fmt.Errorf("--path or build.paths: folder %s does not exist on the branch", b.Dir)
		case !there && !b.elsewhere():
			continue
		case b.elsewhere() || b.isChart(b.takes(r.files)):
			o.Overlay, o.Err = b.render(ctx, r, charts, all)
			o.Dir, o.Chart = b.Dir, true
		default:
			o.Overlay, o.Err = b.build(r.files)
			taken := b.takes(r.files)
			o.Dir, o.Within = b.Dir, b.within(o, taken)
			o.Sites = b.sites(o.Folders, taken)
			o.Generated = !hasKustomization(taken, b.Dir)
			o.Dropped = o.Generated && hasKustomization(r.files, b.Dir)
		}
		all = append(all, o)
	}
	return all, nil
}

func hasKustomization(files map[string][]byte, dir string) bool {
	return slices.ContainsFunc(gitops.KustomizationNames(), func(name string) bool {
		_, has := files[path.Join(dir, name)]
		return has
	})
}

// sites returns the sites whose Components or checkpoint files a build includes, sorted. A
// folder without a kustomization includes the files below it.
func (b Build) sites(folders []gitops.Folder, files map[string][]byte) []string {
	var included []string
	for _, f := range folders {
		included = append(included, f.Dir)
		included = append(included, f.Components...)
	}
	if !hasKustomization(files, b.Dir) {
		for file := range files {
			if below(file, b.Dir) && path.Base(file) == path.Base(checkpoint.RecordPath("", "")) {
				included = append(included, file)
			}
		}
	}
	found := map[string]bool{}
	for _, at := range included {
		if part := strings.Split(at, "/"); len(part) > 1 && part[0] == "checkpoints" {
			found[part[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// within builds each folder of an overlay that includes Components, apart from the
// overlay's own folder.
func (b Build) within(o Overlay, files map[string][]byte) map[string][]gitops.Object {
	built := map[string][]gitops.Object{}
	for _, f := range o.Folders {
		if o.Err != nil || f.Dir == o.Dir || len(f.Components) == 0 {
			continue
		}
		if one, err := gitops.Build(files, f.Dir, gitops.Edits{}, b.kinds); err == nil {
			built[f.Dir] = one.Workloads
		}
	}
	return built
}

// build builds the folder from the files that its source includes. If the build succeeds
// only with all files, the error states that the tool excludes a file.
func (b Build) build(files map[string][]byte) (gitops.Overlay, error) {
	o, err := gitops.Build(b.takes(files), b.Dir, b.Edits, b.kinds)
	if err == nil {
		return o, nil
	}
	if _, whole := gitops.Build(files, b.Dir, b.Edits, b.kinds); whole == nil {
		err = fmt.Errorf("%w: the file is in git, but the GitOps tool excludes it. Include it in %s, spec.ignore of the GitRepository, or directory.include of the Application", err, sourceIgnore)
	}
	return o, err
}

// A reader caches the files of a commit.
type reader struct {
	from   repo.Repository
	commit string
	files  map[string][]byte
	unsafe map[string]string // the reason why a file is missing, by path
	asked  map[string]bool
}

// fetch reads a folder and every file that its build refers to. It reports whether the
// folder exists.
func (r *reader) fetch(ctx context.Context, b Build) (there bool, err error) {
	folder := append(b.asks(), b.Dir)
	switch {
	case b.elsewhere():
		folder = b.asks()
	case b.Dir == ".":
		folder = append(b.asks(), gitops.KustomizationNames()...) // do not read the full repository, which may be large
	}
	if err := r.read(ctx, append(folder, b.source.asks(folder)...)...); err != nil {
		return false, err
	}
	for name := range b.takes(r.files) {
		there = there || below(name, b.Dir) || b.release != nil && (name == b.Dir || b.Dir == "." && name == "Chart.yaml")
	}
	if b.elsewhere() || b.isChart(b.takes(r.files)) {
		return there, nil
	}
	for range deepest {
		missing, _ := b.Edits.Missing(b.takes(r.files), b.Dir) // the build reports this error
		if !slices.ContainsFunc(missing, func(at string) bool { return !r.asked[at] }) {
			break
		}
		if err := r.read(ctx, append(missing, b.source.asks(missing)...)...); err != nil {
			return there, err
		}
	}
	return there, nil
}

// below reports whether a file is in a folder. The root contains only its kustomization.
func below(name, dir string) bool {
	if dir == "." {
		return slices.Contains(gitops.KustomizationNames(), name)
	}
	return strings.HasPrefix(name, dir+"/")
}

// read reads the paths that it has not requested before. An invalid path counts as
// missing.
func (r *reader) read(ctx context.Context, paths ...string) error {
	paths = slices.DeleteFunc(slices.Clone(paths), func(at string) bool {
		asked := r.asked[at]
		r.asked[at] = true
		return asked || repo.CheckPath(at) != nil
	})
	if len(paths) == 0 {
		return nil
	}
	objects, err := r.from.Read(ctx, r.commit, nil, paths...)
	if err != nil {
		return err
	}
	for _, at := range paths {
		maps.Copy(r.files, objects[at].Files)
		maps.Copy(r.unsafe, objects[at].Unsafe)
	}
	return nil
}
