package score

import (
	"cmp"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
)

// unknown returns the reason why the need of a workload is unknown, or "". It also
// returns "" for a workload that is not latched and not in git.
func (s seen) unknown(one subject) string {
	switch {
	case one.Level == 0 && (one.decision.Verdict == "" || one.decision.Verdict == policy.Skip):
		return ""
	case one.runs && one.sample.Scale == nil:
		return "its scale is unknown: " + cmp.Or(one.sample.Unknown, "it could not be read")
	case !one.runs && len(s.Tick.Unread) > 0:
		return "it was not found, and part of the cluster could not be read"
	}
	return ""
}

// nothing returns the reason why a fleet has no coverage, or "" if it has one.
func nothing(d drill.Document) string {
	declared := lists.Count(d.Workloads, func(w drill.Workload) bool { return w.Declared != nil })
	switch f := d.Fleet; {
	case f.Need > 0:
		return ""
	case f.NeedUnknown > 0:
		return fmt.Sprintf("the need of %s is unknown, and no other workload needs pods", term.Count(f.NeedUnknown, "workload"))
	case len(d.Unread) > 0:
		return "no workload that could be read needs pods"
	case declared > 0:
		return fmt.Sprintf("no workload needs pods now, but git has levels for %s", term.Count(declared, "workload"))
	}
	return "gitlatch writes no level for any of its workloads, and git has no level"
}

// notices returns the reasons to trust the coverage less. dropped is true during a mass
// drop.
func notices(l Look, d drill.Document) (dropped bool, notices []string) {
	notices = []string{}
	if drop := l.Tick.Head.Drop; drop != nil {
		dropped = true
		notices = append(notices, fmt.Sprintf("a mass drop started at %s, %s at once. Coverage compares with the live replicas, so a drill proves nothing until the workloads recover, or until you run \"gitlatch adopt\"",
			drop.Since.UTC().Format(time.RFC3339), term.Count(drop.Workloads, "workload")))
	}
	if f := d.Fleet; f.Nothing == "" && f.NeedUnknown > 0 {
		notices = append(notices, fmt.Sprintf("the need of %s is unknown. Coverage leaves them out", term.Count(f.NeedUnknown, "workload")))
	}
	if f := d.Fleet; f.Nothing == "" && f.Unknown > 0 {
		notices = append(notices, fmt.Sprintf("the number of pods at the start of %s is unknown. The lower coverage uses the lowest possible number, and the higher coverage uses the highest", term.Count(f.Unknown, "workload")))
	}
	if f := d.Fleet; f.Nothing == "" && f.Stated > 0 {
		notices = append(notices, fmt.Sprintf("the number of pods at the start of %s depends on \"admission: {first: true}\" in the policy, which a user states and gitlatch cannot observe", term.Count(f.Stated, "workload")))
	}
	idle := lists.Count(d.Workloads, func(w drill.Workload) bool { return len(w.Causes) > 0 && w.Causes[0].Name == drill.CauseNotRunning })
	if idle > 0 && d.Fleet.Nothing == "" {
		notices = append(notices, fmt.Sprintf("git has levels for %s that the cluster does not have. Coverage leaves them out", term.Count(idle, "workload")))
	}
	return dropped, notices
}
