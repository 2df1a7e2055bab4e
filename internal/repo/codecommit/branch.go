package codecommit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// onTop is how many commits a proposal's branch gets on top of its base before gitlatch
// makes the branch again.
const onTop = 50

// propose moves a branch other than the base.
func (r *Repository) propose(ctx context.Context, c repo.Commit) (string, error) {
	head, err := r.head(ctx, c.Branch)
	if err != nil {
		return "", err
	}
	if head != c.Expect {
		return r.landed(ctx, c)
	}
	parted := false
	if head != "" {
		log, _, err := r.history(ctx, head, c.Parent, onTop)
		if err != nil {
			return "", err
		}
		parted = log[len(log)-1].ID == c.Parent
	}
	if parted {
		return r.build(ctx, c)
	}
	return r.renew(ctx, c)
}

// build adds a commit to a branch. With it, the branch has the files of the parent with
// the change.
func (r *Repository) build(ctx context.Context, c repo.Commit) (string, error) {
	roots := [2]plumbing.Hash{plumbing.NewHash(c.Parent), plumbing.NewHash(c.Expect)}
	paths, err := r.differing(ctx, [2]string{c.Parent, c.Expect}, "", roots)
	if err != nil {
		return "", err
	}
	found, err := r.read(ctx, c.Parent, nil, paths...)
	if err != nil {
		return "", err
	}
	files := map[string][]byte{}
	for _, path := range paths {
		files[path] = found[path].Files[path]
	}
	maps.Copy(files, c.Files)
	e, err := r.edit(ctx, c.Expect, files)
	if err != nil || e.empty() {
		return c.Expect, err
	}
	return r.create(ctx, c, e)
}

// renew removes a branch and makes it again. It first makes the commit on a temporary
// branch, so the branch itself never has other commits than proposals. If someone else
// pushes just before the removal, renew restores that push.
func (r *Repository) renew(ctx context.Context, c repo.Commit) (string, error) {
	beside := c.Branch + ".next"
	defer func() {
		ctx, cancel := grace(ctx)
		defer cancel()
		_, _ = r.remove(ctx, beside) // if it fails, the next renew removes it
	}()
	id, err := r.beside(ctx, beside, c)
	if err != nil {
		return "", err
	}
	if c.Expect != "" {
		if err := r.replaced(ctx, c.Branch); err != nil {
			return "", err
		}
		removed, err := r.remove(ctx, c.Branch)
		if err != nil {
			return "", r.refused("", err)
		}
		// The branch is now removed. From here on, renew continues even after the deadline.
		var cancel func()
		ctx, cancel = grace(ctx)
		defer cancel()
		// If nothing was removed, an answer was lost: the branch existed just before.
		if removed != "" && removed != c.Expect {
			return "", errors.Join(repo.ErrMoved, r.point(ctx, c.Branch, removed))
		}
	}
	err = r.point(ctx, c.Branch, id)
	switch {
	case is(err, branchExists):
		return r.landed(ctx, c)
	case err != nil:
		return "", r.refused("", err)
	}
	return id, nil
}

// beside makes the commit on a temporary branch. If an earlier try left that branch,
// beside removes it first.
func (r *Repository) beside(ctx context.Context, branch string, c repo.Commit) (string, error) {
	err := r.point(ctx, branch, c.Parent)
	if is(err, branchExists) {
		if _, err = r.remove(ctx, branch); err == nil {
			err = r.point(ctx, branch, c.Parent)
		}
	}
	if err != nil {
		return "", r.refused("", err)
	}
	c.Branch, c.Expect = branch, c.Parent
	return r.advance(ctx, c)
}

// point makes a branch at a commit.
func (r *Repository) point(ctx context.Context, branch, commit string) error {
	_, err := r.Client.CreateBranch(ctx, &codecommit.CreateBranchInput{RepositoryName: &r.Repository, BranchName: &branch, CommitId: &commit})
	return err
}

// remove removes a branch and returns its last commit; "" if it did not exist.
func (r *Repository) remove(ctx context.Context, branch string) (string, error) {
	out, err := r.Client.DeleteBranch(ctx, &codecommit.DeleteBranchInput{RepositoryName: &r.Repository, BranchName: &branch})
	switch {
	case is(err, noBranch):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("remove branch %q: %w", branch, err)
	case out.DeletedBranch == nil:
		return "", nil
	}
	return aws.ToString(out.DeletedBranch.CommitId), nil
}

// graceFor is the timeout of a call to grace. One operation calls it at most twice, in
// the time that a program reserves between the end of a tick and its own end.
const graceFor = 3 * time.Second

// grace returns a context with a short timeout, even if the deadline of ctx has passed.
func grace(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), graceFor)
}
