package tick

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick/anomaly"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	// repeatAfter is the time after which gitlatch repeats the alert of a lasting condition.
	repeatAfter = 24 * time.Hour
	// staleAfter is the time that a level change may wait before an alert.
	staleAfter = 6 * time.Hour
	// maxOutbox is the number of unsent alerts to store. gitlatch drops the oldest first.
	maxOutbox = 100
)

// conditions are the notes of a step that looks for reasons to alert.
type conditions struct{ notes.Notes }

// alerts returns the state with its open conditions and unsent alerts, and the alerts that
// this tick adds. found are the conditions that the steps before it found.
func (t *Tick) alerts(s latch.State, f read.Found, r Report, found []alert.Condition) (latch.State, notes.Notes, []alert.Alert) {
	var n conditions
	waits := unpublished(s, r)
	s.Head.UnpublishedSince = unpublishedSince(s.Head.UnpublishedSince, len(waits) > 0, f.Fleet.At)
	if r.Stop.Reason == policy.ReasonSecond {
		// A second cluster cannot judge the conditions of the site's own cluster.
		n.Conditions = lists.Map(s.Head.Open, func(o alert.Open) alert.Condition { return o.Condition })
	} else {
		n.fleet(f.Fleet, s.Head, r)
		n.absent(t.Base, r)
		n.stale(t.Base, s.Head.UnpublishedSince, waits, r)
		n.unruled(s)
		n.notApplied(t.Site, s.Head.Applied)
		n.Conditions = append(n.Conditions, stillRemoved(s.Head.Open, s.Latches, f.Fleet.At)...)
		unusual, latches := anomalies(t.Period, s, f.Fleet, r)
		n.Conditions = append(n.Conditions, unusual...)
		s.Latches = latches
	}
	n.clusters(t.Site, f.Fleet, s.Head.Cluster, 3*t.Period)

	open, alerts := alert.Advance(t.Site, s.Head.Open, slices.Concat(found, n.Conditions), f.Fleet.At, repeatAfter)
	s.Head.Open = open
	if t.Alerts == nil {
		return s, n.Notes, alerts
	}
	s.Head.Outbox = slices.Concat(s.Head.Outbox, alerts)
	over := len(s.Head.Outbox) - maxOutbox
	if over > 0 {
		n.Problem(fmt.Errorf("the %d oldest alerts are dropped: more than %d wait to be sent", over, maxOutbox))
		s.Head.Outbox = s.Head.Outbox[over:]
	}
	return s, n.Notes, alerts
}

// unpublished returns the level changes that wait for a commit or a proposal.
func unpublished(s latch.State, r Report) []policy.Decision {
	var committed map[policy.Subject]policy.Decision
	if r.Commit != nil {
		committed = lists.Index(r.Commit.Changes, policy.Decision.Subject)
	}
	return lists.Filter(r.Decisions, func(d policy.Decision) bool {
		_, done := committed[d.Subject()]
		if d.Crosses() && !done {
			_, proposed := s.Latches.Get(d.ID).Change()
			return !proposed
		}
		return d.Verdict == policy.Pending && d.Reason == policy.ReasonBudget
	})
}

// unpublishedSince returns the instant since which a level change waits. Zero means that no
// level change waits. An instant after now comes from a clock that was ahead.
func unpublishedSince(since time.Time, waits bool, now time.Time) time.Time {
	switch {
	case !waits:
		return time.Time{}
	case since.IsZero(), since.After(now):
		return now
	}
	return since
}

// anomalies returns the unusual conditions of workloads, and the latches with their watch
// state.
func anomalies(period time.Duration, s latch.State, fleet workload.Fleet, r Report) ([]alert.Condition, latch.Latches) {
	found, watches := anomaly.Judge(anomaly.Look{
		Now: fleet.At, Last: s.Head.At, Period: period,
		Site: r.Site, Set: r.Set, Samples: fleet.Samples, Decisions: r.Decisions, Latches: s.Latches,
		Whole: len(fleet.Unread) == 0 && fleet.Cluster != "" && r.Stop.Reason != policy.ReasonOther,
		Open:  s.Head.Open,
	})
	changed := map[workload.ID]latch.Latch{}
	for id, watch := range watches {
		one := s.Latches.Get(id)
		one.Watch = watch
		changed[id] = one
	}
	return found, s.Latches.With(changed)
}

// fleet adds the conditions of the site.
func (n *conditions) fleet(fleet workload.Fleet, head latch.Head, r Report) {
	for _, unread := range fleet.Unread {
		fix := policy.ApplyRights
		for _, o := range fleet.Kinds {
			if o.FullResource() == unread.Part {
				fix = fmt.Sprintf("run \"gitlatch init -o rbac -c %s.yaml | kubectl apply -f -\", or correct kinds in the policy", r.Site)
			}
		}
		n.Condition(alert.Unread, unread.Part, unread.Part+" could not be read: "+cmp.Or(unread.Why, "no reason was given"),
			"gitlatch lowers no level of the site until it can list all objects, so a rebuild may start too many pods", fix)
	}
	for _, unmeasured := range fleet.Unmeasured {
		n.Condition(alert.Unmeasured, unmeasured.Part, "the demand that "+unmeasured.Part+" measures is unknown: "+unmeasured.Why,
			"gitlatch sends no work-per-request alerts for the affected workloads until the source returns a value", "check that "+unmeasured.Part+" runs, and check its address and credentials in demand of the configuration")
	}
	if head.Drop != nil {
		n.Conditions = append(n.Conditions, massDrop(r.Site, *head.Drop))
	}
}

// absent adds that too many workloads are absent to remove their entries.
func (n *conditions) absent(branch string, r Report) {
	many := lists.Filter(r.Decisions, func(d policy.Decision) bool { return d.Reason == policy.ReasonMany })
	if len(many) == 0 {
		return
	}
	files := slices.Compact(lists.Map(many, func(d policy.Decision) string { return checkpoint.RecordPath(r.Site, d.ID.Namespace) }))
	texts := strings.Split(many[0].Text, "; ") // the last is the reason
	n.Condition(alert.Retirement, "", fmt.Sprintf("%s absent from the cluster for %s or longer: %s", term.Count(len(many), "workload"), policy.Span(r.Set.Guards.RetireAfter), namesOf(many)),
		fmt.Sprintf("gitlatch keeps their entries in git, because %s. A rebuild starts these workloads at their levels if their manifests are in git", texts[len(texts)-1]),
		fmt.Sprintf("if these workloads are gone permanently, delete their entries from %s on branch %s. Delete no other entries", term.Among(files), branch))
}

// stale adds that level changes have waited for too long.
func (n *conditions) stale(branch string, since time.Time, waits []policy.Decision, r Report) {
	if len(waits) == 0 || r.At.Sub(since) < staleAfter {
		return
	}
	n.Condition(alert.Stale, "", fmt.Sprintf("level changes have not reached branch %s since %s: %s", branch, notes.Time(since), namesOf(waits)),
		notes.TriesAgain, fmt.Sprintf("see the other alerts of the site, and run \"gitlatch tick -c %s.yaml --dry-run\", which prints the reason", r.Site))
}

// namesOf lists the workloads of decisions. The decisions are in the order of
// workload.Compare.
func namesOf(of []policy.Decision) string {
	return term.Among(slices.Compact(lists.Map(of, func(d policy.Decision) string { return d.ID.String() })))
}

// massDrop returns the condition of a mass drop.
func massDrop(site string, d latch.Drop) alert.Condition {
	falls := lists.Map(d.Worst, func(f latch.Fall) string { return fmt.Sprintf("%s %d -> %d", f.ID.Short(), f.From, f.To) })
	text := strings.Join(falls, ", ")
	if more := d.Workloads - len(falls); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return alert.Condition{
		Kind:   alert.MassDrop,
		Title:  fmt.Sprintf("mass drop, %d of %d workloads lost half of their pods", d.Workloads, d.Of),
		Text:   fmt.Sprintf("%s, since %s", text, d.Since.UTC().Format("2006-01-02 15:04 UTC")),
		Effect: "gitlatch raises levels, but lowers no level until these workloads recover",
		Fix:    fmt.Sprintf("after an outage, no action in gitlatch is necessary. If the drop is intended, run \"gitlatch adopt -c %s.yaml\"", site),
	}
}

// printUID explains the name of a cluster in texts.
const printUID = "To print the UID of a cluster, run \"kubectl get namespace kube-system -o jsonpath={.metadata.uid}\""

// clusters adds the conditions about another cluster that ticks as the site.
func (n *conditions) clusters(site string, fleet workload.Fleet, c latch.Cluster, within time.Duration) {
	recent := func(at time.Time) bool { return !at.IsZero() && fleet.At.Sub(at) <= within }
	switch {
	case c.Other != "" && recent(c.OtherSeen) && recent(c.Seen):
		n.Condition(alert.SecondCluster, c.Other, fmt.Sprintf("two live clusters run ticks of site %[1]s. The cluster of the site is %[2]s, and the second cluster is %[3]s", site, c.UID, c.Other),
			fmt.Sprintf("gitlatch writes levels only for cluster %s. A rebuild of cluster %s has no levels of its own", c.UID, c.Other),
			fmt.Sprintf("stop the ticks of cluster %[1]s, or set another site in its configuration. If the site moved to cluster %[1]s, stop the ticks of cluster %[2]s, and run \"gitlatch adopt -c %[3]s.yaml\" with the kubeconfig of cluster %[1]s. %[4]s", c.Other, c.UID, site, printUID))
	case c.Other != "" && fleet.Cluster == c.Other:
		n.Condition(alert.ClusterNew, c.Other, fmt.Sprintf("cluster %s runs ticks of site %s, but the cluster of the site was %s", c.Other, site, c.UID),
			"gitlatch raises levels, but lowers no level, so a rebuild may start too many pods",
			fmt.Sprintf("after you move the traffic to cluster %[1]s, run \"gitlatch adopt -c %[2]s.yaml\" with the kubeconfig of cluster %[1]s. %[3]s", c.Other, site, printUID))
	}
}

// unruled adds that git has entries of a site whose branch never had a policy file.
func (n *conditions) unruled(s latch.State) {
	if s.Head.Agreed.Policy != "" {
		return
	}
	entries := s.Latches.Entries()
	if entries == 0 {
		return
	}
	file := s.Head.Agreed.PolicyFile
	n.PolicyGone(file, fmt.Sprintf("the branch has no %s; entries in git: %d", file, entries), "gitlatch only observes, and does not update the entries")
}

// stillRemoved returns the open conditions about removed entries, while one of their
// workloads is in its edit grace period.
func stillRemoved(open []alert.Open, l latch.Latches, now time.Time) []alert.Condition {
	of := lists.Filter(open, func(o alert.Open) bool { return o.Kind == alert.EntriesRemoved })
	if len(of) == 0 || len(waiting(l, now)) == 0 {
		return nil
	}
	return lists.Map(of, func(o alert.Open) alert.Condition { return o.Condition })
}

// waiting returns the namespaces with a workload in the edit grace period after a user
// removed many entries at once.
func waiting(l latch.Latches, now time.Time) map[string]bool {
	in := map[string]bool{}
	for one := range l.All() {
		if now.Before(one.RemovedUntil) && one.Declared.IsZero() && !one.OptedOut && now.Before(one.GraceUntil) {
			in[one.ID.Namespace] = true
		}
	}
	return in
}
