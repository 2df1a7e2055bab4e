package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/diff"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// diffOutputs write a comparison.
var diffOutputs = map[string]func(io.Writer, difference, term.Style) error{
	"table":  diffTable,
	"json":   diffJSON,
	"yaml":   diffYAML,
	"github": diffGitHub,
}

// diffTable is a line a row of which a person should hear, then what is left out
// and what holds for the site.
func diffTable(out io.Writer, d difference, s term.Style) error {
	var b strings.Builder
	left := map[diff.State]int{}
	var rows []diff.Row
	for _, row := range d.Rows {
		if d.named || row.Told() {
			rows = append(rows, row)
		} else {
			left[row.State]++
		}
	}
	columns := max(s.Width, term.Narrow)
	diffRows(&b, rows, columns, s)
	say := func(format string, args ...any) {
		b.WriteString(strings.Join(term.Fold(fmt.Sprintf(format, args...), columns), "\n") + "\n")
	}
	switch n, skipped := left[diff.InSync], left[diff.Unlatched]; {
	case len(d.Rows) == 0:
		say("nothing runs in site %s, and git declares nothing", d.Site)
	case n > 0 && skipped > 0:
		say("%d in sync, %d not latched; diff -o json lists all", n, skipped)
	case n > 0:
		say("%d in sync; diff -o json lists all", n)
	case skipped > 0:
		say("%d not latched; diff -o json lists all", skipped)
	}
	if d.proposal != "" {
		say("proposed: %s", d.proposal)
	}
	if n := len(unproven(d.Rows)); n > 0 {
		say("nothing is known to keep the checkpoints of %s inert: gitlatch doctor --write looks for what does", term.Count(n, "workload"))
	}
	if d.Stop.Reason != policy.ReasonNone {
		stopped := "lowered"
		if d.Stop.All {
			stopped = "changed"
		}
		say("nothing is %s (%s): %s", stopped, d.Stop.Reason, d.Stop.Text)
	}
	if d.Observe {
		say("mode is observe: nothing is written to git")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// diffRows is a line a row; why is folded below itself. Nothing is painted but
// whole lines, so that columns stay columns.
func diffRows(out io.Writer, of []diff.Row, columns int, s term.Style) {
	if len(of) == 0 {
		return
	}
	rows, proposed := [][]string{{"WORKLOAD", "LIVE", "DECLARED", "PROPOSED", "STATE", "WHY"}}, false
	for _, r := range of {
		rows = append(rows, []string{rowName(r), live(r), declaredOf(r, r.Declared), "-", string(r.State), why(r)})
		if r.Proposes {
			rows[len(rows)-1][3], proposed = declaredOf(r, r.Proposed), true
		}
	}
	if !proposed {
		for i, row := range rows {
			rows[i] = append(row[:3:3], row[4:]...)
		}
	}
	for i, lines := range term.Rows(rows, columns) {
		paint := s.Faint
		switch {
		case i == 0:
			paint = s.Heading
		case of[i-1].Differs():
			paint = func(text string) string { return text }
		}
		for _, line := range lines {
			fmt.Fprintln(out, paint(line))
		}
	}
}

// rowName is the workload of a row as people call it, and its reading.
func rowName(r diff.Row) string {
	if r.Reading == policy.ReadingRollout {
		return term.Name(r.ID) + " rollout"
	}
	return term.Name(r.ID)
}

// live is what runs: pods, or how many of them are those of a rollout's target.
func live(r diff.Row) string {
	s := r.Sample
	switch {
	case r.Reading == policy.ReadingRollout && s.Rollout != nil && len(s.Rollout.Templates) > 0:
		return fmt.Sprintf("%d of %d", s.Rollout.Templates[0].Available, s.Rollout.Desired)
	case r.Reading == policy.ReadingScale && s.Scale != nil:
		return fmt.Sprint(s.Scale.Desired)
	}
	return "-"
}

// declaredOf is what an entry says of the reading of a row.
func declaredOf(r diff.Row, e checkpoint.Entry) string {
	switch {
	case e.IsZero():
		return "-"
	case r.Reading == policy.ReadingScale:
		return term.Positive(e.Replicas)
	case e.Rollout == checkpoint.Rollout{}:
		return "-"
	}
	return fmt.Sprintf("%d %%", e.Rollout.Milestone)
}

// why is a row's sentence, with what else a person should know.
func why(r diff.Row) string {
	text := r.Text
	if r.Mismatch != nil {
		text += "; " + boundsDiffer(r)
	}
	if r.Capped {
		text += "; capped by git"
	}
	return text
}

// boundsDiffer says how the live bounds differ from the accepted ones.
func boundsDiffer(r diff.Row) string {
	return fmt.Sprintf("live bounds are %s, accepted ones %s", r.Mismatch, policy.Bounds{Min: r.Declared.Min, Max: r.Declared.Max})
}

// unproven are the workloads whose checkpoint nothing is known to keep inert.
func unproven(rows []diff.Row) (ids []workload.ID) {
	for _, r := range rows {
		if r.Unproven {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
