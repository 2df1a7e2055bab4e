package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// drillTable is a drill for people: the verdict, the rows that lack anything,
// why, and what else bears on a rebuild.
func drillTable(out io.Writer, d drill.Document, columns int, all bool) error {
	p := drillPage{Document: d, columns: columns}
	p.verdict()
	p.rows(all)
	p.unknown()
	p.causes()
	p.rollouts()
	p.notes()
	_, err := io.WriteString(out, p.text.String())
	return err
}

type drillPage struct {
	drill.Document
	columns int
	text    strings.Builder
}

// say writes a paragraph, folded.
func (p *drillPage) say(indent, format string, args ...any) {
	for _, line := range term.Fold(fmt.Sprintf(format, args...), p.columns-len(indent)) {
		fmt.Fprintf(&p.text, "%s%s\n", indent, line)
	}
}

func (p *drillPage) verdict() {
	s, f := p.Summary(), p.Fleet
	p.say("", "%s", strings.TrimPrefix(s.Headline(), "gitlatch "))
	p.text.WriteString("\n")
	for _, notice := range p.Notices {
		p.say("  ", "Notice: %s.", notice)
	}
	if len(p.Notices) > 0 {
		p.text.WriteString("\n")
	}
	if f.Nothing == "" {
		p.score()
	}
	p.say("  ", "%s: %s on %s%s.", map[bool]string{true: "Scored", false: "Looked at"}[f.Nothing == ""], p.Commit[:min(len(p.Commit), 7)], p.Branch, p.flushed())
	if p.Tag != "" {
		p.say("  ", "Tagged: %s.", p.Tag)
	}
	if l := p.Last; l != nil {
		was := drill.Percent(l.Coverage)
		if l.Nothing != "" {
			was = "not known"
		}
		p.say("  ", "At the last drill, %s, it was %s; %s changed since.", l.At.UTC().Format("2006-01-02 15:04"), was, term.Count(len(l.Changes), "workload"))
	}
	p.text.WriteString("\n")
}

// score is how much of the need is there at the start, and when the rest is.
func (p *drillPage) score() {
	f, full := p.Fleet, "start with all that they need"
	if p.Fleet.Full == 1 {
		full = "starts with all that it needs"
	}
	p.say("  ", "%d of %d pods. Of %s, %d %s, and %d with less than %s of it.", f.Covered, f.Need, term.Count(f.Workloads, "workload"), f.Full, full, f.Low, drill.Percent(p.MinCoverage))
	p.say("  ", "All at their need after %s; without checkpoints after %s.", lasting(f.With, f.StuckWith), lasting(f.Without, f.StuckWithout))
}

func lasting(seconds int64, stuck int) string {
	if stuck == 0 {
		return drill.Span(seconds)
	}
	return fmt.Sprintf("%s, but for %d that nothing scales up", drill.Span(seconds), stuck)
}

// flushed says what the drill declared before.
func (p *drillPage) flushed() string {
	f := p.Flush
	switch {
	case p.Mode == "observe":
		return ", as it is: the site observes"
	case p.DryRun && len(f.Levels)+len(f.Proposed) > 0:
		return fmt.Sprintf(", as it is; a drill would declare %s", term.Count(len(f.Levels)+len(f.Proposed), "level"))
	case p.DryRun:
		return ", as it is; a drill would declare nothing"
	case f.Proposal != "":
		return fmt.Sprintf("; %s proposed, which is not merged: %s", term.Count(len(f.Proposed), "level"), f.Proposal)
	case f.Commit == "" && p.Fleet.Nothing != "":
		return ""
	case f.Commit == "":
		return ", which says what is needed"
	}
	return fmt.Sprintf(", which declares %s anew", term.Count(len(f.Levels), "level"))
}

// rows is a line for each workload that lacks anything, or for all.
func (p *drillPage) rows(all bool) {
	t := tabwriter.NewWriter(&p.text, 0, 0, 2, ' ', 0)
	shown, full, unscored := 0, 0, 0
	for _, w := range p.Workloads {
		switch {
		case w.Unknown != "": // has a part of its own
		case w.Coverage == nil:
			unscored++
		case w.Missing == 0:
			full++
		}
		if !all && (w.Coverage == nil || w.Missing == 0) {
			continue
		}
		if shown++; shown == 1 {
			fmt.Fprintln(t, "WORKLOAD\tNEED\tDECLARED\tREBUILT AT\tCOVERED\tSINCE\tCAUSE")
		}
		cause, covered := "", "-"
		if len(w.Causes) > 0 {
			cause = w.Causes[0].Name
		}
		if w.Coverage != nil {
			covered = drill.Percent(*w.Coverage)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", term.Name(workloadOf(w)), term.Some(w.Need), term.Some(w.Declared), term.Some(w.RebuiltAt), covered, p.since(w.Checkpoint), cause)
	}
	_ = t.Flush() // into memory
	if shown > 0 {
		p.text.WriteString("\n")
	}
	for _, left := range p.LeftOut {
		p.say("  ", "Left out: %s, %s.", term.Count(left.Workloads, "workload"), left.Text)
	}
	if unscored > 0 && !all {
		p.say("  ", "Without a score: %s that nothing is asked of just now; --all lists them.", term.Count(unscored, "workload"))
	}
	if len(p.LeftOut) > 0 || unscored > 0 && !all {
		p.text.WriteString("\n")
	}
}

// since is the age of a checkpoint.
func (p *drillPage) since(c *drill.Checkpoint) string {
	if c == nil {
		return "-"
	}
	age := time.Duration(c.AgeSeconds) * time.Second
	text := fmt.Sprintf("%dm", int(age.Minutes()))
	switch {
	case age >= 48*time.Hour:
		text = fmt.Sprintf("%dd", int(age.Hours()/24))
	case age >= 2*time.Hour:
		text = fmt.Sprintf("%dh", int(age.Hours()))
	}
	if c.OrBefore {
		text += "+"
	}
	return text
}

// unknown says of which workloads it is not known what they need, and why.
func (p *drillPage) unknown() {
	var order []string
	by := map[string][]string{}
	for _, w := range p.Workloads {
		if w.Unknown == "" {
			continue
		}
		if !slices.Contains(order, w.Unknown) {
			order = append(order, w.Unknown)
		}
		by[w.Unknown] = append(by[w.Unknown], term.Name(workloadOf(w)))
	}
	for _, why := range order {
		p.say("", "unknown: %s", term.Among(by[why]))
		p.say("  ", "%s", why)
		p.text.WriteString("\n")
	}
}

// causes says each cause once, with the workloads that it lowers.
func (p *drillPage) causes() {
	type said struct{ name, text string }
	var order []said
	by := map[said][]string{}
	for _, w := range p.Workloads {
		for _, c := range w.Causes {
			if w.Missing == 0 {
				continue
			}
			one := said{c.Name, c.Text}
			if !slices.Contains(order, one) {
				order = append(order, one)
			}
			by[one] = append(by[one], term.Name(workloadOf(w)))
		}
	}
	for _, one := range order {
		p.say("", "%s: %s", one.name, term.Among(by[one]))
		p.say("  ", "%s", one.text)
		p.text.WriteString("\n")
	}
}

func (p *drillPage) rollouts() {
	for _, w := range p.Workloads {
		if w.Rollout != nil {
			p.say("", "rollout: %s", term.Name(workloadOf(w)))
			p.say("  ", "%s", w.Rollout.Text)
			p.text.WriteString("\n")
		}
	}
}

// notes is what does not lower the coverage, and what went wrong.
func (p *drillPage) notes() {
	frozen := map[string][]string{}
	for _, w := range p.Workloads {
		if w.Frozen != nil {
			frozen[w.Frozen.Reason] = append(frozen[w.Frozen.Reason], term.Name(workloadOf(w)))
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(frozen)) {
		p.say("", "frozen, %s: %s", reason, term.Among(frozen[reason]))
	}
	harmless := 0
	for _, f := range p.Findings {
		if len(f.Workloads) == 0 {
			harmless++
		}
	}
	if harmless > 0 {
		p.say("", "gitlatch doctor has %s more to mend, which a rebuild does not suffer from", fmt.Sprint(harmless))
	}
	for _, w := range p.Flush.Withheld {
		p.say("", "not declared: %s %s -> %s: %s", w.Namespace+"/"+w.Name, term.Some(w.From), term.Some(w.To), w.Text)
	}
	for _, text := range p.Unread {
		p.say("", "not read: %s", text)
	}
	for _, text := range p.Problems {
		p.say("", "problem: %s", text)
	}
	for _, l := range p.Links {
		fmt.Fprintf(&p.text, "%s: %s\n", l.Form, l.URI) // not folded, to be copied
	}
}

func workloadOf(w drill.Workload) workload.ID {
	return workload.ID{Namespace: w.Namespace, Kind: workload.Kind(w.Kind), Name: w.Name}
}
