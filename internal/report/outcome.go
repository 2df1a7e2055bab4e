package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
)

// outcome returns the commit that the tick made, or why it made none. ok is
// false if a change is blocked, or if it is not in git.
func (d Document) outcome() (text string, ok bool) {
	switch {
	case d.Commit != nil && d.DryRun:
		return "would commit: " + d.Commit.Subject, true
	case d.Commit != nil:
		return "commit " + d.Commit.ID + ": " + d.Commit.Subject, true
	case d.Mode == "observe":
		return "mode is observe: nothing is written to git", true
	case d.Proposal != nil:
		return "", true
	}
	reasons := slices.Concat(d.stops(), d.uncommitted())
	if len(reasons) == 0 {
		return "no commit: no level change is due", true
	}
	return "no commit: " + strings.Join(reasons, "; "), false
}

// siteStops are the reasons of a Stop, except for ReasonPartial: Unread names the
// parts of the cluster.
var siteStops = map[policy.Reason]string{
	policy.ReasonHold:     "the site is paused",
	policy.ReasonMassDrop: "gitlatch lowers no level during a mass drop",
	policy.ReasonOther:    "gitlatch lowers no level until you adopt this cluster",
	policy.ReasonSecond:   "two live clusters share the site",
}

// stops returns the reasons that stop level changes in the entire site.
func (d Document) stops() []string {
	var all []string
	if len(d.Unread) > 0 {
		parts := lists.Map(d.Unread, func(text string) string {
			part, _, _ := strings.Cut(text, ": ")
			return part
		})
		all = append(all, strings.Join(parts, ", ")+" could not be listed")
	}
	if text, known := siteStops[d.Stop.Reason]; known {
		all = append(all, text)
	}
	return all
}

// blocks are the reasons that block a level change after its stabilization window.
var blocks = map[policy.Reason]string{
	policy.ReasonBudget: "the budget of commits is used up",
	policy.ReasonMany:   "too many workloads are absent",
	policy.ReasonReport: "the policy only reports",
	policy.ReasonSurge:  "review",
}

// uncommitted describes the decided changes that are not in git, levels first.
func (d Document) uncommitted() []string {
	var levels, rollouts changes
	for _, w := range d.Workloads {
		levels.add(w.Decided)
		if w.Rollout != nil {
			rollouts.add(w.Rollout.Decided)
		}
	}
	return slices.Concat(levels.texts("level change"), rollouts.texts("rollout change"))
}

// changes are the numbers of decided changes that are not in git.
type changes struct {
	failed, blocked, proposed, riding int
	reasons                           map[string]int // of the blocked ones
}

func (c *changes) add(d Decided) {
	why, blocked := blocks[d.Reason]
	switch {
	case d.Proposed:
		c.proposed++
	case d.Verdict == policy.Cross:
		c.failed++
	case d.Reason == policy.ReasonRides:
		c.riding++
	case blocked && (d.Verdict == policy.Pending || d.Verdict == policy.Review):
		if c.reasons == nil {
			c.reasons = map[string]int{}
		}
		c.reasons[why]++
		c.blocked++
	}
}

// texts returns a clause for each group of changes.
func (c *changes) texts(thing string) []string {
	var all []string
	add := func(n int, one, several string) {
		switch n {
		case 0:
		case 1:
			all = append(all, term.Count(n, thing)+" "+one)
		default:
			all = append(all, term.Count(n, thing)+" "+several)
		}
	}
	reasons := commonest(c.reasons)
	why := strings.Join(lists.Map(reasons, func(reason string) string { return fmt.Sprintf("%s %d", reason, c.reasons[reason]) }), ", ")
	if len(reasons) == 1 {
		why = reasons[0]
	}
	add(c.failed, "could not be committed", "could not be committed")
	add(c.blocked, "is blocked ("+why+")", "are blocked ("+why+")")
	add(c.proposed, "waits in the open proposal", "wait in the open proposal")
	add(c.riding, "waits for the next commit", "wait for the next commit")
	return all
}
