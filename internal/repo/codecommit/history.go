package codecommit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/codecommit/types"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// mostHistory bounds a history, in which each commit that was not seen yet is a
// request of its own, one after the other.
const mostHistory = 500

// History returns 500 commits at most. The time of an entry is its author's. See
// repo.Repository.
func (r *Repository) History(ctx context.Context, commit, until string, limit int) (log []repo.LogEntry, whole bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := errors.Join(ctx.Err(), repo.CheckCommit(commit)); err != nil {
		return nil, false, fmt.Errorf("read the history of %s: %w", r, err)
	}
	r.seen.trim()
	commits, whole, err := r.history(ctx, commit, until, min(limit, mostHistory))
	if err != nil {
		return nil, false, fmt.Errorf("read the history of %s: %w", r, err)
	}
	for _, c := range commits {
		log = append(log, entryOf(c))
	}
	return log, whole, nil
}

// Between looks up 500 commits at most, one after the other. See
// repo.Repository.
func (r *Repository) Between(ctx context.Context, base, tip string) (repo.Window, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found repo.Window
	err := errors.Join(ctx.Err(), repo.CheckCommit(base), repo.CheckCommit(tip))
	if err == nil {
		r.seen.trim()
		found, err = repo.Walk(base, tip, mostHistory, func(id string) (repo.LogEntry, bool, error) {
			c, err := r.commit(ctx, id)
			if id != tip && errors.Is(err, errNoCommit) {
				return repo.LogEntry{}, false, nil
			}
			return entryOf(c), err == nil, err
		})
	}
	if err != nil {
		return repo.Window{}, fmt.Errorf("read what is new in %s: %w", r, err)
	}
	return found, nil
}

func (r *Repository) history(ctx context.Context, from, until string, limit int) (log []types.Commit, whole bool, err error) {
	queue, queued := []string{from}, map[string]bool{from: true}
	for ; len(queue) > 0; queue = queue[1:] {
		if len(log) > 0 && aws.ToString(log[len(log)-1].CommitId) == until || len(log) >= limit {
			return log, false, nil
		}
		c, err := r.commit(ctx, queue[0])
		if err != nil {
			return nil, false, err
		}
		log = append(log, c)
		for _, parent := range c.Parents {
			if !queued[parent] {
				queue, queued[parent] = append(queue, parent), true
			}
		}
	}
	return log, true, nil
}

func (r *Repository) commit(ctx context.Context, id string) (types.Commit, error) {
	if c, ok := r.seen.commit(id); ok {
		return c, nil
	}
	out, err := r.Client.GetCommit(ctx, &codecommit.GetCommitInput{RepositoryName: &r.Repository, CommitId: &id})
	if err != nil {
		return types.Commit{}, r.explain(err)
	}
	if out.Commit == nil {
		return types.Commit{}, fmt.Errorf("commit %s: the answer is empty", id)
	}
	out.Commit.CommitId = &id
	r.seen.keepCommit(id, *out.Commit)
	return *out.Commit, nil
}

func entryOf(c types.Commit) repo.LogEntry {
	e := repo.LogEntry{ID: aws.ToString(c.CommitId), Parents: slices.Clone(c.Parents), Message: aws.ToString(c.Message)}
	if by := c.Author; by != nil {
		e.Author = fmt.Sprintf("%s <%s>", aws.ToString(by.Name), aws.ToString(by.Email))
		e.When = date(aws.ToString(by.Date))
	}
	if by := c.Committer; by != nil {
		e.Committer = fmt.Sprintf("%s <%s>", aws.ToString(by.Name), aws.ToString(by.Email))
	}
	return e
}

// date reads "seconds zone". Commits with nonsense in its place exist; theirs is
// the zero time.
func date(stamp string) time.Time {
	seconds, _, _ := strings.Cut(stamp, " ")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}
