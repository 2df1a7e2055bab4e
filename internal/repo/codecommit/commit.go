package codecommit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/sanitize"
)

// recent is how many commits below a moved head are searched for ours.
const recent = 20

// Commit makes a commit at the server's time, which is about that of c. Whether
// one landed whose answer was lost, it finds on the branch. See repo.Repository;
// before anything was sent, an error may be any.
func (r *Repository) Commit(ctx context.Context, c repo.Commit) (_ string, err error) {
	defer r.turns.Take(&err, "commit to %s", r)()
	if err := errors.Join(ctx.Err(), c.Check(r.Branch)); err != nil {
		return "", err
	}
	if c.Branch != "" {
		return r.propose(ctx, c)
	}
	c.Branch, c.Expect = r.Branch, c.Parent
	return r.advance(ctx, c)
}

// advance makes a commit on the head that is expected of a branch.
func (r *Repository) advance(ctx context.Context, c repo.Commit) (string, error) {
	e, err := r.edit(ctx, c.Expect, c.Files)
	if err != nil {
		return "", err
	}
	return r.create(ctx, c, e)
}

var errNothing = errors.New("the files already have this content, so there is nothing to commit")

func (r *Repository) create(ctx context.Context, c repo.Commit, e edit) (string, error) {
	if e.empty() {
		return "", errNothing
	}
	if err := e.fits(c.Message); err != nil {
		return "", err
	}
	out, failed := r.Client.CreateCommit(ctx, &codecommit.CreateCommitInput{
		RepositoryName: &r.Repository,
		BranchName:     &c.Branch,
		ParentCommitId: &c.Expect,
		PutFiles:       e.put,
		DeleteFiles:    e.remove,
		AuthorName:     &r.Author.Name,
		Email:          &r.Author.Email,
		CommitMessage:  &c.Message,
	})
	if failed == nil {
		return aws.ToString(out.CommitId), nil
	}
	id, err := r.landed(ctx, c)
	switch {
	case err != nil:
		return "", err
	case id != "":
		return id, nil
	case is(failed, noChange):
		return "", errNothing
	}
	failed = r.refused("", failed)
	var refused *repo.RefusedError
	if !errors.As(failed, &refused) {
		failed = &repo.RefusedError{Why: sanitize.Line(failed.Error())}
	}
	return "", failed
}

// landed returns the id that a commit has on its branch, "" where the branch is
// still as expected. Where it is not, and does not hold the commit, that is
// repo.ErrMoved.
func (r *Repository) landed(ctx context.Context, c repo.Commit) (string, error) {
	head, err := r.head(ctx, c.Branch)
	switch {
	case err != nil:
		return "", fmt.Errorf("%w: %w", repo.ErrUnknown, err)
	case head == c.Expect:
		return "", nil
	case head == "":
		return "", repo.ErrMoved
	}
	id, err := r.search(ctx, head, c)
	if err != nil {
		return "", fmt.Errorf("%w: %w", repo.ErrUnknown, err)
	}
	if id == "" {
		return "", repo.ErrMoved
	}
	return id, nil
}

// search looks for a commit in the recent history of a head, down to where the
// branch was expected.
func (r *Repository) search(ctx context.Context, head string, c repo.Commit) (string, error) {
	log, _, err := r.history(ctx, head, c.Expect, recent)
	if err != nil {
		return "", err
	}
	for _, made := range log {
		if !sameCommit(made, c) {
			continue
		}
		e, err := r.edit(ctx, made.ID, c.Files)
		var unsafe *repo.UnsafeError
		switch {
		case errors.As(err, &unsafe):
		case err != nil:
			return "", err
		case e.empty():
			return made.ID, nil
		}
	}
	return "", nil
}

// sameCommit reports whether a commit is the one to make, but for its files.
func sameCommit(made repo.LogEntry, c repo.Commit) bool {
	return len(made.Parents) == 1 &&
		slices.Contains([]string{c.Parent, c.Expect}, made.Parents[0]) &&
		strings.TrimSpace(made.Message) == strings.TrimSpace(c.Message)
}
