package tick

import (
	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/anomaly"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// anomalies finds what is out of the ordinary with workloads, and leaves in
// their latches what is to be remembered of it.
func (p *pass) anomalies() []alert.Condition {
	look := anomaly.Look{
		Now: p.fleet.At, Last: p.head.At, Period: p.Period,
		Set: p.set, Samples: p.fleet.Samples, Latches: p.latches.now,
		Decisions: p.report.Decisions,
		Whole:     len(p.fleet.Unread) == 0 && p.fleet.Cluster != "" && p.report.Stop.Reason != policy.ReasonOther,
		Dropped:   p.head.Drop != nil,
		Open:      p.head.Open,
	}
	if c := p.report.Commit; c != nil {
		look.Committed = c.Changes
	}
	found, changed := anomaly.Judge(look)
	for id, watch := range changed {
		if l := p.latches.get(id); p.latches.known(id) || len(watch.Episodes) > 0 {
			l.Watch = watch
			p.latches.set(l)
		}
	}
	return found
}
