package ledger

import (
	"context"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Commits reads what commits held of a site, each content once.
type Commits struct {
	From  Reader // of a file that is read beside the site's directory, too
	Site  string
	known map[string]string
	kept  map[[2]string]repo.Object // by path and id
}

// A Sight is what some commit held.
type Sight struct {
	Holding
	Objects map[string]repo.Object // by path
}

// A Pushed commit is one by a tick, by its own word.
type Pushed struct {
	repo.LogEntry
	Trailers
}

// Keep notes what was read, so that it is not read again.
func (c *Commits) Keep(objects map[string]repo.Object) {
	if c.kept == nil {
		c.known, c.kept = map[string]string{}, map[[2]string]repo.Object{}
	}
	for path, o := range objects {
		if o.ID != "" && o.Files != nil {
			c.known[path], c.kept[[2]string{path, o.ID}] = o.ID, o
		}
	}
}

// At reads what a commit held.
func (c *Commits) At(ctx context.Context, commit string) (Sight, error) {
	directory := Checkpoints(c.Site)
	objects, err := c.From.Read(ctx, commit, c.known, directory)
	if err != nil {
		return Sight{}, err
	}
	c.Keep(objects)
	for path, o := range objects {
		if kept, ok := c.kept[[2]string{path, o.ID}]; ok {
			objects[path] = kept
		}
	}
	tree, err := Tree(c.Site, objects[directory])
	if err != nil {
		return Sight{}, fmt.Errorf("read commit %s: %w", commit, err)
	}
	return Sight{Of(tree), objects}, nil
}

// Says reads a commit and one that it is held against, and reports whether it
// does what it says of a base.
func (c *Commits) Says(ctx context.Context, p Pushed, against, base string) (before, after Sight, says bool, err error) {
	if before, err = c.At(ctx, against); err != nil {
		return before, after, false, err
	}
	if after, err = c.At(ctx, p.ID); err != nil {
		return before, after, false, err
	}
	return before, after, p.Trailers.Says(base, Changes(before.Holding, after.Holding)), nil
}
