package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Table prints the report for users: the workloads that are not quiet, and the number of
// the others. If the style has a width, as on a terminal, text wraps. Otherwise each
// workload has one line.
func (d Document) Table(out io.Writer, s term.Style) error {
	p := &term.Page{Style: s, Columns: s.Width}
	if d.Held != "" {
		p.Line("%s: nothing to do", d.Held)
		return p.Print(out)
	}
	p.Rows(d.rows())
	if text := d.leftOut(); text != "" {
		p.Say("", "%s", text)
	}
	for _, n := range d.Notices {
		p.Say("", "%s %s: %s", n.Kind, n.Subject, n.Text)
	}
	if d.Stop.Reason != policy.ReasonNone {
		p.Say("", "%s", d.Stop)
		p.Fix("  ", d.Stop.Fix)
	}
	if d.Proposal != nil {
		p.Say("", "proposed %s: %s", d.Proposal.URL, d.Proposal.Subject)
	}
	for _, c := range d.Conditions {
		if c.Kind.Anomaly() { // the problems include the conditions of the site
			c.say(p)
		}
	}
	for _, a := range d.Alerts {
		p.Say("", "alert: %s", a)
	}
	if text, ok := d.outcome(); text != "" {
		p.Verdict(ok, text)
	}
	return p.Print(out)
}

// rows returns one row for each workload. A long reason wraps in its column.
func (d Document) rows() [][]string {
	rows := [][]string{{"WORKLOAD", "REPLICAS", "IN GIT", "DECISION", "WHY"}}
	for _, w := range d.Workloads {
		if w.told() {
			rows = append(rows, []string{term.Name(w.ID()), term.Some(w.Replicas), term.Some(w.Declared), w.decision(term.Some, raises), w.why()})
		}
		if r := w.Rollout; r != nil && r.told() {
			rows = append(rows, []string{term.Name(w.ID()) + " rollout", r.pods(), part(r.Declared), r.decision(part, writes), r.Text})
		}
	}
	return rows
}

// say prints a condition, with its details indented below it.
func (c Condition) say(p *term.Page) {
	p.Say("", "%s: %s", c.Severity, cmp.Or(c.Title, strings.TrimSpace(string(c.Kind)+" "+c.Subject)))
	p.Say("  ", "%s", c.Text)
	if c.Effect != "" {
		p.Say("  ", "Effect: %s", c.Effect)
	}
	p.Fix("  ", c.Fix)
}

// skips are the reasons of skipped workloads, as users read them.
var skips = map[policy.Reason]string{
	policy.ReasonUndriven: "without an autoscaler",
	policy.ReasonSystem:   "in kube-system",
	policy.ReasonIgnored:  "ignored by a policy",
	policy.ReasonOptedOut: "opted out",
	policy.ReasonNoScale:  "of a kind without replicas",
	policy.ReasonName:     "with too long a name",
}

// leftOut returns the number of workloads without a row, the most common reason first.
func (d Document) leftOut() string {
	quiet := 0
	n := 0
	skipped := map[string]int{}
	for _, w := range d.Workloads {
		switch {
		case w.told():
		case w.Verdict == policy.Skip:
			n++
			skipped[cmp.Or(skips[w.Reason], string(w.Reason))]++
		default:
			quiet++
		}
	}
	if quiet+n == 0 {
		return ""
	}
	text := "Not listed: " + term.Count(quiet, "unchanged workload")
	if n > 0 {
		why := lists.Map(commonest(skipped), func(reason string) string { return term.Number(int64(skipped[reason])) + " " + reason })
		text += fmt.Sprintf(", %s (%s)", term.Count(n, "skipped workload"), strings.Join(why, ", "))
	}
	return text + ". To list all workloads, use -o json."
}

// commonest returns reasons, the most common first.
func commonest(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// decision returns the verdict, and the new value in git of a level change.
func (d Decided) decision(value func(*int32) string, change func(from, to *int32) string) string {
	switch {
	case d.Verdict != policy.Cross:
		return string(d.Verdict)
	case d.To == nil:
		return "remove"
	}
	return change(d.Declared, d.To) + " " + value(d.To)
}

// raises returns what a level change does to the level in git, in words. A level that stays has
// new bounds.
func raises(from, to *int32) string {
	switch {
	case from == nil || *from < *to:
		return "raise to"
	case *from > *to:
		return "lower to"
	}
	return "keep"
}

// writes returns what a level change does to a rollout entry, in words.
func writes(*int32, *int32) string { return "write" }

func (w Workload) why() string {
	why := w.Text
	if w.Mismatch != nil {
		why += fmt.Sprintf(". The cluster allows %s, but the minimum or maximum in git is different", w.Mismatch)
	}
	if w.Capped {
		why += ". The desired replicas are above the maximum in git"
	}
	return why
}

// pods returns the available pods of the target and the desired pods of the rollout.
func (r Rollout) pods() string {
	if r.Desired == nil {
		return "-"
	}
	return fmt.Sprintf("%d of %d", *r.Available, *r.Desired)
}

// part formats a milestone.
func part(n *int32) string {
	if n == nil {
		return "-"
	}
	return term.Some(n) + " %"
}
