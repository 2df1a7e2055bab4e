package restore

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
)

// WriteTable writes the report for a person: the plan, what is left and why,
// and a line of counts.
func WriteTable(w io.Writer, r Report) error {
	var b strings.Builder
	if !r.Releasing {
		r.plan(&b)
	}
	for _, released := range r.Released {
		fmt.Fprintf(&b, "%s: %s\n", released.Scaler, r.outcome(released.Outcome))
	}
	for _, notice := range r.Notices {
		fmt.Fprintf(&b, "notice: %s\n", notice)
	}
	for _, left := range r.Since {
		fmt.Fprintf(&b, "left since the plan: %s %s\n", term.Name(left.ID), left.Text)
	}
	for _, u := range r.Unfinished {
		fmt.Fprintf(&b, "not there yet: %s has %d of %d asked for, %d ready\n", term.Name(u.ID), u.Replicas, u.To, u.Ready)
	}
	fmt.Fprintln(&b, r.summary())
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Report) plan(b *strings.Builder) {
	if len(r.Plan.Waves) > 0 {
		t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "WAVE\tWORKLOAD\tREPLICAS\tTO\tBRAKES")
		for i, wave := range r.Plan.Waves {
			for _, one := range wave.Raises {
				fmt.Fprintf(t, "%d %s\t%s\t%d\t%s\t%s\n", i+1, wave.Name, term.Name(one.ID), one.From, to(one), scalers(one.Scalers))
			}
		}
		_ = t.Flush() // to a builder, which takes all
	}
	for _, left := range r.Plan.Left {
		fmt.Fprintf(b, "left: %s %s\n", term.Name(left.ID), left.Text)
	}
}

func to(r plan.Raise) string {
	if r.Capped {
		return fmt.Sprintf("%d, its max", r.To)
	}
	return fmt.Sprint(r.To)
}

// scalers names what gets a brake; its namespace is the workload's.
func scalers(all []plan.Scaler) string {
	var names []string
	for _, s := range all {
		names = append(names, map[plan.Kind]string{plan.HPA: "hpa", plan.ScaledObject: "scaledobject"}[s.Kind]+"/"+s.Name)
	}
	if names == nil {
		return "-"
	}
	return strings.Join(names, ", ")
}

func (r Report) outcome(o brake.Outcome) string {
	text := map[brake.Outcome]string{
		brake.Released: "may scale down again, as before",
		brake.Changed:  "somebody changed it meanwhile, and it stays so; only our note is gone",
		brake.None:     "had no brake any more",
	}[o]
	if r.DryRun {
		text = map[brake.Outcome]string{
			brake.Released: "would be released",
			brake.Changed:  "somebody changed it meanwhile, and it would stay so",
		}[o]
	}
	return text
}

func (r Report) summary() string {
	pods, workloads := int64(0), 0
	for _, wave := range r.Plan.Waves {
		for _, one := range wave.Raises {
			workloads++
			pods += int64(one.To - one.From)
		}
	}
	var text string
	switch {
	case r.Releasing && len(r.Released) == 0:
		text = "no brake to release"
	case r.Releasing:
		text = term.Count(len(r.Released), "brake")
	case workloads == 0:
		text = "nothing to raise"
	case r.DryRun:
		text = fmt.Sprintf("would raise %s by %d pods, in %s", term.Count(workloads, "workload"), pods, term.Count(len(r.Plan.Waves), "wave"))
	default:
		text = fmt.Sprintf("raised %d of %s, set %s", len(r.Raised), term.Count(workloads, "workload"), term.Count(r.set(), "brake"))
	}
	if r.Plan.Reached > 0 {
		text += fmt.Sprintf("; %d at their level or above", r.Plan.Reached)
	}
	if r.Holding > 0 {
		text += "; in force: " + term.Count(r.Holding, "brake")
	}
	if r.DryRun {
		text += "\nnothing was written: --yes does it"
	}
	return text
}

func (r Report) set() (n int) {
	for _, b := range r.Braked {
		if b.Outcome == brake.Set || b.Outcome == brake.Extended {
			n++
		}
	}
	return n
}
