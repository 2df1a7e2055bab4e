package history

import (
	"context"
	"errors"
	"time"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An Age is the time since which git has the present level of a workload.
type Age struct {
	Since  time.Time // the author's time
	Commit string    // the commit that set the level; "" if OrBefore is true
	// OrBefore is true if the level may be older, because older commits were not read.
	OrBefore bool
}

// Ages returns the ages of all levels of a site, from a commit back, like Of. It stops
// after the given number of commits.
func Ages(ctx context.Context, r Repository, tip, site string, commits int) (map[workload.ID]Age, error) {
	w := walk{repository: r, query: Query{Site: site, Commits: commits}, tip: tip, commits: map[string]repo.LogEntry{}}
	at := levels{site: site}
	if err := at.read(ctx, r, tip); err != nil {
		return nil, err
	}
	now, ages := at.of, map[workload.ID]Age{}
	for id := tip; len(ages) < len(now); {
		c, whole, err := w.step(ctx, id)
		if err != nil || c.ID == "" {
			return ages, err
		}
		age, older := Age{Since: c.When, OrBefore: true}, levels{site: site}
		if whole {
			age = Age{Since: c.When, Commit: c.ID}
		}
		if whole && len(c.Parents) > 0 {
			id, older = c.Parents[0], at
			if err := older.read(ctx, r, id); err != nil {
				return nil, err
			}
		}
		for one, level := range now {
			if _, settled := ages[one]; !settled && older.of[one] != level {
				ages[one] = age
			}
		}
		at = older
	}
	return ages, nil
}

// levels are the levels of a site at a commit.
type levels struct {
	site, directory string // the id of the site's directory
	of              map[workload.ID]int32
}

// read reads the levels at another commit, if they differ. A directory that cannot be
// read has no levels.
func (l *levels) read(ctx context.Context, r Repository, commit string) error {
	directory := ledger.Checkpoints(l.site)
	objects, err := r.Read(ctx, commit, map[string]string{directory: l.directory}, directory)
	var unsafe *repo.UnsafeError
	if errors.As(err, &unsafe) {
		l.directory, l.of = "", nil
		return nil
	}
	if err != nil {
		return err
	}
	o := objects[directory]
	if o.ID == l.directory && l.of != nil {
		return nil
	}
	l.directory, l.of = o.ID, map[workload.ID]int32{}
	if tree, err := ledger.Tree(l.site, o); err == nil {
		for id, entry := range tree.Entries() {
			if entry.Replicas > 0 {
				l.of[id] = entry.Replicas
			}
		}
	}
	return nil
}

// Changed returns the times of the levels whose commit was read.
func Changed(ages map[workload.ID]Age) map[workload.ID]time.Time {
	times := map[workload.ID]time.Time{}
	for id, age := range ages {
		if !age.OrBefore {
			times[id] = age.Since
		}
	}
	return times
}
