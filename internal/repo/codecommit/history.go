package codecommit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/codecommit/types"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// mostHistory is the maximum number of commits of a history. Each commit that is not in
// memory costs one request, and these run one after the other.
const mostHistory = 500

// History returns at most 500 commits. The time of an entry is its author's time. See
// repo.Repository.
func (r *Repository) History(ctx context.Context, commit, until string, limit int) (log []repo.LogEntry, whole bool, err error) {
	defer r.turns.Take(&err, "read the history of %s", r)()
	if err := errors.Join(ctx.Err(), repo.CheckCommit(commit)); err != nil {
		return nil, false, err
	}
	return r.history(ctx, commit, until, min(limit, mostHistory))
}

// Between looks up at most 500 commits, one after the other. See repo.Repository.
func (r *Repository) Between(ctx context.Context, base, tip string) (_ repo.Window, err error) {
	defer r.turns.Take(&err, "read the new commits of %s", r)()
	if err := errors.Join(ctx.Err(), repo.CheckCommit(base), repo.CheckCommit(tip)); err != nil {
		return repo.Window{}, err
	}
	return repo.Walk(base, tip, mostHistory, func(id string) (repo.LogEntry, bool, error) {
		c, err := r.commit(ctx, id)
		if id != tip && errors.Is(err, errNoCommit) {
			return repo.LogEntry{}, false, nil
		}
		return c, err == nil, err
	})
}

func (r *Repository) history(ctx context.Context, from, until string, limit int) (log []repo.LogEntry, whole bool, err error) {
	log, end, err := repo.Log(from, until, limit, func(id string) (repo.LogEntry, bool, error) {
		c, err := r.commit(ctx, id)
		return c, err == nil, err
	})
	return log, end == repo.AtRoots, err
}

// keepCommits is how many commits stay in memory from one call to the next, about 16 MB.
const keepCommits = 16_000

func (r *Repository) commit(ctx context.Context, id string) (repo.LogEntry, error) {
	if known, ok := r.commits[id]; ok {
		return known, nil
	}
	out, err := r.Client.GetCommit(ctx, &codecommit.GetCommitInput{RepositoryName: &r.Repository, CommitId: &id})
	switch {
	case err != nil:
		return repo.LogEntry{}, r.explain(err)
	case out.Commit == nil:
		return repo.LogEntry{}, fmt.Errorf("commit %s: the answer is empty", id)
	case len(r.commits) >= keepCommits:
		clear(r.commits)
	}
	r.commits[id] = entryOf(id, *out.Commit)
	return r.commits[id], nil
}

func entryOf(id string, c types.Commit) repo.LogEntry {
	e := repo.LogEntry{ID: id, Parents: c.Parents, Message: aws.ToString(c.Message)}
	e.Author, e.When = person(c.Author)
	e.Committer, _ = person(c.Committer)
	return e
}

func person(by *types.UserInfo) (string, time.Time) {
	if by == nil {
		return "", time.Time{}
	}
	return fmt.Sprintf("%s <%s>", aws.ToString(by.Name), aws.ToString(by.Email)), repo.ParseStamp(aws.ToString(by.Date))
}
