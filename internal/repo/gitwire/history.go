package gitwire

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// firstDepth is the depth of the first fetch of a history. Each further fetch is four
// times as deep.
const firstDepth = 32

// History fetches commits only, without trees. The time of an entry is its author's time.
// See repo.Repository.
func (r *Repository) History(ctx context.Context, commit, until string, limit int) (_ []repo.LogEntry, _ bool, err error) {
	defer r.turns.Take(&err, "read the history of %s", r.remote)()
	from, err := parseID(commit)
	if err != nil {
		return nil, false, err
	}
	return r.history(ctx, from, until, limit)
}

func (r *Repository) history(ctx context.Context, from plumbing.Hash, until string, limit int) ([]repo.LogEntry, bool, error) {
	for had := -1; ; {
		log, end, err := repo.Log(from.String(), until, limit, r.objects.Entry)
		if err != nil || end != repo.AtGap {
			return log, end == repo.AtRoots, err
		}
		if len(log) == had {
			return log, false, nil // the server has no older commits
		}
		had = len(log)
		// The distance of a commit is at most the number of nearer commits.
		depth := min(max(firstDepth, 4*had), limit)
		if err := r.remote.Deepen(ctx, r.objects, from, depth); err != nil {
			return nil, false, err
		}
		if !r.objects.Has(from) {
			return nil, false, fmt.Errorf("commit %s is not there", from)
		}
	}
}
