package restore

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Table prints the report for the terminal: the plan, the skipped workloads with their
// reasons, and a summary line.
func (r Report) Table(out io.Writer, s term.Style) error {
	p := term.Page{Style: s}
	if !r.Releasing {
		r.planned(&p)
	}
	for _, released := range r.Released {
		p.Line("%s: %s", released.Scaler, r.outcome(released.Outcome))
	}
	for _, notice := range r.Notices {
		p.Line("notice: %s", notice)
	}
	for _, left := range r.Since {
		p.Line("skipped after the plan: %s %s", term.Name(left.ID), left.Text)
	}
	for _, u := range r.Unfinished {
		p.Line("not ready yet: %s has %d of %d replicas, %d ready", term.Name(u.ID), u.Replicas, u.To, u.Ready)
	}
	if len(r.Unfinished) > 0 {
		p.Line("To find out whether the cluster has room for these pods, run gitlatch doctor.")
	}
	p.Line("%s", r.summary())
	return p.Print(out)
}

func (r Report) planned(p *term.Page) {
	rows := [][]string{{"WAVE", "WORKLOAD", "REPLICAS", "TO", "BRAKES"}}
	for _, one := range r.Braked {
		one.To = max(one.From, one.To) // its brake lowers nothing
		rows = append(rows, []string{"-", term.Name(one.ID), fmt.Sprint(one.From), to(one), scalers(one.Scalers)})
	}
	for i, wave := range r.Waves {
		for _, one := range wave.Raises {
			rows = append(rows, []string{fmt.Sprintf("%d %s", i+1, wave.Name), term.Name(one.ID), fmt.Sprint(one.From), to(one), scalers(one.Scalers)})
		}
	}
	p.Rows(rows)
	for _, left := range r.Left {
		if left.Skips() {
			p.Line("skipped: %s %s", term.Name(left.ID), left.Text)
		} else {
			p.Line("not raised: %s %s", term.Name(left.ID), left.Text)
		}
	}
}

func to(r plan.Raise) string {
	if r.Capped {
		return fmt.Sprintf("%d (maximum)", r.To)
	}
	return fmt.Sprint(r.To)
}

// scalers names the autoscalers that get a brake. Their namespace is the workload's. A
// workload without an autoscaler needs no brake.
func scalers(all []plan.Scaler) string {
	short := map[plan.Kind]string{plan.HPA: "hpa", plan.ScaledObject: "scaledobject"}
	names := lists.Map(all, func(s plan.Scaler) string { return short[s.Kind] + "/" + s.Name })
	return cmp.Or(strings.Join(names, ", "), "no autoscaler")
}

func (r Report) outcome(o brake.Outcome) string {
	text := map[brake.Outcome]string{
		brake.Released: "may scale down again",
		brake.Changed:  "changed by a user. gitlatch keeps the change and removes its annotation",
		brake.None:     "had no brake",
	}[o]
	if r.DryRun {
		text = map[brake.Outcome]string{
			brake.Released: "would be released",
			brake.Changed:  "changed by a user. gitlatch would keep the change",
		}[o]
	}
	return text
}

func (r Report) summary() string {
	pods, brakes := int64(0), 0
	raises := map[workload.ID]bool{}
	for _, one := range r.All() {
		brakes += len(one.Scalers)
		if one.To > one.From {
			raises[one.ID] = true
			pods += int64(one.To - one.From)
		}
	}
	workloads := len(raises)
	var text string
	switch {
	case r.Releasing && len(r.Released) == 0:
		text = "no brake to release"
	case r.Releasing && r.DryRun:
		text = "would release " + term.Count(len(r.Released), "brake")
	case r.Releasing:
		text = "released " + term.Count(len(r.Released), "brake")
	case workloads == 0 && r.DryRun:
		text = "The restore would raise no workload"
	case workloads == 0:
		text = "The restore raised no workload"
	case r.DryRun:
		text = fmt.Sprintf("The restore would add %s to %s in %s", term.Count(int(pods), "pod"), term.Count(workloads, "workload"), term.Count(len(r.Waves), "wave"))
	default:
		text = fmt.Sprintf("The restore raised %s of %s", term.Number(int64(len(r.Raised))), term.Count(workloads, "workload"))
	}
	switch {
	case r.Releasing:
	case r.DryRun:
		text += ", and set " + term.Count(brakes, "brake")
	default:
		text += ", and set " + term.Count(r.set(), "brake")
	}
	if reached := lists.Count(r.Braked, func(one plan.Raise) bool { return !one.Capped }); reached > 0 {
		text += fmt.Sprintf("; already at the level or above: %s", term.Count(reached, "workload"))
	}
	if r.Holding > 0 {
		text += "; active: " + term.Count(r.Holding, "brake")
	}
	if r.DryRun {
		text += ".\nNothing was written. To make these changes, run the command again with --yes."
	}
	return text
}

func (r Report) set() int {
	return lists.Count(r.Brakes, func(b Braked) bool { return b.Outcome == brake.Set || b.Outcome == brake.Extended })
}
