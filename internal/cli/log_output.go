package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/term"
)

var logOutputs = map[string]func(io.Writer, look, term.Style) error{
	"table": logTable,
	"json":  logJSON,
}

// logTable is a line a change, then how far it looked.
func logTable(out io.Writer, l look, s term.Style) error {
	columns := max(s.Width, term.Narrow)
	var b strings.Builder
	if len(l.Changes) > 0 {
		logRows(&b, l.Changes, columns, s)
	} else {
		fmt.Fprintf(&b, "%s: no change in %s\n", l.query.ID, term.Count(l.Looked, "commit"))
	}
	if l.Cut {
		text := fmt.Sprintf("older commits were not looked at: %s, back to %s", term.Count(l.Looked, "commit"), l.Oldest.UTC().Format(time.RFC3339))
		if l.Looked == 0 {
			text = "older commits were not looked at"
		}
		text += "; --commits looks further, where the repository has more than a shallow clone's"
		b.WriteString(strings.Join(term.Fold(text, columns), "\n") + "\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// logRows is a line a change, and why below it.
func logRows(out io.Writer, changes []history.Change, columns int, s term.Style) {
	var plain strings.Builder
	t := tabwriter.NewWriter(&plain, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "WHEN\tCOMMIT\tWHO\tCHANGE\n")
	for _, c := range changes {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", c.At.UTC().Format("2006-01-02 15:04"), c.Commit[:min(7, len(c.Commit))], brief(by(c)), strings.Join(facts(c), ", "))
	}
	_ = t.Flush() // into memory
	const indent = "  "
	i := -1
	for line := range strings.Lines(plain.String()) {
		line = strings.TrimSuffix(line, "\n")
		if i++; i == 0 {
			fmt.Fprintln(out, s.Heading(line))
			continue
		}
		fmt.Fprintln(out, line)
		c := changes[i-1]
		for _, why := range term.Fold(cmp.Or(c.Reason, c.Subject), columns-len(indent)) {
			fmt.Fprintln(out, indent+s.Faint(why))
		}
	}
}

// brief is a name that leaves room for what comes after it.
func brief(name string) string {
	const most = 24
	if runes := []rune(name); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return name
}

// facts are the facts that a change changed, each as a person says it.
func facts(c history.Change) (said []string) {
	switch {
	case c.Broken != nil:
		return []string{"cannot be read"}
	case c.WasBroken:
		said = append(said, "can be read")
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
		said = append(said, fmt.Sprintf("%s%s -> %s", name, before, after))
	}
	fact("", from.Replicas, to.Replicas, "new", "removed")
	if from.Replicas > 0 && to.Replicas > 0 {
		fact("min ", from.Min, to.Min, "none", "none")
		fact("max ", from.Max, to.Max, "none", "none")
	}
	return append(said, rolloutChanged(from.Rollout, to.Rollout)...)
}

// rolloutChanged is how a rollout went on: where it began, how far it got, or
// what else of it is other than before.
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

// A logDocument is a history for machines. Fields are added and never changed.
type logDocument struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Site       string      `json:"site"`
	Workload   string      `json:"workload"` // namespace/kind/name
	Looked     int         `json:"commitsLookedAt"`
	Cut        bool        `json:"cut"` // there is more history, which was not looked at
	Changes    []logChange `json:"changes"`
}

// A logChange is one commit. From and to are whole entries; null is none.
type logChange struct {
	Commit  string            `json:"commit"`
	At      time.Time         `json:"at"`
	By      string            `json:"by"` // gitlatch, or the author's name
	Author  string            `json:"author"`
	Subject string            `json:"subject"`
	Reason  string            `json:"reason,omitempty"`
	From    *checkpoint.Entry `json:"from"`
	To      *checkpoint.Entry `json:"to"`
	Broken  string            `json:"broken,omitempty"` // why the record cannot be read after it
}

// orNull is an entry for machines; nil where it is none.
func orNull(e checkpoint.Entry) *checkpoint.Entry {
	if e.IsZero() {
		return nil
	}
	return &e
}

func logJSON(out io.Writer, l look, _ term.Style) error {
	d := logDocument{APIVersion: term.Version, Kind: "CheckpointLog", Site: l.site, Workload: l.query.ID.String(), Looked: l.Looked, Cut: l.Cut, Changes: []logChange{}}
	for _, c := range l.Changes {
		change := logChange{Commit: c.Commit, At: c.At.UTC(), By: by(c), Author: c.Author, Subject: c.Subject, Reason: c.Reason, From: orNull(c.From), To: orNull(c.To)}
		if c.Broken != nil {
			change.Broken = c.Broken.Error()
		}
		d.Changes = append(d.Changes, change)
	}
	return term.JSON(out, d)
}
