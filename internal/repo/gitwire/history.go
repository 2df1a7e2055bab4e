package gitwire

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// firstDepth is how deep a history is fetched at first; each time that it does
// not suffice, it is fetched four times as deep.
const firstDepth = 32

// History fetches commits only, no trees. The time of an entry is its author's.
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
			return log, false, nil // the server itself has no more
		}
		had = len(log)
		// A commit is at most as far away as there are commits nearer.
		depth := min(max(firstDepth, 4*had), limit)
		if err := r.remote.Deepen(ctx, r.objects, from, depth); err != nil {
			return nil, false, err
		}
		if !r.objects.Has(from) {
			return nil, false, fmt.Errorf("commit %s is not there", from)
		}
	}
}
