package backtest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Report is the result of a backtest. Its JSON only gets new fields, and never changes
// existing ones. Times are RFC 3339 in UTC, and spans are in the form of Go.
type Report struct {
	term.Document
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Workloads int       `json:"workloads"`
	Samples   int64     `json:"samples"`
	Step      string    `json:"step"`   // usual time between samples; "0s" if it is unknown
	Period    string    `json:"period"` // from one tick to the next
	// Policies has the hourly job, and then the policies that were compared.
	Policies []Row `json:"policies"`
	// Plot has the desired replicas of one workload, and its levels by the first policy.
	Plot term.Plot `json:"-"`
}

// Say prints progress.
type Say func(format string, args ...any)

// Compare replays a past that was checked with an hourly job and with the candidates,
// which all have the same period. There is at least one candidate. Compare draws one
// workload, and calls say with its progress. The error is the error of the context.
func Compare(ctx context.Context, past *Past, candidates []Candidate, drawn workload.ID, say Say) (Report, error) {
	from, to := past.Span()
	period := candidates[0].Set.Guards.Period
	r := Report{
		Document: term.DocumentOf("Backtest"), From: from, To: to, Workloads: len(past.IDs()), Samples: past.Samples(),
		Step: past.Step().String(), Period: period.String(), Policies: []Row{Hourly(past, 3*period, from)},
		Plot: term.Plot{Title: drawn.Short() + " with policy " + candidates[0].Name, To: max(to.Sub(from), time.Second), Every: term.Marks(to.Sub(from))},
	}
	for i, c := range candidates {
		var watch Watch
		if i == 0 {
			watch = r.draw(drawn, 3*period)
		}
		row, err := Try(ctx, past, c, watch)
		if err != nil {
			return r, err
		}
		r.Policies = append(r.Policies, row)
		say("tried %d of %d policies", i+1, len(candidates))
	}
	return r, nil
}

// draw returns a function that adds the changes of a workload to the plot. Its desired
// replicas fall to 0 in a gap.
func (r *Report) draw(drawn workload.ID, gap time.Duration) Watch {
	last := r.From
	return func(id workload.ID, at time.Time, need, level int32, levelled bool) {
		if id != drawn {
			return
		}
		if at.Sub(last) > gap {
			r.Plot.Scale = append(r.Plot.Scale, term.Point{At: last.Sub(r.From) + 1})
		}
		last = at
		r.Plot.Scale = append(r.Plot.Scale, term.Point{At: at.Sub(r.From), Value: float64(need)})
		if levelled {
			r.Plot.Level = append(r.Plot.Level, term.Point{At: at.Sub(r.From), Value: float64(level)})
		}
	}
}

// Table writes the report for users.
func (r Report) Table(out io.Writer, s term.Style) error {
	p := &term.Page{Style: s, Columns: 78}
	p.Line("%s\n", r.Opening())
	p.Line("%s", Table(s, r.Policies))
	if note := r.Note(); note != "" {
		p.Say("", "%s", note)
		p.Line("")
	}
	p.Line("%s  %s   %s", r.Plot.Draw(s), s.Legend("desired replicas", "level in git"), s.Faint(r.Since()))
	return p.Print(out)
}

// Opening describes the past and the replay in two lines.
func (r Report) Opening() string {
	samples := "a total of " + term.Number(r.Samples) + " samples"
	if r.Samples == 1 {
		samples = "1 sample"
	}
	if step, _ := time.ParseDuration(r.Step); step > 0 {
		samples += " at intervals of " + policy.Span(step)
	}
	period, _ := time.ParseDuration(r.Period)
	return fmt.Sprintf("%s with %s,\nfrom %s to %s. A simulated tick runs every %s.",
		term.Count(r.Workloads, "workload"), samples, r.From.Format(minute), r.To.Format(minute), policy.Span(period))
}

const minute = "2006-01-02 15:04"

// Note returns the numbers of workloads that never got a level, by policy; "" without
// such a workload.
func (r Report) Note() string {
	var without []string
	for _, p := range r.Policies {
		if p.Levels < r.Workloads {
			without = append(without, fmt.Sprintf("%d of %d with %s", r.Workloads-p.Levels, r.Workloads, p.Name))
		}
	}
	if without == nil {
		return ""
	}
	return fmt.Sprintf("Some workloads never got a level: %s. Such a workload always had 0 replicas, is not latched, had only one sample, or had samples more than three periods apart.", strings.Join(without, ", "))
}

// Since returns the unit of the plot's marks and the start of the plot.
func (r Report) Since() string {
	_, unit := term.UnitOf(r.Plot.Every)
	return unit + " since " + r.From.Format(minute)
}
