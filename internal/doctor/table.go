package doctor

import (
	"cmp"
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
	p.Remarks(r.remarks(), listed)
	for _, unread := range r.Unread {
		p.Say("", "could not be read: %s", unread)
		p.Line("")
	}
	if len(r.Workloads) == 0 {
		p.Say("", "site %s: the policy latches no live workload, and git has no level", r.Site)
	} else {
		p.Rows(r.rows())
		p.Line("")
		for _, line := range r.Fit.Lines() {
			p.Say("", "%s", line)
		}
		p.Line("")
		p.Verdict(r.Clean(), r.summary())
	}
	return p.Print(out)
}

// remarks returns the findings. Findings with the same trap and text are one remark.
func (r Report) remarks() (all term.Remarks) {
	for _, f := range r.Findings {
		all.Add(string(f.Trap), f.Subject, f.Text, f.Fix)
	}
	return all
}

// listed returns up to five subjects by name. For more subjects, it returns the number of
// workloads, or of objects such as Applications, and the list of their namespaces.
func listed(subjects []string) string {
	places := lists.Map(subjects, func(name string) string { return strings.Split(name, "/")[0] })
	kind, _, named := strings.Cut(places[0], " ")
	if !named || slices.ContainsFunc(places, func(at string) bool { return !strings.HasPrefix(at, kind+" ") }) {
		kind = "workload"
	}
	namespaces := slices.Compact(lists.Map(places, func(at string) string { return strings.TrimPrefix(at, kind+" ") }))
	if len(subjects) <= 5 || len(namespaces) == len(subjects) {
		return strings.Join(subjects, ", ")
	}
	return fmt.Sprintf("%d %ss in %s", len(subjects), kind, strings.Join(namespaces, ", "))
}

// summary returns one line about the report.
func (r Report) summary() string {
	inert := lists.Count(r.Workloads, func(w Workload) bool { return len(w.Inert) > 0 })
	declared := lists.Count(r.Workloads, func(w Workload) bool { return w.Level > 0 })
	there := lists.Count(r.Workloads, func(w Workload) bool { return w.Level > 0 && w.Start >= w.Level })
	found := "nothing to fix"
	if n := len(r.remarks()); n > 0 {
		found = term.Count(n, "problem") + " to fix (see \"gitlatch help traps\")"
	}
	if len(r.Unread) > 0 {
		found += ", and some resources could not be read"
	}
	rebuild := fmt.Sprintf("A rebuild starts %d of %d workloads at their level in git", there, declared)
	if declared == 0 {
		rebuild = "Git has no levels yet"
	}
	return fmt.Sprintf("%s: %s. A rule protects the live replicas of %d of %s. %s.",
		r.Site, found, inert, term.Count(len(r.Workloads), "workload"), rebuild)
}

// rows returns a header and one row for each workload. A long name of a rule wraps in its
// column.
func (r Report) rows() [][]string {
	rows := [][]string{{"WORKLOAD", "LIVE", "IN GIT", "REBUILT AT", "PROTECTED BY"}}
	for _, w := range r.Workloads {
		rule := cmp.Or(w.Inert.Names(), "no rule found")
		if w.Returns != "" {
			rule += "; a rollout returns to " + w.Returns
		}
		start := "unknown"
		if n := w.RebuiltAt(); n != nil {
			start = term.Some(n)
		}
		rows = append(rows, []string{term.Name(w.ID), term.Positive(w.Live), term.Positive(w.Level), start, rule})
	}
	return rows
}
