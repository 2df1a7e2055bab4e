package tick

import (
	"context"
	"errors"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// settle saves the latches that moved, then the head with what was agreed and
// the alerts that are to be sent.
func (p *pass) settle(ctx context.Context) error {
	if p.DryRun {
		return nil
	}
	if p.report.Stop.Reason == policy.ReasonSecond {
		// A second cluster reads: of the state it moves only that it was seen.
		head := p.stored
		head.Cluster, head.Open, head.Outbox = p.head.Cluster, p.head.Open, p.head.Outbox
		_, err := p.Store.Save(ctx, p.lease, head, nil, nil)
		p.head = head
		return err
	}
	p.head.At = p.fleet.At
	p.head.Latches = p.latches.checksum()
	p.head.Agreed.Sites = sitesAt(p.Repository, p.Site, p.head.Agreed)
	put, drop := p.latches.changed()
	_, err := p.Store.Save(ctx, p.lease, p.head, put, drop)
	return err
}

// alert sends the outbox, and saves what was sent. An alert that could not be sent
// stays for the next tick, with all alerts behind it. An alert that was refused for
// good is dropped, and the report says so.
func (p *pass) alert(ctx context.Context) error {
	if p.DryRun || p.Alerts == nil || len(p.head.Outbox) == 0 {
		return nil
	}
	done := 0
	for _, a := range p.head.Outbox {
		err := p.Alerts.Send(ctx, a)
		if _, refused := errors.AsType[*alert.RefusedError](err); refused {
			p.problem(fmt.Errorf("alert %q is dropped: %w", a.Headline(), err))
		} else if err != nil {
			p.problem(fmt.Errorf("send alert %q: %w", a.Headline(), err))
			break
		}
		done++
	}
	if done == 0 {
		return nil
	}
	p.head.Outbox = p.head.Outbox[done:]
	_, err := p.Store.Save(ctx, p.lease, p.head, nil, nil)
	return err
}
