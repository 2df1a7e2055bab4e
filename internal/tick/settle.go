package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/proposal"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// settle saves the latches that moved, then the head with what was agreed and
// the alerts that are to be sent.
func (p *pass) settle(ctx context.Context) error {
	p.due()
	p.findConditions()
	if p.DryRun {
		return nil
	}
	if p.second() {
		// A second cluster reads: of the state it moves only that it was seen.
		head := p.stored
		head.Cluster, head.Open, head.Outbox = p.head.Cluster, p.head.Open, p.head.Outbox
		_, err := p.Store.Save(ctx, p.lease, head, nil, nil)
		p.head = head
		return err
	}
	p.head.At = p.fleet.At
	put, drop := p.latches.moved()
	_, err := p.Store.Save(ctx, p.lease, p.head, put, drop)
	return err
}

// second reports whether this pass looked at a second live cluster.
func (p *pass) second() bool { return p.report.Stop.Reason == policy.ReasonSecond }

// due notes since when a crossing waits that could not be published.
func (p *pass) due() {
	waits, published := false, p.published()
	for _, d := range p.report.Decisions {
		withheld := d.Verdict == policy.Pending && (d.Reason == policy.ReasonBudget || d.Reason == policy.ReasonNoEvidence)
		waits = waits || d.Crosses() && !published[change{d.ID, d.Reading}] || withheld
	}
	switch {
	case !waits:
		p.head.Due = time.Time{}
	case p.head.Due.IsZero():
		p.head.Due = p.fleet.At
	}
	p.report.Due = p.head.Due
}

// A change is one reading of one workload.
type change struct {
	id workload.ID
	of policy.Reading
}

// published are the crossings that were committed, or lie before people.
func (p *pass) published() map[change]bool {
	all := map[change]bool{}
	if c := p.report.Commit; c != nil {
		for _, d := range c.Changes {
			all[change{d.ID, d.Reading}] = true
		}
	}
	for _, c := range proposal.Changes(p.latches.now) {
		all[change{c.ID, policy.ReadingScale}], all[change{c.ID, policy.ReadingRollout}] = true, true
	}
	return all
}

// alert sends what is in the outbox, and saves that it was. One that could not
// be sent stays for the next tick, and all behind it; one that was refused for
// good is dropped, and said to be.
func (p *pass) alert(ctx context.Context) error {
	if p.DryRun || p.Alerts == nil || len(p.head.Outbox) == 0 {
		return nil
	}
	done := 0
	for _, a := range p.head.Outbox {
		err := p.Alerts.Send(ctx, a)
		var refused *alert.RefusedError
		if errors.As(err, &refused) {
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
