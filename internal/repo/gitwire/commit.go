package gitwire

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
)

const (
	// tries is how often Commit pushes to a branch that does not move.
	tries = 4
	// recent is how many commits of a moved branch landed searches for the pushed commit.
	recent = 20
)

// Commit pushes a few objects. It does not interpret the message of a failed push,
// because hosts word it differently and an answer can be lost. It reads the branch and
// checks whether the commit is on it. See repo.Repository. An error before the push can
// be any error.
func (r *Repository) Commit(ctx context.Context, c repo.Commit) (_ string, err error) {
	defer r.turns.Take(&err, "commit to %s", r.remote)()
	if err := c.Check(r.base.Short()); err != nil {
		return "", err
	}
	made, err := r.make(ctx, c)
	if err != nil {
		return "", err
	}
	id := made[len(made)-1].ID()
	if err := r.land(ctx, r.move(c), id, made); err != nil {
		return "", err
	}
	for _, obj := range made {
		r.objects.Add(obj)
	}
	if c.Branch == "" {
		r.objects.Keep(id)
	} else {
		r.objects.Trim() // the next proposal starts from the base again
	}
	return id.String(), nil
}

// A move is the branch to move and the head that it must have; a zero head means that the
// branch must not exist.
type move struct {
	branch plumbing.ReferenceName
	from   plumbing.Hash
}

func (r *Repository) move(c repo.Commit) move {
	if c.Branch == "" {
		return move{r.base, plumbing.NewHash(c.Parent)}
	}
	return move{plumbing.NewBranchReferenceName(c.Branch), plumbing.NewHash(c.Expect)}
}

// make returns the objects of a commit. The commit is the last.
func (r *Repository) make(ctx context.Context, c repo.Commit) (made []pack.Object, err error) {
	parent := plumbing.NewHash(c.Parent)
	var tree plumbing.Hash
	err = r.look(ctx, parent, func(l look) error {
		h, ok, err := l.commit(parent)
		if !ok {
			return err
		}
		e := &edit{look: l}
		tree, err = e.splice(h.Tree, "", c.Files)
		made = e.made
		return err
	})
	if err != nil {
		return nil, err
	}
	commit, err := r.signed(pack.CommitObject(tree, parent, r.author.String(), c.When, c.Message))
	return append(made, commit), err
}

// signed returns the commit with its signature, or unchanged if no signer is set. The
// signature covers the complete commit without the signature.
func (r *Repository) signed(commit pack.Object) (pack.Object, error) {
	if r.signer == nil {
		return commit, nil
	}
	signature, err := r.signer.Sign(commit.Data)
	if err != nil {
		return pack.Object{}, fmt.Errorf("sign the commit: %w", err)
	}
	return pack.WithSignature(commit, signature), nil
}

// land pushes until the branch has the commit, or an error is final.
func (r *Repository) land(ctx context.Context, m move, id plumbing.Hash, made []pack.Object) error {
	for try := 1; ; try++ {
		failed := r.remote.Push(ctx, m.branch, m.from, made)
		if failed == nil {
			return nil
		}
		switch landed, err := r.landed(ctx, m, id); {
		case err != nil:
			return err
		case landed:
			return nil
		}
		var no *wire.Refusal
		if try == tries || errors.As(failed, &no) && no.Final {
			_, onDisk := r.remote.(*local)
			return &repo.RefusedError{Why: sanitize.Answer(failed.Error()), OnDisk: onDisk}
		}
		if err := r.pause(ctx, try); err != nil {
			return fmt.Errorf("%w: %w", repo.ErrUnknown, err)
		}
	}
}

// landed reads the branch after a failed push and reports whether it has the commit. It
// returns repo.ErrMoved if the branch has another commit.
func (r *Repository) landed(ctx context.Context, m move, id plumbing.Hash) (bool, error) {
	heads, err := r.remote.Heads(ctx, []plumbing.ReferenceName{m.branch})
	if err != nil {
		return false, fmt.Errorf("%w: %w", repo.ErrUnknown, err)
	}
	switch heads[0] {
	case id:
		return true, nil
	case m.from:
		return false, nil
	case plumbing.ZeroHash:
		return false, repo.ErrMoved
	}
	log, _, err := r.history(ctx, heads[0], id.String(), recent)
	if err != nil {
		return false, fmt.Errorf("%w: %w", repo.ErrUnknown, err)
	}
	if !slices.ContainsFunc(log, func(e repo.LogEntry) bool { return e.ID == id.String() }) {
		return false, repo.ErrMoved
	}
	return true, nil
}
