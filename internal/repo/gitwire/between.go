package gitwire

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// A window is larger than gitlatch reads once it has so many bytes of packed
// commits, about 150 each, or so many commits.
const (
	windowBytes   = 4 << 20
	windowCommits = 30_000
)

// Between is one request, of which the server works out the answer. The tip is
// kept where its root tree came with it; without, reading it would be dearer. See
// repo.Repository.
func (r *Repository) Between(ctx context.Context, base, tip string) (_ repo.Window, err error) {
	defer r.turns.Take(&err, "read what is new in %s", r.remote)()
	from, err := parseID(base)
	if err != nil {
		return repo.Window{}, err
	}
	to, err := parseID(tip)
	if err != nil {
		return repo.Window{}, err
	}
	if from == to {
		return repo.Window{Descends: true}, ctx.Err()
	}
	objs := newObjects()
	whole, err := r.remote.between(ctx, objs, from, to)
	if spooled, ok := objs.disk.(*spool); ok {
		defer func() { err = errors.Join(err, spooled.close()) }()
	}
	switch {
	case errors.Is(err, errTooMuch):
		return repo.Window{Cut: true}, nil
	case err != nil:
		return repo.Window{}, err
	case !objs.has(to) && whole:
		return repo.Window{}, nil // the base leads to it
	case !objs.has(to):
		return repo.Window{}, fmt.Errorf("commit %s is not there", to)
	}
	r.objects.trim()
	r.objects.take(objs, to)
	return window(objs, from, to, whole)
}

// window walks through the commits at hand.
func window(objs *objects, base, tip plumbing.Hash, whole bool) (repo.Window, error) {
	// What a server left out is older than the base: a commit without a past.
	older := map[string]bool{}
	found, err := repo.Walk(base.String(), tip.String(), windowCommits, func(id string) (repo.LogEntry, bool, error) {
		entry, ok, err := objs.entry(id)
		if !ok && err == nil {
			older[id] = whole
			return repo.LogEntry{ID: id}, whole, nil
		}
		return entry, ok, err
	})
	var inside []repo.LogEntry
	for _, c := range found.Commits {
		if !older[c.ID] {
			inside = append(inside, c)
		}
	}
	found.Commits = inside
	return found, err
}

// between says which commit it has. The commits come with their root trees, unless
// that is too much or refused. From a server without partial clone come the files
// that they changed, too, onto disk, until the window is known.
func (s *server) between(ctx context.Context, into *objects, base, commit plumbing.Hash) (whole bool, err error) {
	w := want{ids: []plumbing.Hash{commit}, have: base}
	return true, s.attempt(ctx, func() error {
		if s.has.filter {
			w.filter = s.window
			err := s.commits(ctx, into, w)
			if s.window != "tree:0" && (errors.Is(err, errTooMuch) || inProtocol(err)) {
				s.window, w.filter = "tree:0", "tree:0"
				err = s.commits(ctx, into, w)
			}
			return err
		}
		w.filter = ""
		disk, err := s.spool(ctx, w, "without partial clone (uploadpack.allowFilter) it sends every file that changed")
		if err == nil {
			into.disk = disk
		}
		return err
	})
}

// commits fetches those of a window into memory.
func (s *server) commits(ctx context.Context, into *objects, w want) error {
	most := bound{windowBytes, "the branch moved by too many commits"}
	return s.pack(ctx, w, most, func(pack io.Reader) error { return into.unpack(ctx, pack) })
}
