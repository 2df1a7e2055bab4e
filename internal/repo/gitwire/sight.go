package gitwire

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// A sight reads the objects at hand and notes those that it would have needed.
// What is computed from it counts only once nothing is missing; so reading and
// editing are plain functions, run again after each fetch.
type sight struct {
	*objects
	missing []plumbing.Hash
}

func (s *sight) need(kind plumbing.ObjectType, id plumbing.Hash) ([]byte, bool) {
	data, ok := s.get(kind, id)
	if !ok {
		s.missing = append(s.missing, id)
	}
	return data, ok
}

func (s *sight) commit(id plumbing.Hash) (h header, ok bool, err error) {
	data, ok := s.need(plumbing.CommitObject, id)
	if !ok {
		return header{}, false, nil
	}
	if h, err = parseCommit(data); err != nil {
		return header{}, false, fmt.Errorf("commit %s: %w", id, err)
	}
	return h, true, nil
}

func (s *sight) tree(id plumbing.Hash) (entries []entry, ok bool, err error) {
	data, ok := s.need(plumbing.TreeObject, id)
	if !ok {
		return nil, false, nil
	}
	if entries, err = parseTree(data); err != nil {
		return nil, false, fmt.Errorf("tree %s: %w", id, err)
	}
	return entries, true, nil
}

// read is Repository.Read on what is at hand.
func (s *sight) read(commit plumbing.Hash, known map[string]string, paths []string) (map[string]repo.Object, error) {
	h, ok, err := s.commit(commit)
	if !ok {
		return nil, err
	}
	found := make(map[string]repo.Object, len(paths))
	for _, path := range paths {
		e, ok, err := s.find(h.tree, path)
		if err != nil {
			return nil, err
		}
		if !ok {
			found[path] = repo.Object{}
			continue
		}
		object := repo.Object{ID: e.id.String()}
		if known[path] != object.ID {
			object.Files = map[string][]byte{}
			if err := s.files(e, path, &object); err != nil {
				return nil, err
			}
			if why := object.Unsafe[path]; why != "" {
				return nil, &repo.UnsafeError{Path: path, Why: why}
			}
		}
		found[path] = object
	}
	return found, nil
}

// find returns the entry at a path; ok is false where there is none, or where
// that cannot be told yet.
func (s *sight) find(tree plumbing.Hash, path string) (e entry, ok bool, err error) {
	e = entry{mode: "40000", id: tree}
	var walked string
	for name := range strings.SplitSeq(path, "/") {
		if e.what() != aTree {
			return entry{}, false, nil
		}
		entries, ok, err := s.tree(e.id)
		if !ok {
			return entry{}, false, err
		}
		if e, ok = named(entries, name); !ok {
			return entry{}, false, nil
		}
		walked = join(walked, name)
		if why := e.what().unsafe(); why != "" {
			return entry{}, false, &repo.UnsafeError{Path: walked, Why: why}
		}
	}
	return e, true, nil
}

// files adds the content of an entry, and of all below it, by path.
func (s *sight) files(e entry, path string, into *repo.Object) error {
	why := e.what().unsafe()
	if why == "" && e.what() == aFile {
		data, ok := s.need(plumbing.BlobObject, e.id)
		if !ok || !repo.IsLFS(data) {
			into.Files[path] = data
			return nil
		}
		why = "is a Git LFS pointer"
	}
	if why != "" {
		if into.Unsafe == nil {
			into.Unsafe = map[string]string{}
		}
		into.Unsafe[path] = why
		return nil
	}
	entries, _, err := s.tree(e.id)
	for _, below := range entries {
		if err := s.files(below, join(path, below.name), into); err != nil {
			return err
		}
	}
	return err
}

func named(entries []entry, name string) (entry, bool) {
	for _, e := range entries {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
