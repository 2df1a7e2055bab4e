package codecommit

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/sight"
)

// Read sends one request for each folder and each file that is not in memory. The id of a
// directory is the id of its tree, and the id of a file is the id of its blob. See
// repo.Repository.
func (r *Repository) Read(ctx context.Context, commit string,
	known map[string]string, paths ...string) (_ map[string]repo.Object, err error) {
	defer r.turns.Take(&err, "read %s", r)()
	problems := lists.Map(paths, func(path string) error { return repo.CheckPath(repo.ParseScope(path).Path) })
	problems = append(problems, ctx.Err(), repo.CheckCommit(commit))
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	r.objects.Trim()
	return r.read(ctx, commit, known, paths...)
}

func (r *Repository) read(ctx context.Context, commit string,
	known map[string]string, paths ...string) (found map[string]repo.Object, err error) {
	err = r.look(ctx, commit, func(s *sight.Sight, root plumbing.Hash) (err error) {
		found, err = s.Read(root, known, paths)
		return err
	})
	return found, err
}

// differing returns the paths of the files that differ between two folders at a path,
// each of another commit. It compares only folders with different ids. The zero id is a
// missing folder.
func (r *Repository) differing(ctx context.Context, commits [2]string, at string, folders [2]plumbing.Hash) (paths []string, err error) {
	var sides [2]map[string]pack.Entry
	for i, id := range folders {
		if id.IsZero() {
			continue
		}
		if err := r.look(ctx, commits[i], func(s *sight.Sight, _ plumbing.Hash) error {
			entries, _, err := s.Tree(id, at)
			sides[i] = lists.Index(entries, func(e pack.Entry) string { return e.Name })
			return err
		}); err != nil {
			return nil, err
		}
	}
	names := slices.Concat(slices.Collect(maps.Keys(sides[0])), slices.Collect(maps.Keys(sides[1])))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		pair := [2]pack.Entry{sides[0][name], sides[1][name]}
		if pair[0].Mode == pair[1].Mode && pair[0].ID == pair[1].ID {
			continue
		}
		here := path.Join(at, name)
		var below [2]plumbing.Hash
		for i, e := range pair {
			switch {
			case e.Kind() == repo.Folder:
				below[i] = e.ID
			case e.Mode != "":
				paths = append(paths, here)
			}
		}
		files, err := r.differing(ctx, commits, here, below)
		if err != nil {
			return nil, err
		}
		paths = append(paths, files...)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
