package history

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Table prints a row for each change with its reason below it, then the searched range.
func (l Log) Table(out io.Writer, s term.Style) error {
	p := term.NewPage(s)
	rows := [][]string{{"WHEN", "COMMIT", "WHO", "CHANGE"}}
	for _, c := range l.Changes {
		rows = append(rows, []string{c.At.UTC().Format("2006-01-02 15:04"), c.Commit[:min(7, len(c.Commit))], brief(c.by()), strings.Join(c.facts(), ", ")})
	}
	for i, lines := range term.Rows(rows, 0) {
		switch {
		case i > 0:
			p.Line("%s", lines[0])
			p.Whisper("  ", cmp.Or(l.Changes[i-1].Reason, l.Changes[i-1].Subject))
		case len(l.Changes) > 0:
			p.Line("%s", s.Heading(lines[0]))
		default:
			p.Line("%s: no change in %s", l.ID, term.Count(l.Looked, "commit"))
		}
	}
	if l.Cut {
		far := ""
		if l.Looked > 0 {
			far = fmt.Sprintf("read %s, the oldest from %s. It ", term.Count(l.Looked, "commit"), l.Oldest.UTC().Format(time.RFC3339))
		}
		p.Say("", "\"gitlatch log\" %sdid not read older commits. The command reads at most %s, and fewer in a shallow clone.", far, term.Count(l.Commits, "commit"))
	}
	return p.Print(out)
}

// MarshalJSON returns the history for machines. Later versions may add fields, and change
// no field.
func (l Log) MarshalJSON() ([]byte, error) {
	return term.Marshal(struct {
		term.Document
		Site     string      `json:"site"`
		Workload workload.ID `json:"workload"`
		Looked   int         `json:"commitsLookedAt"`
		Cut      bool        `json:"cut"` // older commits exist that were not searched
		Changes  []Change    `json:"changes"`
	}{term.DocumentOf("CheckpointLog"), l.Site, l.ID, l.Looked, l.Cut, append([]Change{}, l.Changes...)})
}

// MarshalJSON returns the commit for machines. from and to are full entries; null if
// absent.
func (c Change) MarshalJSON() ([]byte, error) {
	type commit Change
	c.At = c.At.UTC()
	d := struct {
		commit
		By     string            `json:"by"` // gitlatch, or the author's name
		From   *checkpoint.Entry `json:"from"`
		To     *checkpoint.Entry `json:"to"`
		Broken string            `json:"broken,omitempty"` // why the checkpoint file cannot be read after the commit
	}{commit: commit(c), By: c.by()}
	if !c.From.IsZero() {
		d.From = &c.From
	}
	if !c.To.IsZero() {
		d.To = &c.To
	}
	if c.Broken != nil {
		d.Broken = c.Broken.Error()
	}
	return term.Marshal(d)
}

// by returns the author of a change: gitlatch, or the name of a user.
func (c Change) by() string {
	if c.Ours {
		return "gitlatch"
	}
	name, _, _ := strings.Cut(c.Author, " <")
	return sanitize.Line(name)
}

// brief returns a name that fits into its column.
func brief(name string) string {
	const most = 24
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}

// facts returns the changed facts of an entry as texts for users.
func (c Change) facts() (texts []string) {
	switch {
	case c.Broken != nil:
		return []string{"cannot be read"}
	case c.WasBroken:
		texts = append(texts, "can be read")
	}
	from, to := c.From, c.To
	fact := func(name string, from, to int32, none, gone string) {
		if from == to {
			return
		}
		before, after := none, gone
		if from != 0 {
			before = fmt.Sprint(from)
		}
		if to != 0 {
			after = fmt.Sprint(to)
		}
		texts = append(texts, fmt.Sprintf("%s%s -> %s", name, before, after))
	}
	fact("", from.Replicas, to.Replicas, "new", "removed")
	if from.Replicas > 0 && to.Replicas > 0 {
		fact("min ", from.Min, to.Min, "none", "none")
		fact("max ", from.Max, to.Max, "none", "none")
	}
	return append(texts, rolloutChanged(from.Rollout, to.Rollout)...)
}

// rolloutChanged returns the change of a rollout as texts: its start, its progress or
// another changed field.
func rolloutChanged(from, to checkpoint.Rollout) []string {
	none := checkpoint.Rollout{}
	switch {
	case from == to:
		return nil
	case to == none:
		return []string{fmt.Sprintf("rollout %d %% -> done", from.Milestone)}
	case from == none || from.To.Hash != to.To.Hash:
		return []string{fmt.Sprintf("rollout new -> %d %%", to.Milestone)}
	case from.Phase != to.Phase && from.Milestone == to.Milestone:
		return []string{"rollout " + string(to.Phase)}
	case from.Milestone == to.Milestone && from.Returns == to.Returns:
		return []string{"rollout rewritten"}
	case from.Milestone == to.Milestone:
		return []string{"rollout returns " + string(to.Returns)}
	}
	text := fmt.Sprintf("rollout %d -> %d %%", from.Milestone, to.Milestone)
	if from.Phase != to.Phase {
		text += " " + string(to.Phase)
	}
	return []string{text}
}
