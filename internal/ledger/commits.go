package ledger

import (
	"context"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Commits reads a site's directory at several commits, and reads each content once.
type Commits struct {
	From  Reader
	Site  string
	known map[string]string
	read  map[[2]string]repo.Object // by path and id
}

// A Snapshot is the content of a site's directory at a commit.
type Snapshot struct {
	Holding
	Objects map[string]repo.Object // by path
}

// A Pushed commit is a commit with the trailers of a tick.
type Pushed struct {
	repo.LogEntry
	Trailers
}

// Remember stores objects that were read, so that they are not read again.
func (c *Commits) Remember(objects map[string]repo.Object) {
	if c.read == nil {
		c.known, c.read = map[string]string{}, map[[2]string]repo.Object{}
	}
	for path, o := range objects {
		if o.ID != "" && o.Files != nil {
			c.known[path], c.read[[2]string{path, o.ID}] = o.ID, o
		}
	}
}

// At reads the directory at a commit.
func (c *Commits) At(ctx context.Context, commit string) (Snapshot, error) {
	directory := Checkpoints(c.Site)
	objects, err := c.From.Read(ctx, commit, c.known, directory)
	if err != nil {
		return Snapshot{}, err
	}
	c.Remember(objects)
	for path, o := range objects {
		if before, ok := c.read[[2]string{path, o.ID}]; ok {
			objects[path] = before
		}
	}
	tree, err := Tree(c.Site, objects[directory])
	if err != nil {
		return Snapshot{}, fmt.Errorf("read commit %s: %w", commit, err)
	}
	return Snapshot{HoldingOf(tree), objects}, nil
}

// Verify reads a commit and the commit to compare it with. verified is true if the
// difference matches the Intent in the commit's trailers.
func (c *Commits) Verify(ctx context.Context, p Pushed, against, base string) (before, after Snapshot, verified bool, err error) {
	if before, err = c.At(ctx, against); err != nil {
		return before, after, false, err
	}
	if after, err = c.At(ctx, p.ID); err != nil {
		return before, after, false, err
	}
	return before, after, p.Trailers.Verify(base, Changes(before.Holding, after.Holding)), nil
}
