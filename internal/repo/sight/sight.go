// Package sight reads files and folders of a commit from the git objects in memory, and
// lists the missing objects. Reading is a plain function that runs again after each
// fetch, so an adapter only has to fetch objects.
package sight

import (
	"context"
	"errors"
	"maps"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// A Sight reads the objects in memory and notes the missing ones. A result is valid only
// if no object is missing.
type Sight struct {
	*pack.Objects
	// Missing are the objects to fetch.
	Missing map[plumbing.Hash]Place

	ctx   context.Context
	asked map[plumbing.Hash]Place // Look fetched these objects before
}

// A Place is the kind and the path of an object.
type Place struct {
	Kind plumbing.ObjectType
	Path string // of a tree or a blob; "" is the root
}

// New returns a Sight of the objects in memory, before any fetch.
func New(ctx context.Context, at *pack.Objects) *Sight {
	return &Sight{Objects: at, Missing: map[plumbing.Hash]Place{}, ctx: ctx}
}

// Look runs read until no object is missing, and fetches the missing objects in between. It
// fetches each object once.
func Look(ctx context.Context, at *pack.Objects, read, fetch func(*Sight) error) error {
	asked := map[plumbing.Hash]Place{}
	for {
		s := New(ctx, at)
		s.asked = asked
		if err := read(s); err != nil || len(s.Missing) == 0 {
			return err
		}
		if err := fetch(s); err != nil {
			return err
		}
		maps.Copy(asked, s.Missing)
	}
}

// Need returns an object. ok is false if it is missing, and Look then fetches it. The
// error is the reason why the object cannot be read.
func (s *Sight) Need(id plumbing.Hash, at Place) (data []byte, ok bool, err error) {
	if err := s.ctx.Err(); err != nil {
		return nil, false, err
	}
	data, ok = s.Get(at.Kind, id)
	_, asked := s.asked[id]
	switch {
	case ok:
		return data, true, nil
	case s.Large[id]:
		return nil, false, unread{repo.TooLarge}
	case asked:
		return nil, false, unread{repo.Missing}
	}
	s.Missing[id] = at
	return nil, false, nil
}

// Tree returns the entries of the tree at a path. If the tree cannot be read, the error is a
// *repo.UnsafeError.
func (s *Sight) Tree(id plumbing.Hash, path string) (entries []pack.Entry, ok bool, err error) {
	entries, ok, err = s.tree(id, path)
	var u unread
	if errors.As(err, &u) {
		at := path
		if at == "" {
			at = "the root"
		}
		err = &repo.UnsafeError{Path: at, Why: u.why}
	}
	return entries, ok, err
}

func (s *Sight) tree(id plumbing.Hash, path string) (entries []pack.Entry, ok bool, err error) {
	data, ok, err := s.Need(id, Place{plumbing.TreeObject, path})
	if !ok {
		return nil, false, err
	}
	if entries, err = pack.ParseTree(data); err != nil {
		return nil, false, unread{"is not a valid git tree"}
	}
	return entries, true, nil
}

// unread is the reason why an object cannot be read, or must not be.
type unread struct{ why string }

func (u unread) Error() string { return u.why }
