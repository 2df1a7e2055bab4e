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
func (r *Repository) History(ctx context.Context, commit, until string, limit int) ([]repo.LogEntry, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from, err := parseID(commit)
	if err != nil {
		return nil, false, fmt.Errorf("read the history of %s: %w", r.remote, err)
	}
	log, whole, err := r.history(ctx, from, until, limit)
	if err != nil {
		return nil, false, fmt.Errorf("read the history of %s: %w", r.remote, err)
	}
	return log, whole, nil
}

func (r *Repository) history(ctx context.Context, from plumbing.Hash, until string, limit int) ([]repo.LogEntry, bool, error) {
	for had := -1; ; {
		log, end, err := walk(r.objects, from, until, limit)
		if err != nil || end != atUnknown {
			return log, end == atRoots, err
		}
		if len(log) == had {
			return log, false, nil // the server itself has no more
		}
		had = len(log)
		// A commit is at most as far away as there are commits nearer.
		depth := min(max(firstDepth, 4*had), limit)
		if err := r.remote.deepen(ctx, r.objects, from, depth); err != nil {
			return nil, false, err
		}
		if !r.objects.has(from) {
			return nil, false, fmt.Errorf("commit %s is not there", from)
		}
	}
}

// An end is where a walk through a history came to an end.
type end int

const (
	atGoal    end = iota // until was found, or limit reached, and more may be older
	atRoots              // there is nothing older
	atUnknown            // a commit that is needed is not at hand
)

// walk lists the commits at hand that a commit descends from, by distance, up
// to the first that is not at hand.
func walk(objs *objects, from plumbing.Hash, until string, limit int) ([]repo.LogEntry, end, error) {
	var log []repo.LogEntry
	queue := []plumbing.Hash{from}
	seen := map[plumbing.Hash]bool{from: true}
	for found := false; len(queue) > 0; queue = queue[1:] {
		if found || len(log) >= limit {
			return log, atGoal, nil
		}
		id := queue[0]
		data, ok := objs.get(plumbing.CommitObject, id)
		if !ok {
			return log, atUnknown, nil
		}
		h, err := parseCommit(data)
		if err != nil {
			return nil, atGoal, fmt.Errorf("commit %s: %w", id, err)
		}
		entry := repo.LogEntry{ID: id.String(), Author: h.author, Committer: h.by, When: h.when, Message: h.message}
		found = id.String() == until
		for _, parent := range h.parents {
			entry.Parents = append(entry.Parents, parent.String())
			if !seen[parent] {
				seen[parent] = true
				queue = append(queue, parent)
			}
		}
		log = append(log, entry)
	}
	return log, atRoots, nil
}
