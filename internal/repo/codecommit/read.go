package codecommit

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Read takes a request for each folder and each file that it has not seen yet.
// The id of a directory is its tree's, that of a file its blob's. See
// repo.Repository.
func (r *Repository) Read(ctx context.Context, commit string,
	known map[string]string, paths ...string) (_ map[string]repo.Object, err error) {
	defer r.turns.Take(&err, "read %s", r)()
	problems := []error{ctx.Err(), repo.CheckCommit(commit)}
	for _, path := range paths {
		problems = append(problems, repo.CheckPath(repo.ParseScope(path).Path))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	r.seen.trim()
	found := make(map[string]repo.Object, len(paths))
	for _, path := range paths {
		if found[path], err = r.object(ctx, commit, path, known[path]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (r *Repository) object(ctx context.Context, commit, asked, known string) (o repo.Object, err error) {
	scope := repo.ParseScope(asked)
	at, ok, err := r.find(ctx, commit, scope.Path)
	if !ok || err != nil {
		return o, err
	}
	o.ID = at.id
	if o.ID == known {
		return o, nil
	}
	read := &reading{Repository: r, commit: commit, scope: scope, unsafe: map[string]string{}}
	if o.Files, err = read.files(ctx, at); err != nil {
		return repo.Object{}, err
	}
	if why := read.unsafe[scope.Path]; why != "" {
		return repo.Object{}, &repo.UnsafeError{Path: scope.Path, Why: why}
	}
	if len(read.unsafe) > 0 {
		o.Unsafe = read.unsafe
	}
	return o, nil
}

// find returns what is at a path. Where nothing is ok is false, and at the file
// that is in the way, if there is one.
func (r *Repository) find(ctx context.Context, commit, path string) (at place, ok bool, err error) {
	at = root(commit)
	for name := range strings.SplitSeq(path, "/") {
		if at.kind != repo.Folder {
			return at, false, nil
		}
		f, err := r.folder(ctx, commit, at)
		if err != nil {
			return place{}, false, err
		}
		at, ok = f.below(at.path)[name]
		if !ok {
			return place{}, false, nil
		}
		if why := at.kind.Unsafe(); why != "" {
			return place{}, false, &repo.UnsafeError{Path: at.path, Why: why}
		}
	}
	return at, true, nil
}

// differing returns the paths of the files that are not the same at two places,
// each of another commit. It looks only into folders whose ids differ.
func (r *Repository) differing(ctx context.Context, commits [2]string, at [2]place) (paths []string, err error) {
	var sides [2]map[string]place
	for i := range at {
		if at[i].kind != repo.Folder || at[i].id == "" {
			continue // nothing is below
		}
		f, err := r.folder(ctx, commits[i], at[i])
		if err != nil {
			return nil, err
		}
		sides[i] = f.below(at[i].path)
	}
	names := slices.Concat(slices.Collect(maps.Keys(sides[0])), slices.Collect(maps.Keys(sides[1])))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		pair := [2]place{sides[0][name], sides[1][name]}
		if pair[0].entry == pair[1].entry {
			continue
		}
		for _, p := range pair {
			if p.id != "" && p.kind != repo.Folder {
				paths = append(paths, p.path)
			}
		}
		below, err := r.differing(ctx, commits, pair)
		if err != nil {
			return nil, err
		}
		paths = append(paths, below...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
