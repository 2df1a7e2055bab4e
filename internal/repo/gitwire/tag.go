package gitwire

import (
	"context"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/sight"
)

// Tag makes a lightweight tag. It pushes one ref to a commit that the server already has.
// See repo.Tagger.
func (r *Repository) Tag(ctx context.Context, name, commit string) (err error) {
	defer r.turns.Take(&err, "tag %s of %s", name, r.remote)()
	id, err := parseID(commit)
	if err != nil {
		return err
	}
	if _, err := parseBranch(name); err != nil { // tags have the same rules as branches
		return err
	}
	ref := plumbing.NewTagReferenceName(name)
	there, err := r.remote.Heads(ctx, []plumbing.ReferenceName{ref})
	switch {
	case err != nil:
		return err
	case there[0] == id:
		return nil
	case !there[0].IsZero():
		return repo.ErrTagged
	}
	var data []byte
	if err := r.look(ctx, id, func(l look) (err error) {
		data, _, err = l.Need(id, sight.Place{Kind: plumbing.CommitObject})
		return err
	}); err != nil {
		return err
	}
	err = r.land(ctx, move{branch: ref}, id, []pack.Object{{Kind: plumbing.CommitObject, Data: data}})
	if errors.Is(err, repo.ErrMoved) {
		return repo.ErrTagged
	}
	return err
}
