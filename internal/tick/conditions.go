package tick

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
)

const (
	// sayAgain is how often a condition that lasts is said again.
	sayAgain = 24 * time.Hour
	// staleAfter is how long a crossing may wait before people are told.
	staleAfter = 6 * time.Hour
	// outboxAtMost is how many alerts are kept that cannot be sent; the oldest
	// go first.
	outboxAtMost = 100
	// triesAgain is what is done about what could not be published.
	triesAgain = "tries again with each tick; levels stay as git has them"
)

// condition notes what people should know: what there is, in a sentence, what
// was done about it, and what they should do.
func (p *pass) condition(kind alert.Kind, subject, text, did, do string) {
	p.conditions = append(p.conditions, alert.Condition{Kind: kind, Subject: subject, Text: alert.Brief(text), Did: did, Do: do})
}

// problem notes what a person must mend although the tick goes on.
func (p *pass) problem(err error) { p.report.Problems = append(p.report.Problems, err) }

// invalid notes a file on the branch that cannot be read.
func (p *pass) invalid(file string, err error) {
	did, do := "what was agreed before it holds", "mend "+file+" on the branch"
	p.problem(fmt.Errorf("%w; %s; until then %s", err, do, did))
	p.condition(alert.Invalid, file, err.Error(), did, do)
}

// findConditions looks at what this pass found, and puts into the outbox what
// follows for those conditions that were known before and those that are new.
func (p *pass) findConditions() {
	if p.second() {
		// This cluster cannot judge what is wrong with the site's own.
		for _, o := range p.head.Open {
			p.conditions = append(p.conditions, o.Condition)
		}
	} else {
		p.fleetConditions()
		p.publishConditions()
		p.reportFiles()
		p.conditions = append(p.conditions, p.anomalies()...)
	}
	p.clusterConditions()

	var alerts []alert.Alert
	p.head.Open, alerts = alert.Advance(p.Site, p.head.Open, p.conditions, p.fleet.At, sayAgain)
	p.report.Conditions, p.report.Alerts = p.conditions, alerts
	if p.Alerts == nil {
		return
	}
	p.head.Outbox = append(p.head.Outbox[:len(p.head.Outbox):len(p.head.Outbox)], alerts...)
	if over := len(p.head.Outbox) - outboxAtMost; over > 0 {
		p.problem(fmt.Errorf("the %d oldest alerts are dropped: more than %d wait to be sent", over, outboxAtMost))
		p.head.Outbox = p.head.Outbox[over:]
	}
}

func (p *pass) fleetConditions() {
	for _, unread := range p.fleet.Unread {
		do := "give gitlatch the rights in infra/rbac"
		for _, o := range p.fleet.Kinds {
			if o.FullResource() == unread.Part {
				do = "give gitlatch the rights that gitlatch render rights prints, or correct cluster.kinds"
			}
		}
		p.condition(alert.Unread, unread.Part, unread.Part+" could not be read: "+cmp.Or(unread.Why, "no reason was given"),
			"lowers nothing in the site until it is", do)
	}
	for _, unmeasured := range p.fleet.Unmeasured {
		p.condition(alert.Unmeasured, unmeasured.Part, "the demand that "+unmeasured.Part+" measures is not known: "+unmeasured.Why,
			"goes on without it: work per request is not judged", "mend the source, or take it out of demand in the configuration")
	}
	if d := p.head.Drop; d != nil {
		p.condition(alert.MassDrop, "", fmt.Sprintf("%d workloads lost half of their scale at once, seen at %s", d.Workloads, d.Since.UTC().Format(timeFormat)),
			"lowers no checkpoint", "if this is an outage, nothing: it ends when they recover. If they will not, gitlatch adopt acknowledges it")
	}
	many := 0
	for _, d := range p.report.Decisions {
		if d.Reason == policy.ReasonMany {
			many++
		}
	}
	if many > 0 {
		p.condition(alert.Retirement, "", fmt.Sprintf("%d workloads have been absent for so long that their checkpoints would be removed, and more of the site is absent than a clean-up explains", many),
			"keeps the checkpoints", "if they are gone for good, delete their entries on the branch")
	}
}

// surge is what people should know once a raise out of the ordinary is committed.
func surge(s ledger.Surge, from, to int32) alert.Condition {
	return alert.Condition{
		Kind: alert.Surge, Subject: s.ID.String(),
		Text: fmt.Sprintf("its checkpoint went from %d to %d in one step: %d pods were seen", from, to, s.Need),
		Did:  "committed it: a checkpoint that is too high costs less than one that is too low",
		Do:   "if the need is real, nothing. If not, set its level by hand on the branch: it is left alone for a day",
	}
}

func (p *pass) publishConditions() {
	if due := p.head.Due; !due.IsZero() && p.fleet.At.Sub(due) >= staleAfter {
		p.condition(alert.Stale, "", fmt.Sprintf("a crossing waits unpublished since %s", due.UTC().Format(timeFormat)),
			triesAgain, "see the other alerts and gitlatch tick --dry-run for what keeps it; a rebuild now would give the level before it")
	}
}

// clusterConditions are judged alike by the site's own cluster and by another.
func (p *pass) clusterConditions() {
	c, recent := p.head.Cluster, func(at time.Time) bool { return !at.IsZero() && p.fleet.At.Sub(at) <= 3*p.Period }
	switch {
	case c.Other != "" && recent(c.OtherSeen) && recent(c.Seen):
		p.condition(alert.SecondCluster, c.Other, fmt.Sprintf("cluster %s ticks as site %s, whose own cluster %s is alive", c.Other, p.Site, c.UID),
			"only reads the second", "give one of the two another site, or stop its schedule")
	case c.Other != "" && p.fleet.Cluster == c.Other:
		p.condition(alert.ClusterNew, c.Other, fmt.Sprintf("cluster %s ticks as site %s, whose own was %s", c.Other, p.Site, c.UID),
			"only raises checkpoints", "once the rebuilt cluster has its traffic back: gitlatch adopt")
	}
}
