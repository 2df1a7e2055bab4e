package diff

import (
	"fmt"
	"io"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Table is a line a row of which a person should hear, then what is left out and
// what holds for the site.
func (r Report) Table(out io.Writer, s term.Style) error {
	p := term.NewPage(s)
	left := map[State]int{}
	var told []Row
	for _, row := range r.Rows {
		if r.Named || row.Told() {
			told = append(told, row)
		} else {
			left[row.State]++
		}
	}
	p.Painted(rows(told), func(i int) bool { return !told[i].Differs() })
	switch n, skipped := left[InSync], left[Unlatched]; {
	case len(r.Rows) == 0:
		p.Say("", "nothing runs in site %s, and git declares nothing", r.Site)
	case n > 0 && skipped > 0:
		p.Say("", "%d in sync, %d not latched; diff -o json lists all", n, skipped)
	case n > 0:
		p.Say("", "%d in sync; diff -o json lists all", n)
	case skipped > 0:
		p.Say("", "%d not latched; diff -o json lists all", skipped)
	}
	if slices.ContainsFunc(told, func(row Row) bool { return row.State == Pending || row.State == Waiting }) {
		p.Say("", "timers and holds are in the state, which diff does not read: gitlatch explain")
	}
	if r.Proposal != "" {
		p.Say("", "proposed: %s", r.Proposal)
	}
	if n := r.unproven(); n > 0 {
		p.Say("", "nothing is known to keep the checkpoints of %s inert: gitlatch doctor --write looks for what does", term.Count(n, "workload"))
	}
	if r.Stop.Reason != policy.ReasonNone {
		p.Say("", "%s", r.Stop)
		p.Fix("  ", r.Stop.Fix)
	}
	if !r.Set.Latch {
		p.Say("", "mode is observe: nothing is written to git")
	}
	return p.Print(out)
}

// rows are a line a row; why is folded below itself. What is proposed has a column
// where anything is.
func rows(of []Row) [][]string {
	rows, proposed := [][]string{{"WORKLOAD", "LIVE", "IN GIT", "PROPOSED", "STATE", "WHY"}}, false
	for _, r := range of {
		row := []string{r.name(), r.live(), r.level(r.Declared), "-", string(r.State), r.why()}
		if r.Proposed != nil {
			row[3], proposed = r.level(*r.Proposed), true
		}
		rows = append(rows, row)
	}
	if !proposed {
		for i, row := range rows {
			rows[i] = slices.Delete(row, 3, 4)
		}
	}
	return rows
}

// name is the workload of a row as people call it, and its reading.
func (r Row) name() string {
	if r.Reading == policy.ReadingRollout {
		return term.Name(r.ID) + " rollout"
	}
	return term.Name(r.ID)
}

// live is what runs: pods, or how many of them are those of a rollout's target.
func (r Row) live() string {
	s := r.Sample
	switch {
	case r.flies():
		return fmt.Sprintf("%d of %d", s.Rollout.Templates[0].Available, s.Rollout.Desired)
	case r.Reading == policy.ReadingScale && s.Scale != nil:
		return fmt.Sprint(s.Scale.Desired)
	}
	return "-"
}

// level is what an entry says of the reading of a row.
func (r Row) level(e checkpoint.Entry) string {
	text := term.Some(r.Reading.Of(e))
	if r.Reading == policy.ReadingRollout && text != "-" {
		text += " %"
	}
	return text
}

// why is a row's sentence, with what else a person should know.
func (r Row) why() string {
	text := r.Text
	if r.Mismatch != nil {
		text += "; " + r.otherBounds()
	}
	if r.Capped {
		text += "; capped by git"
	}
	return text
}

// otherBounds says how the live bounds differ from the accepted ones.
func (r Row) otherBounds() string {
	return fmt.Sprintf("live bounds are %s, accepted ones %s", r.Mismatch, policy.Bounds{Min: r.Declared.Min, Max: r.Declared.Max})
}

// unproven is of how many workloads nothing is known to keep the checkpoint inert.
func (r Report) unproven() int {
	return each.Count(r.Rows, func(row Row) bool { return row.Unproven })
}
