package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
)

// table is the report for a person: what is not quiet, and a line of counts.
func (d Document) table(out io.Writer, columns int) error {
	if d.Held != "" {
		_, err := fmt.Fprintln(out, d.Held+": nothing to do")
		return err
	}
	if err := d.Brief().rows(out, columns); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(d.leftOut())
	for _, m := range d.inPlace {
		b.WriteString(m + "\n")
	}
	for _, n := range d.Notices {
		fmt.Fprintf(&b, "%s %s: %s\n", n.Kind, n.Subject, n.Text)
	}
	if d.Stop != nil {
		stopped := "lowered"
		if d.Stop.All {
			stopped = "changed"
		}
		fmt.Fprintf(&b, "nothing is %s (%s): %s\n", stopped, d.Stop.Reason, d.Stop.Text)
	}
	if d.Proposal != nil {
		fmt.Fprintf(&b, "proposed %s: %s\n", d.Proposal.URL, d.Proposal.Subject)
	}
	for _, c := range d.Conditions {
		if alert.Kind(c.Kind).Anomaly() { // what is wrong with the site is among the problems
			b.WriteString(c.lines(columns))
		}
	}
	for _, a := range d.Alerts {
		fmt.Fprintf(&b, "alert: %s\n", a)
	}
	switch {
	case d.Commit == nil && d.Mode == "observe":
		b.WriteString("mode is observe: nothing is written to git\n")
	case d.Commit == nil && d.Proposal == nil && slices.ContainsFunc(d.Workloads, func(w Workload) bool {
		return w.Verdict == string(policy.Cross) || w.Rollout != nil && w.Rollout.Verdict == string(policy.Cross)
	}):
		b.WriteString("what crosses could not be committed\n")
	case d.Commit == nil && d.Proposal == nil:
		b.WriteString("no threshold was crossed: no commit\n")
	case d.Commit == nil:
	case d.DryRun:
		fmt.Fprintf(&b, "would commit: %s\n", d.Commit.Subject)
	default:
		fmt.Fprintf(&b, "commit %s: %s\n", d.Commit.ID, d.Commit.Subject)
	}
	text := b.String()
	if columns > 0 {
		text = ""
		for line := range strings.Lines(b.String()) {
			text += strings.Join(term.Fold(line, columns), "\n") + "\n"
		}
	}
	_, err := io.WriteString(out, text)
	return err
}

// rows are the workloads, a line each and a column a fact. What is why is folded
// below itself.
func (d Document) rows(out io.Writer, columns int) error {
	if len(d.Workloads) == 0 {
		return nil
	}
	rows := [][]string{{"WORKLOAD", "REPLICAS", "DECLARED", "DECISION", "WHY"}}
	for _, w := range d.Workloads {
		if w.told() {
			rows = append(rows, []string{w.name(), pods(w.Replicas), pods(w.Declared), w.decision(), w.why()})
		}
		if r := w.Rollout; r != nil && r.told() {
			rows = append(rows, []string{w.name() + " rollout", r.pods(), r.declared(), r.decision(), r.Text})
		}
	}
	var b strings.Builder
	for _, lines := range term.Rows(rows, columns) {
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// lines are a condition for a person, what follows from it below it.
func (c Condition) lines(columns int) string {
	var b strings.Builder
	const indent = "  "
	fmt.Fprintf(&b, "%s: %s\n", c.Severity, strings.TrimSpace(c.Kind+" "+c.Subject))
	for _, said := range []struct{ label, text string }{{"", c.Text}, {"gitlatch: ", c.Did}, {"do: ", c.Do}} {
		if said.text == "" {
			continue
		}
		lines := []string{said.label + said.text}
		if columns > 0 {
			lines = term.Fold(lines[0], columns-len(indent))
		}
		for _, line := range lines {
			b.WriteString(indent + line + "\n")
		}
	}
	return b.String()
}

// leftOut is a line that counts the workloads of which there is nothing to say.
func (d Document) leftOut() string {
	shown, quiet, skipped := 0, 0, map[string]int{}
	for _, w := range d.Workloads {
		if w.told() {
			shown++
		}
		switch w.Verdict {
		case string(policy.Skip):
			skipped[w.Reason]++
		case string(policy.Quiet):
			if !w.told() {
				quiet++
			}
		}
	}
	if len(d.Workloads) == shown {
		return ""
	}
	text := fmt.Sprintf("%d quiet", quiet)
	if skips := len(d.Workloads) - shown - quiet; skips > 0 {
		reasons := slices.SortedFunc(maps.Keys(skipped), func(a, b string) int {
			return cmp.Or(cmp.Compare(skipped[b], skipped[a]), cmp.Compare(a, b))
		})
		for i, r := range reasons {
			reasons[i] = fmt.Sprintf("%s %d", r, skipped[r])
		}
		text += fmt.Sprintf(", %d not latched: %s", skips, strings.Join(reasons, ", "))
	}
	return text + "; tick -o json lists all\n"
}

// name is the workload as people call it; only what is no Deployment says its
// kind.
func (w Workload) name() string {
	if w.Kind == "deployment" {
		return w.Namespace + "/" + w.Name
	}
	return w.Namespace + "/" + w.Kind + "/" + w.Name
}

func (w Workload) decision() string {
	if w.Verdict == "cross" && w.To != nil {
		return "cross to " + pods(w.To)
	}
	return w.Verdict
}

func (w Workload) why() string {
	why := w.Text
	if w.Mismatch != nil {
		why += fmt.Sprintf("; live bounds differ from git's: %s", policy.Bounds(*w.Mismatch))
	}
	if w.Capped {
		why += "; capped by git"
	}
	return why
}

// pods is how many of the pods that a rollout asks for are those of its target.
func (r Rollout) pods() string {
	if r.Desired == nil {
		return "-"
	}
	return fmt.Sprintf("%d of %d", *r.Available, *r.Desired)
}

func (r Rollout) declared() string {
	if r.Declared == nil {
		return "-"
	}
	return fmt.Sprintf("%d %%", *r.Declared)
}

func (r Rollout) decision() string {
	switch {
	case r.Verdict != "cross":
		return r.Verdict
	case r.To == nil:
		return "cross to none"
	}
	return fmt.Sprintf("cross to %d %%", *r.To)
}

func pods(n *int32) string {
	if n == nil {
		return "-"
	}
	return strconv.Itoa(int(*n))
}
