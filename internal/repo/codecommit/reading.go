package codecommit

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// A reading is a path that is read, with what is below it.
type reading struct {
	*Repository
	commit string
	scope  repo.Scope
	unsafe map[string]string // why what is in scope is not read, by path
}

// A spot is a place in scope.
type spot struct {
	place
	scope repo.Scope
}

// files returns the content of a file, or of all files in scope below a folder,
// by path.
func (r *reading) files(ctx context.Context, at place) (map[string][]byte, error) {
	files, err := r.walk(ctx, at)
	if err != nil {
		return nil, err
	}
	held := &contents{of: make([][]byte, len(files))}
	err = repeat(ctx, len(files), func(ctx context.Context, i int) error {
		content, err := r.blob(ctx, files[i].id)
		if errors.Is(err, errTooLarge) {
			return nil // it is not held
		}
		held.put(i, content)
		return err
	})
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for i, file := range files {
		switch content := held.of[i]; {
		case content == nil:
			r.unsafe[file.path] = repo.TooLarge
		case repo.IsLFS(content):
			r.unsafe[file.path] = "is a Git LFS pointer"
		default:
			found[file.path] = content
		}
	}
	return found, nil
}

// walk returns the files in scope at a place and below, a level of folders at a
// time.
func (r *reading) walk(ctx context.Context, at place) (files []place, err error) {
	paths := 0
	for level, depth := []spot{{at, r.scope}}, 0; len(level) > 0; depth++ {
		paths += len(level)
		if r.scope.Whole() && paths > repo.MostPaths {
			return nil, &repo.UnsafeError{Path: r.scope.Path, Why: repo.TooMany}
		}
		var folders []place
		var scopes []repo.Scope
		for _, s := range level {
			switch why := s.scope.Refuses(s.kind, depth); {
			case why != "":
				r.unsafe[s.path] = why
			case s.kind == repo.Folder:
				folders, scopes = append(folders, s.place), append(scopes, s.scope)
			default:
				files = append(files, s.place)
			}
		}
		found, err := r.list(ctx, r.commit, folders)
		if err != nil {
			return nil, err
		}
		level = nil
		for i, at := range folders {
			places := found[at.id].below(at.path)
			for _, name := range slices.Sorted(maps.Keys(places)) {
				if scope, ok := scopes[i].Below(name); ok {
					level = append(level, spot{places[name], scope})
				}
			}
		}
	}
	return files, nil
}
