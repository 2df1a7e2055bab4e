package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Table prints the report for users: the findings, one row for each workload, and a
// summary.
func (r Report) Table(out io.Writer, s term.Style) error {
	p := term.NewPage(s)
	for _, f := range r.Findings {
		p.Say("", "%s (%s): %s", f.Trap, f.Basis, listed(f.Subjects))
		p.Say("  ", "%s", f.Text)
		p.Fix("  ", f.Fix)
		for line := range strings.Lines(f.Manifest) {
			p.Line("%s", strings.TrimSuffix(line, "\n")) // not folded, to be copied
		}
		p.Line("")
	}
	for _, unread := range r.Unread {
		if !r.explains(unread) {
			p.Say("", "could not be read: %s", unread)
			p.Line("")
		}
	}
	if len(r.Workloads) == 0 {
		p.Say("", "site %s: the policy latches no live workload, and git has no level", r.Site)
		return p.Print(out)
	}
	p.Rows(r.rows())
	p.Line("")
	p.Rows(r.Fit.Rows())
	p.Line("")
	for _, line := range r.Fit.Lines() {
		p.Say("", "%s", line)
	}
	p.Line("")
	if r.Marks != nil {
		p.Say("", "%s.", r.Marks)
	}
	if r.DryRuns > 0 {
		p.Say("", "Sent %s, which create nothing.", term.Count(r.DryRuns, "dry-run CREATE request"))
	}
	p.Verdict(r.Clean(), r.summary())
	return p.Print(out)
}

// listed returns up to five subjects by name. For more subjects, it returns the number of
// workloads, or of objects, and the list of their namespaces.
func listed(subjects []string) string {
	namespaces := slices.Compact(slices.Sorted(slices.Values(lists.Map(subjects, func(name string) string { return strings.Split(name, "/")[0] }))))
	if len(subjects) <= 5 || len(namespaces) == len(subjects) {
		return strings.Join(subjects, ", ")
	}
	return fmt.Sprintf("%d workloads in %s", len(subjects), strings.Join(namespaces, ", "))
}

// summary returns one line about the report.
func (r Report) summary() string {
	declared := lists.Filter(r.Workloads, func(w Workload) bool { return w.Level > 0 })
	at := func(basis Basis) int {
		return lists.Count(declared, func(w Workload) bool { return w.Start.Basis == basis && w.Start.Low >= w.Level })
	}
	unknown := lists.Count(declared, func(w Workload) bool { return w.Start.Basis == Unknown })
	found := "nothing to fix"
	if n := len(r.Findings); n > 0 {
		found = term.Count(n, "finding") + " (see \"gitlatch help troubleshooting\")"
	}
	if len(r.Unread) > 0 {
		found += ", and some resources could not be read"
	}
	if len(declared) == 0 {
		return fmt.Sprintf("%s: %s. Git has no levels yet.", r.Site, found)
	}
	text := fmt.Sprintf("%s: %s. A rebuild starts %s of %s at their levels in git (basis: %s observed, %s stated by a user).",
		r.Site, found, term.Number(int64(at(Observed)+at(Stated))), term.Count(len(declared), "workload"), term.Number(int64(at(Observed))), term.Number(int64(at(Stated))))
	if unknown > 0 {
		text += fmt.Sprintf(" For %s, it is unknown how many pods a rebuild starts.", term.Count(unknown, "workload"))
	}
	return text
}

// rows returns a header and one row for each workload.
func (r Report) rows() [][]string {
	rows := [][]string{{"WORKLOAD", "LIVE", "IN GIT", "REBUILT AT", "WITHOUT", "BASIS", "REASON"}}
	for _, w := range r.Workloads {
		reason := w.Start.Text
		if w.Returns != "" {
			reason += "; a rollout returns to " + w.Returns
		}
		rows = append(rows, []string{term.Name(w.ID), term.Some(w.Live), term.Positive(w.Level),
			w.Start.String(), w.Without.String(), w.Start.Basis.String(), reason})
	}
	return rows
}
