package policy_test

import (
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A glance is one sample of a workload in the oracle's memory.
type glance struct {
	workload.Rollout
	at    time.Time
	blind bool // the sample did not see the rollout
	gap   bool // too long after the previous glance
}

// A memory is a second implementation of the rule of rollouts. It is slow, uses all
// glances, and has no stopwatch.
type memory struct {
	policy   policy.Policy
	past     []glance
	declared checkpoint.Rollout
}

// want returns the rollout that git should contain after the latest glance.
func (o *memory) want() checkpoint.Rollout {
	n, rec := len(o.past)-1, o.declared
	now, none := o.past[n], checkpoint.Rollout{}
	if now.blind {
		return rec
	} else if !now.InFlight {
		return none
	}
	target, failed := now.Templates[0], o.failing(n)
	earlier := !target.Since.IsZero() && target.Since.Before(now.Templates[1].Since)
	if rec == none && !failed && (earlier || o.observed(o.first(n, false), n) < o.policy.RolloutAfter) {
		return none
	}
	begins := target.Hash != rec.From.Hash && target.Hash != rec.To.Hash
	if begins {
		old := slices.MaxFunc(now.Templates[1:], func(a, b workload.Template) int { return int(a.Available - b.Available) })
		for _, t := range now.Templates[1:] {
			if rec.Returns == checkpoint.SideFrom && t.Hash == rec.From.Hash && t.Available > 0 {
				old = t
			}
		}
		rec = checkpoint.Rollout{Returns: checkpoint.SideFrom, From: checkpoint.Template{Hash: old.Hash}, To: checkpoint.Template{Hash: target.Hash}, ImagesOnly: old.ImagesOnly}
	}
	percent := max(0, o.percent(n))
	milestone := slices.ContainsFunc(policy.Milestones(), func(at int32) bool { return rec.Milestone < at && percent >= at })
	held := percent >= o.policy.Cut && n > o.first(n, true) && !now.gap && o.percent(n-1) >= o.policy.Cut
	switch {
	case target.Hash == rec.From.Hash:
		rec.Milestone, rec.Phase, rec.Returns = 0, checkpoint.PhaseReturning, checkpoint.SideFrom
	case failed:
		rec.Milestone, rec.Phase, rec.Returns = 0, checkpoint.PhaseFailed, checkpoint.SideFrom
	case begins, milestone, held && rec.Returns == checkpoint.SideFrom, rec.Phase == checkpoint.PhaseFailed, rec.Phase == checkpoint.PhaseReturning:
		rec.Milestone, rec.Phase = percent, map[bool]checkpoint.Phase{true: checkpoint.PhaseProgressing, false: checkpoint.PhaseHalted}[now.Halted == ""]
		if held {
			rec.Returns = checkpoint.SideTo
		}
	}
	return rec
}

// first returns the first glance of the rollout in glance n; with target, the first
// glance with the same target.
func (o *memory) first(n int, target bool) int {
	first := n
	for i := n; i >= 0; i-- {
		switch g := o.past[i]; {
		case g.blind:
		case !g.InFlight, target && g.Templates[0].Hash != o.past[n].Templates[0].Hash:
			return first
		default:
			first = i
		}
	}
	return first
}

// observed returns the observed time from one glance to another.
func (o *memory) observed(from, to int) (lasted time.Duration) {
	for i := from + 1; i <= to; i++ {
		if g := o.past[i]; !g.blind && !g.gap {
			lasted += g.at.Sub(o.past[i-1].at)
		}
	}
	return lasted
}

// peak returns the most available pods of a target from one glance to another, without
// the pods that were scaled in since.
func (o *memory) peak(from, to int) (peak int32) {
	for _, g := range o.past[from : to+1] {
		if !g.blind {
			peak = max(min(peak, g.Templates[0].Desired), g.Templates[0].Available)
		}
	}
	return peak
}

// fails reports whether glance n shows a failure.
func (o *memory) fails(n int) bool {
	first, since := o.first(n, true), n
	for i := n; i >= first; i-- { // back to the latest new pod, or to a glance with all pods
		if g := o.past[i]; !g.blind {
			target := g.Templates[0]
			if target.Available >= target.Desired {
				break
			}
			if since = i; target.Available > min(o.peak(first, i-1), target.Desired) {
				break
			}
		}
	}
	g, target := o.past[n], o.past[n].Templates[0]
	none := target.Available < target.Desired && o.observed(since, n) >= o.policy.ProgressDeadline
	return g.Failure != "" || none && (g.Unjudged && g.Halted == "" || 2*target.Available < o.peak(first, n))
}

// percent returns the healthy progress of the target in glance n; -1 if it was not
// healthy.
func (o *memory) percent(n int) int32 {
	g := o.past[n]
	if g.blind || o.fails(n) || 20*g.Templates[0].Available < 19*min(o.peak(o.first(n, true), n), g.Templates[0].Desired) {
		return -1
	}
	return min(99, 100*g.Templates[0].Available/g.Desired)
}

// failing reports whether the target failed by glance n, and was not healthy for long
// enough since.
func (o *memory) failing(n int) (failing bool) {
	healthy := -1 // the first healthy glance in a row
	for i := o.first(n, true); i <= n; i++ {
		switch {
		case o.past[i].blind:
		case o.percent(i) < 0:
			failing, healthy = failing || o.fails(i), -1
		case healthy < 0:
			healthy = i
		case o.observed(healthy, i) >= o.policy.ProgressDeadline:
			failing = false
		}
	}
	return failing
}
