package tick

import (
	"context"

	"github.com/gitlatch/gitlatch/internal/policy"
)

// settle saves the latches that moved, then the head with what was agreed.
func (p *pass) settle(ctx context.Context) error {
	if p.DryRun {
		return nil
	}
	if p.report.Stop.Reason == policy.ReasonSecond {
		return p.settleSecond(ctx)
	}
	p.head.At = p.fleet.At
	put, drop := p.latches.moved()
	if _, err := p.Store.Save(ctx, p.lease, p.head, put, drop); err != nil {
		return err
	}
	return nil
}

// settleSecond saves only that a second cluster was seen: it reads, and moves
// no clock of the site that is not its own.
func (p *pass) settleSecond(ctx context.Context) error {
	head := p.stored
	head.Cluster = p.head.Cluster
	_, err := p.Store.Save(ctx, p.lease, head, nil, nil)
	return err
}
