package codecommit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// recent is how many commits of a moved branch landed searches for the commit.
const recent = 20

// Commit makes a commit. CodeCommit sets its time, which is close to c.When. If an answer
// is lost, Commit searches the branch for the commit. See repo.Repository. An error
// before the request can be any error.
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

// advance makes a commit on the expected head of a branch.
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
		failed = &repo.RefusedError{Why: sanitize.Answer(failed.Error())}
	}
	return "", failed
}

// landed returns the id of a commit on its branch, or "" if the branch is still at the
// expected head. It returns repo.ErrMoved if the branch has moved and does not have the
// commit.
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

// search searches the recent history of a head for a commit, down to the expected head of
// the branch.
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

// sameCommit reports whether made has the parent and the message of c.
func sameCommit(made repo.LogEntry, c repo.Commit) bool {
	return len(made.Parents) == 1 &&
		slices.Contains([]string{c.Parent, c.Expect}, made.Parents[0]) &&
		strings.TrimSpace(made.Message) == strings.TrimSpace(c.Message)
}
