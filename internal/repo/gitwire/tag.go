package gitwire

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Tag makes a lightweight tag: one ref, by a push of the commit that the server
// has already. See repo.Tagger.
func (r *Repository) Tag(ctx context.Context, name, commit string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.tag(ctx, name, commit)
	if errors.Is(err, repo.ErrMoved) {
		err = repo.ErrTagged
	}
	if err != nil {
		return fmt.Errorf("tag %s of %s: %w", name, r.remote, err)
	}
	return nil
}

func (r *Repository) tag(ctx context.Context, name, commit string) error {
	id, err := parseID(commit)
	if err != nil {
		return err
	}
	if _, err := parseBranch(name); err != nil { // the rules are those of branches
		return err
	}
	ref := plumbing.NewTagReferenceName(name)
	there, err := r.remote.heads(ctx, []plumbing.ReferenceName{ref})
	switch {
	case err != nil:
		return err
	case there[0] == id:
		return nil
	case !there[0].IsZero():
		return repo.ErrTagged
	}
	var data []byte
	if err := r.look(ctx, id, func(s *sight) (err error) {
		data, _, err = s.need(plumbing.CommitObject, id)
		return err
	}); err != nil {
		return err
	}
	return r.land(ctx, move{branch: ref}, id, []object{{plumbing.CommitObject, data}})
}
