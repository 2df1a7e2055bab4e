package policy

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// ApplyRights is the remedy if a part of the cluster could not be read.
const ApplyRights = "if the API server forbids it, run \"kubectl apply -k infra/rbac\". For any other error, check the API server"

// Unlatched is the scale in Assess of a workload that no policy latches.
const Unlatched = latch.Unknown - 1

// Assess applies the guards to the site, before the decisions about its workloads. scales are
// the desired replicas of each sampled workload; latch.Unknown if they are unknown, and
// Unlatched if no policy latches the workload. Assess returns the state with the changed head
// and the recent scales, and the stop.
func Assess(g Guards, s latch.State, fleet workload.Fleet, scales map[workload.ID]int32) (latch.State, Stop) {
	head, stop := assessCluster(g, s.Head, fleet)
	s.Head = head
	if stop.All {
		return s, stop
	}
	if fleet.At.Before(s.Head.PausedUntil) {
		return s, Stop{All: true, Reason: ReasonHold, Text: "a user paused the site until " + s.Head.PausedUntil.UTC().Format(time.RFC3339),
			Fix: "to end the pause: gitlatch pause --until now"}
	}
	s.Head.PausedUntil = time.Time{}
	if stop.Reason != ReasonNone {
		return s, stop // the recent scales belong to the site's own cluster
	}
	if len(fleet.Unread) > 0 {
		return s, Stop{Reason: ReasonPartial, Text: "a part of the cluster could not be listed", Fix: ApplyRights}
	}

	dropped := s.Head.Drop != nil
	s.Head = assessDrop(g, s.Head, fleet, scales, s.Latches)
	if s.Head.Drop != nil {
		return s, Stop{Reason: ReasonMassDrop, Text: fmt.Sprintf("%d workloads lost half of their pods at once, at %s; lowering waits until they recover",
			s.Head.Drop.Workloads, s.Head.Drop.Since.UTC().Format(time.RFC3339)), Fix: "if the drop is intended: gitlatch adopt"}
	}
	s.Latches = remember(g, s.Head, fleet, scales, s.Latches, dropped)
	return s, Stop{}
}

// assessCluster compares the sampled cluster with the site's own cluster. The first cluster of
// a site becomes its own.
func assessCluster(g Guards, h latch.Head, fleet workload.Fleet) (latch.Head, Stop) {
	c := &h.Cluster
	switch {
	case fleet.Cluster == "":
		return h, Stop{Reason: ReasonPartial, Text: "the UID of the cluster could not be read", Fix: ApplyRights}
	case c.UID == "":
		c.UID = fleet.Cluster
		fallthrough
	case c.UID == fleet.Cluster:
		c.Seen = fleet.At
		return h, Stop{}
	}
	c.Other, c.OtherSeen = fleet.Cluster, fleet.At
	if !c.Seen.IsZero() && fleet.At.Sub(c.Seen) <= 3*g.Period {
		return h, Stop{All: true, Reason: ReasonSecond, Text: fmt.Sprintf(
			"cluster %s is not the site's own cluster %s, which was alive at %s: two live clusters must not share a site",
			fleet.Cluster, c.UID, c.Seen.UTC().Format(time.RFC3339)),
			Fix: "set another site in the configuration of one of the two clusters"}
	}
	return h, Stop{Reason: ReasonOther, Text: fmt.Sprintf(
		"cluster %s is not the site's own cluster %s: gitlatch only raises levels", fleet.Cluster, c.UID), Fix: "after a rebuild: gitlatch adopt"}
}

// shareOf returns a share of a number of workloads. It rounds, because a share such as 0.07
// has no exact binary form: 7 of 100 must be exactly 7 %.
func shareOf(share float64, workloads int) float64 {
	return math.Round(share*float64(workloads)*1e6) / 1e6
}

// Retire decides about a latch whose workload is absent from the sample. The absence
// counts towards retirement only if the sample is complete and no guard stops anything,
// and only while there is an entry to retire. It also counts during a pause and an edit grace
// period, which only block the retirement.
func Retire(g Guards, l latch.Latch, look Look) (latch.Latch, Decision) {
	d := Decision{ID: l.ID, From: l.Declared, Verdict: Pending, Reason: ReasonAbsent}
	l.Down.Stopwatch = l.Down.Pause(look.Last)
	l = l.WithRollout(l.Rollout().Pause(look.Last))
	if look.Stop.Reason != ReasonNone {
		return missed(g, l, d, look)
	}

	l.Up = latch.Up{} // a workload that returns starts again
	l.Flight = nil
	if d.From.IsZero() && !look.Now.Before(l.GraceUntil) { // the grace period of a removed entry is over
		l = l.Yielded(look.Now)
		l.RemovedUntil = time.Time{} // no entry is left that a user could remove again
	}
	if l.Missing.Running() && !d.From.IsZero() {
		l.Missing = l.Missing.Resume(look.Last).Lose(look.gap())
	} else {
		l.Missing = latch.Stopwatch{Since: look.Now}
	}
	gone := l.Missing.Elapsed(look.Now)
	d.Text = fmt.Sprintf("absent for %s of %s", Span(gone), Span(g.RetireAfter))
	stop := leftAlone(l, look.Now)
	switch {
	case stop.Reason != ReasonNone:
		d.Verdict = Frozen
		d.Reason = stop.Reason
		d.Text += "; " + stop.Text
	case gone >= g.RetireAfter && !d.From.IsZero():
		d.Verdict = Cross
		d.Reason = ReasonNone
	}
	if look.Flush {
		d = raiseOnly(d)
	}
	return l, d
}

// missed pauses the absence of a workload while the sample is incomplete, or a guard stops
// lowering. A workload that is missing in an incomplete sample may be in the cluster.
func missed(g Guards, l latch.Latch, d Decision, look Look) (latch.Latch, Decision) {
	l.Missing = l.Missing.Pause(look.Last)
	d.Verdict = Frozen
	if look.Stop.Reason == ReasonPartial {
		d.Reason = ReasonUnread
	}
	d.Text = "not in the sample; an absence counts only while the sample is complete and no guard stops lowering"
	gone := l.Missing.Elapsed(look.Now)
	if gone > 0 {
		d.Text += fmt.Sprintf(": so far absent for %s of %s", Span(gone), Span(g.RetireAfter))
	}
	return l, d
}

// LimitRetirement blocks all retirements while more than RetireShare of the entries in git
// belong to absent workloads, because this is more likely a mistake than a clean-up. An absent
// workload of a sampled kind counts even if another reason blocks its retirement. A single
// absent workload may always retire. Workloads that retire within one RetireAfter are all
// absent when the first of them retires, so no more than RetireShare of them retire.
func LimitRetirement(g Guards, entries int, absent []Decision) []Decision {
	gone, many := manyAbsent(g, entries, absent)
	if !many {
		return absent
	}
	return withhold(absent, ReasonMany, fmt.Sprintf("%d of %d entries belong to absent workloads, more than %.3g %%", gone, entries, g.RetireShare*100),
		Decision.Retires)
}

// manyAbsent returns the number of entries that belong to absent workloads, and reports
// whether this is more than one and more than RetireShare of the entries.
func manyAbsent(g Guards, entries int, absent []Decision) (gone int, many bool) {
	gone = lists.Count(absent, func(d Decision) bool { return d.Reason != ReasonUnread && !d.From.IsZero() })
	return gone, gone > 1 && float64(gone) > shareOf(g.RetireShare, entries)
}

// removedLeast is the minimum number of removed entries for ManyRemoved, except if a commit
// removes a checkpoint file.
const removedLeast = 3

// ManyRemoved reports whether a commit that removes levels is more likely a mistake than
// an opt-out. It removes more than RetireShare of the site's entries, and at least 3 of them
// or a checkpoint file.
func ManyRemoved(g Guards, removed int, file bool, entries int) bool {
	enough := removed >= removedLeast || removed > 0 && file
	return enough && float64(removed) > shareOf(g.RetireShare, entries)
}

// Observe blocks every level change: a site in mode observe writes nothing.
func Observe(decisions []Decision) []Decision {
	return withhold(decisions, ReasonObserve, "the site is in mode observe", Decision.Crosses)
}

// Ride blocks the changes that wait for a commit, if no change of the tick causes a commit.
func Ride(decisions []Decision) []Decision {
	if Commits(decisions) {
		return decisions
	}
	return withhold(decisions, ReasonRides, "it waits for the site's next commit", Decision.Crosses)
}

// Commits reports whether any of the decisions causes a commit.
func Commits(decisions []Decision) bool {
	return slices.ContainsFunc(decisions, func(d Decision) bool { return d.Crosses() && !d.Rides })
}

// Afford blocks all changes of a tick if the budget has no commit left. If one change is
// urgent, the tick makes the commit, with all changes.
func Afford(g Guards, b latch.Budget, now time.Time, decisions []Decision) []Decision {
	urgent := slices.ContainsFunc(decisions, func(d Decision) bool { return d.Crosses() && d.Urgent })
	if urgent || Affords(g, b, now) {
		return decisions
	}
	return withhold(decisions, ReasonBudget, fmt.Sprintf("the budget of commits (commitsPerDay: %d) is used up", g.CommitsPerDay), Decision.Crosses)
}

// Affords reports whether the budget has a commit left.
func Affords(g Guards, b latch.Budget, now time.Time) bool { return refill(g, b, now).Tokens >= 1 }

// Spend takes one commit from the budget.
func Spend(g Guards, b latch.Budget, now time.Time) latch.Budget {
	b = refill(g, b, now)
	b.Tokens = max(0, b.Tokens-1)
	return b
}

// bucket returns the number of commits that the budget can store: a quarter of a day's budget,
// and at least one. So a day has at most 1.25 times its budget, or one commit more.
func bucket(g Guards) float64 { return math.Max(1, float64(g.CommitsPerDay)/4) }

// refill fills the bucket for the time that has passed.
func refill(g Guards, b latch.Budget, now time.Time) latch.Budget {
	size := bucket(g)
	if b.At.IsZero() {
		return latch.Budget{Tokens: size, At: now}
	}
	earned := now.Sub(b.At).Hours() / 24 * float64(g.CommitsPerDay)
	return latch.Budget{Tokens: math.Min(size, b.Tokens+math.Max(0, earned)), At: now}
}

func withhold(decisions []Decision, why Reason, text string, withheld func(Decision) bool) []Decision {
	if !slices.ContainsFunc(decisions, withheld) {
		return decisions // avoids a copy for a large site
	}
	result := make([]Decision, len(decisions))
	for i, d := range decisions {
		if withheld(d) {
			d.Verdict = Pending
			d.Reason = why
			d.Text = d.Text + "; " + text
		}
		result[i] = d
	}
	return result
}
