package tick

import (
	"context"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
)

// commits reads commits of a site, and remembers the proposal that it read last.
type commits struct {
	ledger.Commits
	from repo.Repository
	last *proposal.Made
}

// made reads the commit of a tick at the head of a proposal; nil if no tick pushed it.
func (c *commits) made(ctx context.Context, head string) (*proposal.Made, error) {
	if c.last != nil && c.last.Head == head {
		return c.last, nil
	}
	made, err := proposal.Read(ctx, c.from, &c.Commits, head)
	if made != nil {
		c.last = made
	}
	return made, err
}
