package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Lister reads objects of a cluster.
type Lister interface {
	// List returns all objects of a kind as JSON, and none where the cluster does
	// not have the kind.
	List(ctx context.Context, path, resource, kind string) ([]json.RawMessage, error)
	// Get returns one object as JSON, nil if it does not exist.
	Get(ctx context.Context, path string) (json.RawMessage, error)
	// Minor returns the minor version of Kubernetes 1 that the server is.
	Minor(ctx context.Context) (int, error)
}

// ReadCluster reads the Sources. What cannot be read is said in Unread.
func ReadCluster(ctx context.Context, from Lister, kinds workload.Kinds) Cluster {
	c := Cluster{Kinds: kinds, definitions: map[workload.Kind]definition{}}
	unread := func(what string, err error) {
		if err != nil {
			c.Unread = append(c.Unread, workload.Unread{Part: what, Why: err.Error()})
		}
	}
	minor, err := from.Minor(ctx)
	unread("version", err)
	c.Minor = minor
	for _, s := range Sources() {
		objects, err := from.List(ctx, s.Path, s.Resource, s.Kind)
		for _, o := range objects {
			err = errors.Join(err, c.Add(s.Kind, o))
		}
		unread(s.Name, err)
	}
	for _, namespace := range c.controllers() {
		data, err := from.Get(ctx, "/api/v1/namespaces/"+namespace+"/configmaps/"+settings)
		if err == nil && data != nil { // without the object, Argo CD has its defaults
			err = c.govern(namespace, data)
		}
		unread("configmaps "+namespace+"/"+settings, err)
	}
	for kind, o := range kinds {
		if o.Resource == "" {
			continue // known by what git holds alone
		}
		var d definition
		data, err := from.Get(ctx, definitions+o.FullResource())
		if err == nil && json.Unmarshal(data, &d) == nil { // whoever may not see it loses nothing else
			c.definitions[kind] = d
		}
	}
	return c
}

// deepest bounds how often a build is looked at anew for what it leads to.
const deepest = 20

// ReadOverlays builds folders of a repository at a commit. A folder that is not
// there is left out, since its object may apply another repository; one that a
// person names is an error.
func ReadOverlays(ctx context.Context, from repo.Repository, commit string, builds []Build) ([]Overlay, error) {
	r := reader{from: from, commit: commit, files: map[string][]byte{}, asked: map[string]bool{}}
	var all []Overlay
	for _, b := range builds {
		o := Overlay{By: b.By, Namespace: b.Namespace}
		there, err := r.fetch(ctx, b)
		var unsafe *repo.UnsafeError
		switch {
		case errors.As(err, &unsafe): // there is no building it
			o.Dir, o.Err = b.Dir, err
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", b.Dir, err)
		case !there && b.By == ByPath:
			return nil, fmt.Errorf("--path %s: the folder does not exist on the branch", b.Dir)
		case !there:
			continue
		default:
			o.Overlay, o.Err = b.build(r.files)
			o.Dir, o.Within = b.Dir, b.within(o, b.takes(r.files))
		}
		all = append(all, o)
	}
	return all, nil
}

// within builds the folders of an overlay that include Components.
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

// build builds the folder of the files that the build has. Where all that was
// read would do, the error says so: what is missing is in git for all to see.
func (b Build) build(files map[string][]byte) (gitops.Overlay, error) {
	if chart(files, b.Dir) {
		return gitops.Overlay{}, errChart
	}
	o, err := gitops.Build(b.takes(files), b.Dir, b.Edits, b.kinds)
	if err == nil {
		return o, nil
	}
	if _, whole := gitops.Build(files, b.Dir, b.Edits, b.kinds); whole == nil {
		err = fmt.Errorf("%w: the file is in git, but the GitOps tool excludes it. Include it in %s, spec.ignore of the GitRepository, or directory.include of the Application", err, sourceIgnore)
	}
	return o, err
}

// A reader keeps what was read of a commit.
type reader struct {
	from   repo.Repository
	commit string
	files  map[string][]byte
	asked  map[string]bool
}

// fetch reads a folder and all that its build leads to.
func (r *reader) fetch(ctx context.Context, b Build) (there bool, err error) {
	folder := []string{b.Dir}
	if b.Dir == "." {
		folder = gitops.KustomizationNames() // the whole repository may be large
	}
	if err := r.read(ctx, append(folder, b.source.asks(folder)...)...); err != nil {
		return false, err
	}
	for name := range b.takes(r.files) {
		there = there || below(name, b.Dir)
	}
	for range deepest {
		missing, _ := b.Edits.Missing(b.takes(r.files), b.Dir) // what is wrong with it, its build says
		if !slices.ContainsFunc(missing, func(at string) bool { return !r.asked[at] }) {
			break
		}
		if err := r.read(ctx, append(missing, b.source.asks(missing)...)...); err != nil {
			return there, err
		}
	}
	return there, nil
}

// below reports whether a file is in a folder; of the root only its
// kustomization is.
func below(name, dir string) bool {
	if dir == "." {
		return slices.Contains(gitops.KustomizationNames(), name)
	}
	return strings.HasPrefix(name, dir+"/")
}

// read reads what was not asked for yet. What is no path in a repository is not
// there.
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
	}
	return nil
}
