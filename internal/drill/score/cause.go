package score

import (
	"fmt"

	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
)

// causes returns the reasons why a rebuild starts a workload with fewer pods than it
// needs: first the answers about a rebuild, then problems of the level in git.
func (one subject) causes() []drill.Cause {
	causes := []drill.Cause{}
	add := func(name, text, fix string) { causes = append(causes, drill.Cause{Name: name, Text: text, Fix: fix}) }
	switch {
	case one.unknown != "":
		add(string(policy.ReasonUnread), one.unknown, "")
		return causes
	case !one.runs:
		add(drill.CauseNotRunning, "Git has a level for the workload, but the workload does not exist in the cluster.", "")
		return causes
	case one.need == 0 || one.leftOut():
		if one.decision.Reason != policy.ReasonNone {
			add(string(one.decision.Reason), one.decision.Text, "")
		}
		return causes
	case one.start >= one.need:
		return causes
	}
	if one.Level > 0 && one.Start.Low < one.Level {
		for _, f := range one.Lowers {
			if f.Trap != doctor.MaxUnderNeed { // it is about the level in git
				add(string(f.Trap), f.Text, f.Fix)
			}
		}
	}
	if one.start < one.Start.Low {
		add(drill.CauseQuota, fmt.Sprintf("A ResourceQuota in namespace %s is too small for all pods. The workload starts %d of %s.", one.ID.Namespace, one.start, term.Count(one.Start.Low, "pod")),
			"raise the limits in spec.hard of the ResourceQuota")
	}
	if one.Level < one.need {
		causes = append(causes, one.declared())
	}
	return causes
}

// declared returns the reason why the level in git is lower than the need.
func (one subject) declared() drill.Cause {
	for _, f := range one.Lowers {
		if f.Trap == doctor.MaxUnderNeed {
			return drill.Cause{Name: string(f.Trap), Text: f.Text, Fix: f.Fix}
		}
	}
	d := one.decision
	if one.proposed >= one.need {
		return drill.Cause{Name: drill.CauseProposed, Text: fmt.Sprintf("The pull request that sets the level of the workload to %d is not merged.", one.proposed), Fix: "merge the pull request"}
	}
	if d.Reason != policy.ReasonNone {
		return drill.Cause{Name: string(d.Reason), Text: d.Text}
	}
	if one.Level == 0 {
		return drill.Cause{Name: drill.CauseUndeclared, Text: "Git has no level for the workload: " + d.Text}
	}
	if one.policy.Round == policy.RoundNearest && d.Verdict == policy.Quiet {
		return drill.Cause{Name: drill.CauseRounded, Text: fmt.Sprintf("The policy of the workload rounds %s to the nearest level, %d.", term.Count(one.need, "replica"), one.Level), Fix: "set round: up in the policy"}
	}
	return drill.Cause{Name: drill.CauseDeclared, Text: fmt.Sprintf("The level in git is %d, but the workload needs %s: %s", one.Level, term.Count(one.need, "pod"), d.Text)}
}
