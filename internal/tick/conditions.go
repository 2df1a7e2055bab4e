package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/anomaly"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	// repeatAfter is how often an alert for a lasting condition is repeated.
	repeatAfter = 24 * time.Hour
	// staleAfter is how long a crossing may wait before people are told.
	staleAfter = 6 * time.Hour
	// maxOutbox is how many unsent alerts are kept; the oldest are dropped first.
	maxOutbox = 100
	// triesAgain is what gitlatch does if a push or a proposal fails, for alerts.
	triesAgain = "tries again with each tick; levels stay as git has them"
)

// findings are what people should know, as found so far.
type findings struct {
	report     Report
	conditions []alert.Condition
}

// condition notes a condition: text is a sentence, did what gitlatch does about it, as
// in "tries again", and do what a user should do.
func (f *findings) condition(kind alert.Kind, subject, text, did, do string) {
	f.conditions = append(f.conditions, alert.Condition{Kind: kind, Subject: subject, Text: alert.Brief(text), Did: "gitlatch " + did, Do: do})
}

// problem notes what a person must fix although the tick goes on.
func (f *findings) problem(err error) { f.report.Problems = append(f.report.Problems, err) }

// notice notes what was found in git.
func (f *findings) notice(kind NoticeKind, subject, text string) {
	f.report.Notices = append(f.report.Notices, Notice{kind, subject, text})
}

// invalid notes a file on the branch that cannot be read.
func (f *findings) invalid(file string, err error) {
	did, do := "uses what was agreed before", "fix "+file+" on the branch"
	f.problem(fmt.Errorf("%w; %s; until then gitlatch %s", err, do, did))
	f.condition(alert.Invalid, file, err.Error(), did, do)
}

// refused reports whether an error says that the host will not take what was sent,
// and tells people: problem is the format of an error that wraps it, and do is what
// they should do.
func (f *findings) refused(err error, problem, subject, do string) bool {
	var refused *repo.RefusedError
	if !errors.As(err, &refused) {
		return false
	}
	if refused.OnDisk {
		do = "do as the refusal says, and see that whoever runs gitlatch may write to the repository's folder"
	}
	f.problem(fmt.Errorf(problem, err))
	f.condition(alert.Blocked, subject, err.Error(), triesAgain, do)
	return true
}

// notify finds what people should know, and puts into the outbox what follows for
// those conditions that were known before and those that are new.
func (p *pass) notify(context.Context) error {
	p.report.Latches = p.latches.now()
	p.head.UnpublishedSince = unpublishedSince(p.head, p.report, p.fleet.At)
	p.report.UnpublishedSince = p.head.UnpublishedSince
	if p.report.Stop.Reason == policy.ReasonSecond {
		// This cluster cannot judge what is wrong with the site's own.
		for _, o := range p.head.Open {
			p.conditions = append(p.conditions, o.Condition)
		}
	} else {
		p.fleetConditions(p.fleet, p.head)
		p.unruled(p.head.Agreed, p.latches)
		p.conditions = append(p.conditions, stillRemoved(p.head.Open, p.latches, p.fleet.At)...)
		p.fileConditions(p.files.Report(p.cover(), p.latches.now()))
		p.conditions = append(p.conditions, anomalies(p.Period, p.head, p.fleet, p.report, p.latches)...)
	}
	p.clusterConditions(p.fleet, p.head.Cluster, 3*p.Period)

	var alerts []alert.Alert
	p.head.Open, alerts = alert.Advance(p.Site, p.head.Open, p.conditions, p.fleet.At, repeatAfter)
	p.report.Conditions, p.report.Alerts = p.conditions, alerts
	if p.Alerts == nil {
		return nil
	}
	p.head.Outbox = slices.Concat(p.head.Outbox, alerts)
	if over := len(p.head.Outbox) - maxOutbox; over > 0 {
		p.problem(fmt.Errorf("the %d oldest alerts are dropped: more than %d wait to be sent", over, maxOutbox))
		p.head.Outbox = p.head.Outbox[over:]
	}
	return nil
}

// unpublishedSince is since when a crossing was neither committed nor proposed. Zero
// means that no crossing waits.
func unpublishedSince(head latch.Head, r Report, now time.Time) time.Time {
	type reading struct {
		id workload.ID
		of policy.Reading
	}
	committed := map[reading]bool{}
	if c := r.Commit; c != nil {
		for _, d := range c.Changes {
			committed[reading{d.ID, d.Reading}] = true
		}
	}
	for _, d := range r.Decisions {
		waits := d.Verdict == policy.Pending && (d.Reason == policy.ReasonBudget || d.Reason == policy.ReasonNoEvidence)
		if d.Crosses() && !committed[reading{d.ID, d.Reading}] {
			_, proposed := r.Latches[d.ID].Change()
			waits = !proposed
		}
		if waits {
			if head.UnpublishedSince.IsZero() {
				return now
			}
			return head.UnpublishedSince
		}
	}
	return time.Time{}
}

// anomalies returns the unusual conditions of workloads, and updates the watch state of
// their latches.
func anomalies(period time.Duration, head latch.Head, fleet workload.Fleet, r Report, latches latches) []alert.Condition {
	found, changed := anomaly.Judge(anomaly.Look{
		Now: fleet.At, Last: head.At, Period: period,
		Set: r.Set, Samples: fleet.Samples, Decisions: r.Decisions, Latches: latches.now(),
		Whole: len(fleet.Unread) == 0 && fleet.Cluster != "" && r.Stop.Reason != policy.ReasonOther,
		Open:  head.Open,
	})
	for id, watch := range changed {
		l := latches.get(id)
		l.Watch = watch
		latches.set(l)
	}
	return found
}

// fleetConditions are what people should know of the fleet as a whole.
func (f *findings) fleetConditions(fleet workload.Fleet, head latch.Head) {
	for _, unread := range fleet.Unread {
		do := "give gitlatch the rights in infra/rbac"
		for _, o := range fleet.Kinds {
			if o.FullResource() == unread.Part {
				do = "give gitlatch the rights that gitlatch render rights prints, or correct kinds of the policy"
			}
		}
		f.condition(alert.Unread, unread.Part, unread.Part+" could not be read: "+cmp.Or(unread.Why, "no reason was given"),
			"lowers nothing in the site until it is", do)
	}
	for _, unmeasured := range fleet.Unmeasured {
		f.condition(alert.Unmeasured, unmeasured.Part, "the demand that "+unmeasured.Part+" measures is not known: "+unmeasured.Why,
			"goes on without it: work per request is not judged", "fix the source, or take it out of demand in the configuration")
	}
	if d := head.Drop; d != nil {
		f.conditions = append(f.conditions, massDrop(f.report.Site, *d))
	}
	many := 0
	for _, d := range f.report.Decisions {
		if d.Reason == policy.ReasonMany {
			many++
		}
	}
	if many > 0 {
		f.condition(alert.Retirement, "", fmt.Sprintf("%d workloads have been absent for so long that their checkpoints would be removed, and more of the site is absent than a clean-up explains", many),
			"keeps the checkpoints", "if they are gone for good, delete their entries on the branch: entries of workloads that are not in the cluster stay removed. Keep the entries of workloads that are: many of these at once count as a mistake")
	}
	if due := head.UnpublishedSince; !due.IsZero() && fleet.At.Sub(due) >= staleAfter {
		f.condition(alert.Stale, "", fmt.Sprintf("a level change has been waiting since %s", due.UTC().Format(timeFormat)),
			triesAgain, "see the other alerts and gitlatch tick --dry-run for what keeps it; a rebuild now would give the level before it")
	}
}

// massDrop is the condition of a mass drop.
func massDrop(site string, d latch.Drop) alert.Condition {
	var falls []string
	for _, f := range d.Worst {
		falls = append(falls, fmt.Sprintf("%s %d -> %d", f.ID.Short(), f.From, f.To))
	}
	text := strings.Join(falls, ", ")
	if more := d.Workloads - len(falls); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return alert.Condition{
		Kind:  alert.MassDrop,
		Title: fmt.Sprintf("mass drop, %d of %d workloads lost half of their pods", d.Workloads, d.Of),
		Text:  fmt.Sprintf("%s, since %s", text, d.Since.UTC().Format("2006-01-02 15:04 UTC")),
		Did:   "gitlatch keeps every level until these workloads recover. Raises continue.",
		Do:    fmt.Sprintf("for an outage, none in gitlatch. If the drop is intended, run \"gitlatch adopt -c %s.yaml\"", site),
	}
}

// surge is what people should know once a raise out of the ordinary is committed.
func surge(s ledger.Surge, from, to int32) alert.Condition {
	return alert.Condition{
		Kind: alert.Surge, Subject: s.ID.String(),
		Text: fmt.Sprintf("its checkpoint went from %d to %d in one step: %d pods were seen", from, to, s.Need),
		Did:  "gitlatch committed it: a checkpoint that is too high costs less than one that is too low",
		Do:   "if the need is real, nothing. If not, set its level by hand on the branch: it is left alone for a day",
	}
}

// clusterConditions are judged alike by the site's own cluster and by another.
func (f *findings) clusterConditions(fleet workload.Fleet, c latch.Cluster, within time.Duration) {
	recent := func(at time.Time) bool { return !at.IsZero() && fleet.At.Sub(at) <= within }
	switch {
	case c.Other != "" && recent(c.OtherSeen) && recent(c.Seen):
		f.condition(alert.SecondCluster, c.Other, fmt.Sprintf("cluster %s ticks as site %s, whose own cluster %s is alive", c.Other, f.report.Site, c.UID),
			"only reads the second", "give one of the two another site, or stop its schedule")
	case c.Other != "" && fleet.Cluster == c.Other:
		f.condition(alert.ClusterNew, c.Other, fmt.Sprintf("cluster %s ticks as site %s, whose own was %s", c.Other, f.report.Site, c.UID),
			"only raises checkpoints", "once the rebuilt cluster has its traffic back: gitlatch adopt")
	}
}
