package ledger

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// A Removal is a commit that removed entries, as the branch saw it: a merge includes the
// commits that it merged.
type Removal struct {
	Commit  string
	Changes []Change
	// Files are the namespaces of Changes without a checkpoint file in the commit.
	Files []string
}

// Removed reports whether a user removed the entry.
func (c Change) Removed() bool { return c.Persons() && c.Now.IsZero() && !c.Agreed.IsZero() }

// Removals returns the commits of a window that removed entries, the oldest first. gone
// are the entries that the tip lacks. Removals finds each commit by a binary search, so
// that it reads few commits.
func (c *Commits) Removals(ctx context.Context, window repo.Window, tip string, gone []Change) ([]Removal, error) {
	chain := ownCommits(window.Commits, tip)
	var all []Removal
	read := map[string]Snapshot{}
	for len(gone) > 0 {
		var failed error
		first := sort.Search(len(chain)-1, func(i int) bool {
			lacking, _, err := c.lacking(ctx, read, chain[i], gone)
			failed = cmp.Or(failed, err)
			return failed != nil || len(lacking.Changes) > 0
		})
		if failed != nil {
			return nil, failed
		}
		found, rest, err := c.lacking(ctx, read, chain[first], gone)
		if err != nil {
			return nil, err
		}
		if len(found.Changes) == 0 {
			return all, nil // the tip has the entries, unlike in gone
		}
		all = append(all, found)
		gone = rest
	}
	return all, nil
}

// lacking returns the entries that a commit lacks as a Removal, and the other entries.
func (c *Commits) lacking(ctx context.Context, read map[string]Snapshot, commit string, of []Change) (r Removal, rest []Change, err error) {
	at, known := read[commit]
	if !known {
		at, err = c.At(ctx, commit)
		if err != nil {
			return r, nil, err
		}
		read[commit] = at
	}
	r.Commit = commit
	files := at.Objects[Checkpoints(c.Site)].Files
	for _, change := range of {
		namespace := change.ID.Namespace
		_, has := at.Entries[change.ID]
		if has || at.Broken[namespace] != nil {
			rest = append(rest, change)
			continue
		}
		r.Changes = append(r.Changes, change)
		_, file := files[checkpoint.RecordPath(c.Site, namespace)]
		if !file && !slices.Contains(r.Files, namespace) {
			r.Files = append(r.Files, namespace)
		}
	}
	return r, rest, nil
}

// ownCommits returns the commits of a window that were the tip of the branch itself, the
// oldest first: the tip and its first parents.
func ownCommits(window []repo.LogEntry, tip string) []string {
	parents := map[string][]string{}
	for _, c := range window {
		parents[c.ID] = c.Parents
	}
	chain := []string{tip}
	for {
		of := parents[chain[len(chain)-1]]
		if len(of) == 0 {
			break
		}
		if _, within := parents[of[0]]; !within {
			break
		}
		chain = append(chain, of[0])
	}
	slices.Reverse(chain)
	return chain
}
