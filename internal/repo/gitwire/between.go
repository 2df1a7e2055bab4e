package gitwire

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// windowCommits is the maximum number of commits of a window.
const windowCommits = 30_000

// Between sends one request, and the server computes the answer. It keeps the tip in
// memory only if the server sent its root tree too: without that tree, the next Read
// would cost more. See repo.Repository.
func (r *Repository) Between(ctx context.Context, base, tip string) (_ repo.Window, err error) {
	defer r.turns.Take(&err, "read the new commits of %s", r.remote)()
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
	objs := pack.NewObjects()
	whole, err := r.remote.Between(ctx, objs, from, to)
	if spooled, ok := objs.Disk.(*pack.Spool); ok {
		defer func() { err = errors.Join(err, spooled.Close()) }()
	}
	switch {
	case errors.Is(err, pack.ErrTooMuch):
		return repo.Window{Cut: true}, nil
	case err != nil:
		return repo.Window{}, err
	case !objs.Has(to) && whole:
		return repo.Window{}, nil // the base descends from the tip
	case !objs.Has(to):
		return repo.Window{}, fmt.Errorf("commit %s is not there", to)
	}
	r.objects.Trim()
	r.objects.Take(objs, to)
	return window(objs, from, to, whole)
}

// window runs repo.Walk over the commits in objs.
func window(objs *pack.Objects, base, tip plumbing.Hash, whole bool) (repo.Window, error) {
	// The server omits commits that the base descends from. Walk sees them without
	// parents.
	older := map[string]bool{}
	found, err := repo.Walk(base.String(), tip.String(), windowCommits, func(id string) (repo.LogEntry, bool, error) {
		entry, ok, err := objs.Entry(id)
		if !ok && err == nil {
			older[id] = whole
			return repo.LogEntry{ID: id}, whole, nil
		}
		return entry, ok, err
	})
	found.Commits = lists.Filter(found.Commits, func(c repo.LogEntry) bool { return !older[c.ID] })
	return found, err
}
