package restore

import (
	"fmt"
	"io"

	"github.com/gitlatch/gitlatch/internal/restore/split"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Table writes the report for a person: what is seeded, what stays, what is left
// and why, and a line of counts.
func (r SplitReport) Table(out io.Writer, style term.Style) error {
	p := term.Page{Style: style}
	rows := [][]string{{"WORKLOAD", "LOST AT", "PODS", "BEFORE", "TARGET", "SEED"}}
	for _, s := range r.Seeded {
		rows = append(rows, []string{term.Name(s.ID), fmt.Sprintf("%d %%", s.Reached), fmt.Sprint(s.Replicas), fmt.Sprint(s.Pods), target(s), s.Name})
	}
	p.Rows(rows)
	for _, s := range r.Seeded {
		if s.Halted {
			p.Line("notice: %s was halted, and goes on once it is created: kubectl rollout pause keeps it", term.Name(s.ID))
		}
	}
	for _, s := range r.Standing {
		p.Line("%s/%s: %s", s.Namespace, s.Name, stands(s))
	}
	for _, s := range r.Taken {
		p.Line("%s/%s: %s taken back, with %s", s.Namespace, s.Name, r.was("is", "would be"), term.Count(s.Pods, "pod"))
	}
	for _, left := range r.Left {
		p.Line("left: %s %s", term.Name(left.ID), left.Text)
	}
	p.Line("%s", r.summary())
	return p.Print(out)
}

// target says how many pods of the target come up beside a seed.
func target(s split.Seed) string {
	if s.Surge > 0 {
		return fmt.Sprintf("%d, %d of them surge", s.Target, s.Surge)
	}
	return fmt.Sprint(s.Target)
}

func stands(s split.Standing) string {
	if s.Adopter == "" {
		return fmt.Sprintf("seeded already, %d of %s ready", s.Ready, term.Count(int(s.Pods), "pod"))
	}
	return fmt.Sprintf("adopted by %s, %d of %s ready", s.Adopter, s.Ready, term.Count(int(s.Pods), "pod"))
}

func (h Head) was(did, would string) string {
	if h.DryRun {
		return would
	}
	return did
}

func (r SplitReport) summary() string {
	pods := int64(0)
	for _, s := range r.Seeded {
		pods += int64(s.Pods)
	}
	var text string
	switch {
	case r.Releasing && len(r.Taken) == 0:
		return "no seed to take back"
	case r.Releasing:
		text = r.was("took back ", "would take back ") + term.Count(len(r.Taken), "seed")
	case len(r.Seeded) == 0:
		return "nothing to seed"
	default:
		text = fmt.Sprintf("%s%s with %d pods", r.was("seeded ", "would seed "), term.Count(len(r.Seeded), "rollout"), pods)
	}
	if r.DryRun {
		return text + "\nnothing was written: --yes does it"
	}
	if r.Releasing {
		return text
	}
	return text + "; now let what creates the Deployments go on"
}
