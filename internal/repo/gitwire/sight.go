package gitwire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// A sight reads the objects at hand and notes those that it would have needed.
// What is computed from it counts only once nothing is missing; so reading and
// editing are plain functions, run again after each fetch.
type sight struct {
	*pack.Objects
	ctx   context.Context
	asked map[plumbing.Hash]bool // what was fetched for; of what is not at hand there is none
	// missing is what to fetch, and whole what of it to fetch with all below it.
	missing, whole map[plumbing.Hash]bool
	blobs          map[plumbing.Hash]bool // the missing blobs, which have nothing below them
}

func newSight(ctx context.Context, at *pack.Objects, asked map[plumbing.Hash]bool) *sight {
	return &sight{Objects: at, ctx: ctx, asked: asked, missing: map[plumbing.Hash]bool{},
		whole: map[plumbing.Hash]bool{}, blobs: map[plumbing.Hash]bool{}}
}

// parts returns the ids of the missing objects: those to fetch alone, and those to fetch with
// all below them. If there are any of the second, the blobs are fetched with them: that is one
// request fewer if no tree is fetched alone.
func (s *sight) parts() (alone, whole []plumbing.Hash) {
	ids := slices.SortedFunc(maps.Keys(s.missing), func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	join := slices.ContainsFunc(ids, func(id plumbing.Hash) bool { return s.whole[id] })
	for _, id := range ids {
		if s.whole[id] || join && s.blobs[id] {
			whole = append(whole, id)
		} else {
			alone = append(alone, id)
		}
	}
	return alone, whole
}

// need returns an object; ok is false where it is missing, and is fetched. One
// that cannot be had is an error, which says why.
func (s *sight) need(kind plumbing.ObjectType, id plumbing.Hash) (data []byte, ok bool, err error) {
	if err := s.ctx.Err(); err != nil {
		return nil, false, err
	}
	data, ok = s.Get(kind, id)
	switch {
	case ok:
		return data, true, nil
	case s.Large[id]:
		return nil, false, unread{repo.TooLarge}
	case s.asked[id]:
		return nil, false, unread{repo.Missing}
	}
	s.missing[id] = true
	s.blobs[id] = kind == plumbing.BlobObject
	return nil, false, nil
}

// unread says why an object cannot be had.
type unread struct{ why string }

func (u unread) Error() string { return u.why }

// at gives an error the path of an object that cannot be had.
func at(path string, err error) error {
	var u unread
	if errors.As(err, &u) {
		return &repo.UnsafeError{Path: path, Why: u.why}
	}
	return err
}

func (s *sight) commit(id plumbing.Hash) (h pack.Header, ok bool, err error) {
	data, ok, err := s.need(plumbing.CommitObject, id)
	if err == nil && ok {
		h, err = pack.ParseCommit(data)
	}
	if err != nil {
		return pack.Header{}, false, fmt.Errorf("commit %s: %w", id, err)
	}
	return h, ok, nil
}

func (s *sight) tree(id plumbing.Hash) (entries []pack.Entry, ok bool, err error) {
	data, ok, err := s.need(plumbing.TreeObject, id)
	if !ok {
		return nil, false, err
	}
	if entries, err = pack.ParseTree(data); err != nil {
		return nil, false, unread{"is no tree as git writes them"}
	}
	return entries, true, nil
}

// read is Repository.Read on what is at hand.
func (s *sight) read(commit plumbing.Hash, known map[string]string, asked []string) (map[string]repo.Object, error) {
	h, ok, err := s.commit(commit)
	if !ok {
		return nil, err
	}
	found := make(map[string]repo.Object, len(asked))
	for _, path := range asked {
		scope := repo.ParseScope(path)
		e, ok, err := s.find(h.Tree, scope.Path)
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
			w := &reading{sight: s, scope: scope, into: &object}
			if err := w.files(e, scope, 0); err != nil {
				return nil, err
			}
			s.whole[e.ID] = e.Kind() == repo.Folder && !s.Seen[scope.Path]
			if why := object.Unsafe[scope.Path]; why != "" {
				return nil, &repo.UnsafeError{Path: scope.Path, Why: why}
			}
		}
		found[path] = object
	}
	return found, nil
}

// find returns the entry at a path; ok is false where there is none, or where
// that cannot be told yet.
func (s *sight) find(tree plumbing.Hash, path string) (e pack.Entry, ok bool, err error) {
	e = pack.Entry{Mode: "40000", ID: tree}
	var walked string
	for name := range strings.SplitSeq(path, "/") {
		if e.Kind() != repo.Folder {
			return pack.Entry{}, false, nil
		}
		entries, ok, err := s.tree(e.ID)
		if !ok {
			return pack.Entry{}, false, at(cmp.Or(walked, "the root"), err)
		}
		e, ok = named(entries, name)
		if !ok {
			return pack.Entry{}, false, nil
		}
		walked = join(walked, name)
		if why := e.Kind().Unsafe(); why != "" {
			return pack.Entry{}, false, &repo.UnsafeError{Path: walked, Why: why}
		}
	}
	return e, true, nil
}

// A reading is a path that is read, with what is below it.
type reading struct {
	*sight
	scope repo.Scope
	into  *repo.Object
	paths int // files and folders so far
}

// files adds the content of an entry, and of all below it that is in scope, by
// path. What is not read is noted, with the reason.
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
	entries, _, err := w.tree(e.ID)
	for _, below := range entries {
		if to, ok := scope.Below(below.Name); ok && err == nil {
			err = w.files(below, to, levels+1)
		}
	}
	return err
}

func (w *reading) file(e pack.Entry, path string) error {
	data, ok, err := w.need(plumbing.BlobObject, e.ID)
	switch {
	case err != nil:
		return err
	case ok && repo.IsLFS(data):
		return unread{"is a Git LFS pointer"}
	}
	w.into.Files[path] = data
	return nil
}

func named(entries []pack.Entry, name string) (pack.Entry, bool) {
	for _, e := range entries {
		if e.Name == name {
			return e, true
		}
	}
	return pack.Entry{}, false
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
