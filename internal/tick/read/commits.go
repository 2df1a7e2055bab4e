package read

import (
	"context"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// Commits reads commits of a site, and remembers the proposal that it read last.
type Commits struct {
	ledger.Commits
	from repo.Repository
	last *Made
}

// Made reads the commit of a tick at the head of a proposal; nil if no tick pushed it.
func (c *Commits) Made(ctx context.Context, head string) (*Made, error) {
	if c.last != nil && c.last.Head == head {
		return c.last, nil
	}
	made, err := readMade(ctx, c.from, &c.Commits, head)
	if made != nil {
		c.last = made
	}
	return made, err
}
