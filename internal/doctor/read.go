package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// A Lister reads objects of a cluster.
type Lister interface {
	// List returns all objects of a kind as JSON, and none where the cluster does
	// not have the kind.
	List(ctx context.Context, path, resource, kind string) ([]json.RawMessage, error)
	// Minor returns the minor version of Kubernetes 1 that the server is.
	Minor(ctx context.Context) (int, error)
}

// ReadCluster reads the Sources. What cannot be read is said in Unread.
func ReadCluster(ctx context.Context, from Lister) Cluster {
	var c Cluster
	unread := func(what string, err error) {
		if err != nil {
			c.Unread = append(c.Unread, what+": "+err.Error())
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
		there, err := r.fetch(ctx, b)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", b.Dir, err)
		case !there && b.By == ByPath:
			return nil, fmt.Errorf("--path %s: the branch has no such folder", b.Dir)
		case !there:
			continue
		}
		o := Overlay{By: b.By, Namespace: b.Namespace}
		o.Overlay, o.Err = gitops.Build(r.files, b.Dir, b.Edits)
		o.Dir = b.Dir
		all = append(all, o)
	}
	return all, nil
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
	before := len(r.files)
	if err := r.read(ctx, b.Dir); err != nil {
		return false, err
	}
	there = len(r.files) > before || slices.ContainsFunc(slices.Collect(maps.Keys(r.files)), func(name string) bool { return below(name, b.Dir) })
	for range deepest {
		missing, _ := b.Edits.Missing(r.files, b.Dir) // what is wrong with it, its build says
		if !slices.ContainsFunc(missing, func(at string) bool { return !r.asked[at] }) {
			break
		}
		if err := r.read(ctx, missing...); err != nil {
			return there, err
		}
	}
	return there, nil
}

func below(name, dir string) bool {
	for ; name != "." && name != "/"; name = path.Dir(name) {
		if name == dir {
			return true
		}
	}
	return dir == "."
}

// read reads what was not asked for yet.
func (r *reader) read(ctx context.Context, paths ...string) error {
	paths = slices.DeleteFunc(slices.Clone(paths), func(at string) bool { return r.asked[at] })
	if len(paths) == 0 {
		return nil
	}
	objects, err := r.from.Read(ctx, r.commit, nil, paths...)
	if err != nil {
		return err
	}
	for _, at := range paths {
		r.asked[at] = true
		maps.Copy(r.files, objects[at].Files)
	}
	return nil
}
