package drill

import (
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Table prints a drill for the terminal: the verdict, a row for each workload that lacks
// pods, the causes, and other remarks. The other formats have every workload.
func (d Document) Table(out io.Writer, s term.Style) error {
	p := sheet{d, term.NewPage(s)}
	p.Verdict(d.Passed, strings.TrimPrefix(d.Headline(), "gitlatch "))
	p.Line("")
	for _, line := range d.Lines() {
		p.Say("  ", "%s", line)
	}
	p.Line("")
	if d.Fit != nil {
		p.Rows(d.Fit.Rows())
		p.Line("")
	}
	p.rows()
	p.why()
	p.notes()
	return p.Print(out)
}

// A sheet is the page of a document.
type sheet struct {
	Document
	*term.Page
}

// rows prints a row for each workload that lacks pods.
func (p *sheet) rows() {
	rows := [][]string{{"WORKLOAD", "NEED", "IN GIT", "REBUILT AT", "COVERED", "SINCE", "CAUSE"}}
	unscored := 0
	for _, w := range p.Workloads {
		if w.Coverage == nil && w.Unknown == "" { // a workload with an unknown need has its own remark
			unscored++
		}
		if w.Missing == 0 {
			continue
		}
		covered := "-"
		if w.Coverage != nil {
			covered = percents(*w.Coverage, w.atMost())
		}
		rows = append(rows, []string{term.Name(w.ID()), term.Some(w.Need),
			term.Some(w.Declared), w.Start.String(), covered, p.since(w.Checkpoint), w.cause()})
	}
	p.Rows(rows)
	if len(rows) > 1 {
		p.Line("")
	}
	for _, left := range p.LeftOut {
		p.Say("  ", "Not counted in the coverage: %s (%s).", term.Count(left.Workloads, "workload"), left.Text)
	}
	if unscored > 0 {
		p.Say("  ", "Not counted in the coverage: %s with a need of 0 pods. To list these workloads, use -o html or -o json.", term.Count(unscored, "workload"))
	}
	if len(p.LeftOut) > 0 || unscored > 0 {
		p.Line("")
	}
}

// since formats the age of a checkpoint.
func (p *sheet) since(c *Checkpoint) string {
	if c == nil {
		return "-"
	}
	age := time.Duration(c.AgeSeconds) * time.Second
	text := duration.HumanDuration(age)
	if c.OrBefore {
		text += "+"
	}
	return text
}

// why prints the unknown needs, the causes, the rollouts and the frozen latches. Each
// text appears once, with its workloads.
func (p *sheet) why() {
	var unknown, causes, rollouts, frozen term.Remarks
	for _, w := range p.Workloads {
		name := term.Name(w.ID())
		if w.Unknown != "" {
			unknown.Add("unknown", name, w.Unknown, "")
		}
		for _, c := range w.Causes {
			if w.Missing > 0 {
				causes.Add(c.Name, name, c.Text, c.Fix)
			}
		}
		if w.Rollout != nil {
			rollouts.Add("rollout", name, w.Rollout.Text, "")
		}
		if w.Frozen != nil {
			frozen.Add("frozen, "+w.Frozen.Reason, name, "", "")
		}
	}
	p.Remarks(slices.Concat(unknown, causes, rollouts, frozen), term.Among)
}

// unexplained returns the blocked levels whose reason is not among the causes that
// why prints.
func (p *sheet) unexplained() []Level {
	type reason struct {
		of   term.Named
		name string
	}
	printed := map[reason]bool{}
	for _, w := range p.Workloads {
		for _, c := range w.Causes {
			if w.Missing > 0 {
				printed[reason{w.Named, c.Name}] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Flush.Withheld), func(l Level) bool { return printed[reason{l.Named, l.Reason}] })
}

// notes prints the other findings, the blocked levels, the problems and the links.
func (p *sheet) notes() {
	if harmless := lists.Count(p.Findings, func(f Finding) bool { return len(f.Workloads) == 0 }); harmless > 0 {
		p.Say("", "gitlatch doctor reports %s without an effect on the coverage", term.Count(harmless, "more finding"))
	}
	for _, w := range p.unexplained() {
		p.Say("", "not written: %s %s -> %s: %s", w.ID().Short(), term.Some(w.From), term.Some(w.To), w.Text)
	}
	for _, text := range p.Unread {
		p.Say("", "could not be read: %s", text)
	}
	for _, text := range p.Problems {
		p.Say("", "problem: %s", text)
	}
	for _, l := range p.Links {
		p.Line("%s: %s", l.Form, l.URI) // not folded, to be copied
	}
}
