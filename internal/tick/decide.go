package tick

import (
	"context"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
)

const timeFormat = time.RFC3339

// decide makes every decision about the site.
func (p *pass) decide(context.Context) error {
	site := policy.Site{
		State:  latch.State{Head: p.head, Latches: latch.LatchesOf(p.latches.now())},
		Set:    p.set,
		Fleet:  p.fleet,
		Period: p.Period,
		Flush:  p.Flush,
	}
	if p.git.tree != nil {
		site.Broken = p.git.tree.Broken
	}
	decided := policy.Round(site)
	p.head = decided.Head
	for _, l := range decided.Latches.Changed() {
		p.latches.set(l)
	}
	for _, ignored := range p.set.Ignored {
		p.notice(NoticeIgnored, p.PolicyFile, ignored)
	}
	p.report.Observe = !p.set.Latch
	p.report.Stop = decided.Stop
	p.report.Drop = decided.Head.Drop
	p.report.Set = p.set
	p.report.Decisions = decided.Decisions
	p.report.Evidence = p.head.Agreed.Evidence
	return nil
}
