package diff

import (
	"fmt"
	"io"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Table writes one line for each row that is shown, then the number of omitted rows and
// the messages about the site.
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
		p.Say("", "site %s has no live workloads, and git has no levels", r.Site)
	case n > 0 && skipped > 0:
		p.Say("", "Not listed: %s in sync, %d not latched. To list all workloads, use -o json.", term.Count(n, "workload"), skipped)
	case n > 0:
		p.Say("", "Not listed: %s in sync. To list all workloads, use -o json.", term.Count(n, "workload"))
	case skipped > 0:
		p.Say("", "Not listed: %s not latched. To list all workloads, use -o json.", term.Count(skipped, "workload"))
	}
	if slices.ContainsFunc(told, func(row Row) bool { return row.State == Pending || row.State == Waiting }) {
		p.Say("", "\"gitlatch diff\" does not read timers or pauses. To see the timers and pauses of a workload, run \"gitlatch explain\".")
	}
	if r.Proposal != "" {
		p.Say("", "open proposal: %s", r.Proposal)
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

// rows returns one line for each row; the table folds the text of WHY. The column
// PROPOSED exists only if a row has a proposed entry.
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

// name returns the name of a row's workload for users, and its reading.
func (r Row) name() string {
	if r.Reading == policy.ReadingRollout {
		return term.Name(r.ID) + " rollout"
	}
	return term.Name(r.ID)
}

// live returns the desired pods, or for a rollout the available pods of its target.
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

// level returns the value of an entry for the reading of a row.
func (r Row) level(e checkpoint.Entry) string {
	text := term.Some(r.Reading.Of(e))
	if r.Reading == policy.ReadingRollout && text != "-" {
		text += " %"
	}
	return text
}

// why returns the text of a row, with remarks about its minimum and maximum replicas.
func (r Row) why() string {
	text := r.Text
	if r.Mismatch != nil {
		text += ". " + r.otherBounds()
	}
	if r.Capped && r.State != Bounds {
		text += ". The desired replicas are above the maximum in git"
	}
	return text
}

// otherBounds compares the live minimum and maximum replicas with the accepted ones.
func (r Row) otherBounds() string {
	return fmt.Sprintf("The cluster allows %s, but git allows %s", r.Mismatch, policy.Bounds{Min: r.Declared.Min, Max: r.Declared.Max})
}
