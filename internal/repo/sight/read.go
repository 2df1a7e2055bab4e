package sight

import (
	"errors"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// Read implements Repository.Read below a root tree, with the objects in memory.
func (s *Sight) Read(root plumbing.Hash, known map[string]string, asked []string) (map[string]repo.Object, error) {
	found := make(map[string]repo.Object, len(asked))
	for _, path := range asked {
		scope := repo.ParseScope(path)
		e, _, ok, err := s.Find(root, scope.Path)
		if err != nil {
			return nil, err
		}
		if !ok {
			found[path] = repo.Object{}
			continue
		}
		object := repo.Object{ID: e.ID.String()}
		if known[path] != object.ID {
			object.Files = map[string][]byte{}
			w := &reading{Sight: s, scope: scope, into: &object}
			if err := w.files(e, scope, 0); err != nil {
				return nil, err
			}
			if why := object.Unsafe[scope.Path]; why != "" {
				return nil, &repo.UnsafeError{Path: scope.Path, Why: why}
			}
		}
		found[path] = object
	}
	return found, nil
}

// Find returns the entry at a path. ok is false if no entry has the path, or if an object
// on the way is missing. If a file is on the way, at is the path of that file.
func (s *Sight) Find(root plumbing.Hash, path string) (e pack.Entry, at string, ok bool, err error) {
	e = pack.NewEntry("40000", "", root)
	for name := range strings.SplitSeq(path, "/") {
		if e.Kind() != repo.Folder {
			return pack.Entry{}, at, false, nil
		}
		entries, ok, err := s.Tree(e.ID, at)
		if !ok {
			return pack.Entry{}, "", false, err
		}
		e, ok = pack.Named(entries, name)
		if !ok {
			return pack.Entry{}, "", false, nil
		}
		at = strings.TrimPrefix(at+"/"+name, "/")
		if why := e.Kind().Unsafe(); why != "" {
			return pack.Entry{}, "", false, &repo.UnsafeError{Path: at, Why: why}
		}
	}
	return e, at, true, nil
}

// A reading is the state of the walk below one path.
type reading struct {
	*Sight
	scope repo.Scope
	into  *repo.Object
	paths int // number of files and folders so far
}

// files adds the content of an entry, and of all entries in scope below it, by path. It
// notes the reason for each entry that it does not read.
func (w *reading) files(e pack.Entry, scope repo.Scope, levels int) error {
	w.paths++
	err := w.add(e, scope, levels)
	var u unread
	if !errors.As(err, &u) {
		return err
	}
	if w.into.Unsafe == nil {
		w.into.Unsafe = map[string]string{}
	}
	w.into.Unsafe[scope.Path] = u.why
	return nil
}

func (w *reading) add(e pack.Entry, scope repo.Scope, levels int) error {
	switch why := scope.Refuses(e.Kind(), levels); {
	case w.scope.Whole() && w.paths > repo.MostPaths:
		return &repo.UnsafeError{Path: w.scope.Path, Why: repo.TooMany}
	case why != "":
		return unread{why}
	case e.Kind() == repo.File:
		return w.file(e, scope.Path)
	}
	entries, _, err := w.tree(e.ID, scope.Path)
	for _, below := range entries {
		if to, ok := scope.Below(below.Name); ok && err == nil {
			err = w.files(below, to, levels+1)
		}
	}
	return err
}

func (w *reading) file(e pack.Entry, path string) error {
	data, ok, err := w.Need(e.ID, Place{plumbing.BlobObject, path})
	switch {
	case err != nil:
		return err
	case ok && repo.IsLFS(data):
		return unread{"is a Git LFS pointer"}
	}
	w.into.Files[path] = data
	return nil
}
