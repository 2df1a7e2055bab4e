package codecommit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Read takes a request for each folder and each file that it has not seen yet.
// The id of a directory is its tree's, that of a file its blob's. See
// repo.Repository.
func (r *Repository) Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]repo.Object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	problems := []error{ctx.Err(), repo.CheckCommit(commit)}
	for _, path := range paths {
		problems = append(problems, repo.CheckPath(path))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("read %s: %w", r, err)
	}
	r.seen.trim()
	found := make(map[string]repo.Object, len(paths))
	for _, path := range paths {
		var err error
		if found[path], err = r.object(ctx, commit, path, known[path]); err != nil {
			return nil, fmt.Errorf("read %s: %w", r, err)
		}
	}
	return found, nil
}

func (r *Repository) object(ctx context.Context, commit, path, known string) (o repo.Object, err error) {
	at, ok, err := r.find(ctx, commit, path)
	if !ok || err != nil {
		return o, err
	}
	if o.ID = at.id; o.ID == known {
		return o, nil
	}
	if err := r.files(ctx, commit, at, &o); err != nil {
		return repo.Object{}, err
	}
	if why := o.Unsafe[path]; why != "" {
		return repo.Object{}, &repo.UnsafeError{Path: path, Why: why}
	}
	return o, nil
}

// find returns what is at a path; ok is false where nothing is.
func (r *Repository) find(ctx context.Context, commit, path string) (at place, ok bool, err error) {
	at = root(commit)
	for name := range strings.SplitSeq(path, "/") {
		if at.kind != aFolder {
			return place{}, false, nil
		}
		f, err := r.folder(ctx, commit, at)
		if err != nil {
			return place{}, false, err
		}
		if at, ok = f.below(at.path)[name]; !ok {
			return place{}, false, nil
		}
		if why := at.kind.unsafe(); why != "" {
			return place{}, false, &repo.UnsafeError{Path: at.path, Why: why}
		}
	}
	return at, true, nil
}

// files adds the content of a file, or of all files below a folder, by path, and
// what is there that is no file.
func (r *Repository) files(ctx context.Context, commit string, at place, into *repo.Object) error {
	into.Files = map[string][]byte{}
	unsafe := func(path, why string) {
		if into.Unsafe == nil {
			into.Unsafe = map[string]string{}
		}
		into.Unsafe[path] = why
	}
	var files []place
	all, err := r.walk(ctx, commit, at)
	if err != nil {
		return err
	}
	for _, p := range all {
		if why := p.kind.unsafe(); why != "" {
			unsafe(p.path, why)
		} else {
			files = append(files, p)
		}
	}
	contents, large := make([][]byte, len(files)), make([]bool, len(files))
	err = each(ctx, len(files), func(ctx context.Context, i int) (err error) {
		contents[i], err = r.blob(ctx, files[i].id)
		if large[i] = errors.Is(err, errTooLarge); large[i] {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, file := range files {
		switch {
		case large[i]:
			unsafe(file.path, errTooLarge.Error())
		case repo.IsLFS(contents[i]):
			unsafe(file.path, "is a Git LFS pointer")
		default:
			into.Files[file.path] = contents[i]
		}
	}
	return nil
}

// walk returns all that is no folder at a place and below, a level of folders at
// a time.
func (r *Repository) walk(ctx context.Context, commit string, at place) (leaves []place, err error) {
	for level := []place{at}; len(level) > 0; {
		var folders, next []place
		for _, p := range level {
			if p.kind == aFolder {
				folders = append(folders, p)
			} else {
				leaves = append(leaves, p)
			}
		}
		found, err := r.list(ctx, commit, folders)
		if err != nil {
			return nil, err
		}
		for i, f := range found {
			places := f.below(folders[i].path)
			for _, name := range slices.Sorted(maps.Keys(places)) {
				next = append(next, places[name])
			}
		}
		level = next
	}
	return leaves, nil
}

// differing returns the paths of the files that are not the same at two places,
// each of another commit. It looks only into folders whose ids differ.
func (r *Repository) differing(ctx context.Context, commits [2]string, at [2]place) (paths []string, err error) {
	var sides [2]map[string]place
	for i := range at {
		if at[i].kind != aFolder || at[i].id == "" {
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
			if p.id != "" && p.kind != aFolder {
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
