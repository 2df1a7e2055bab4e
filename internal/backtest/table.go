package backtest

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Verdict is the result of a backtest.
type Verdict struct {
	Past            *Past
	Results         []Result
	Front           []bool // for each result
	Best            int    // index of a result; -1 without one
	Why             string
	Wants           Wants
	Period, Lasting time.Duration
}

// Table writes the verdict for users, and draws one workload.
func (v Verdict) Table(out io.Writer, s term.Style, drawn workload.ID) error {
	p := &term.Page{Style: s, Columns: 78}
	from, to := v.Past.Span()
	p.Line("%s with %s,\nfrom %s to %s. backtest simulates a tick every %s.\n",
		term.Count(len(v.Past.IDs()), "workload"), v.samples(),
		from.Format("2006-01-02 15:04"), to.Format("2006-01-02 15:04"), policy.Span(v.Period))
	head, body, _ := strings.Cut(v.table(), "\n")
	p.Line("%s\n%s", s.Faint(head), strings.TrimSuffix(body, "\n"))
	v.notes(p)
	if v.Best < 0 {
		p.Line("\n%s %s.", s.Heading("Recommended: none,"), v.Why)
		if slices.ContainsFunc(v.Results, func(r Result) bool { return r.Declared > 0 }) {
			p.Say("  ", "A replica count must last %s after git had a level for it. Use data over a longer time, or a shorter --min-duration.", policy.Span(v.Lasting))
		}
		return p.Print(out)
	}
	best := v.Results[v.Best]
	p.Line("\n%s %s", s.Heading("Recommended:"), best.Candidate.Name)
	p.Say("  ", "This policy has %s.", v.Why)
	if w := best.Worst; w.Measured() && w.Share < 1 {
		p.Say("  ", "At worst, git had %s of the %s pods that %s needed at %s.",
			term.Number(int64(w.Declared)), term.Number(int64(w.Need)), w.Workload.Short(), w.At.Format("2006-01-02 15:04"))
	}
	d := best.Candidate.Set.Default
	p.Line("\n  default: {series: %s, round: %s, hold: {up: %d, down: %s}, margin: %.3g%%}\n",
		d.Series, d.Round, d.HoldUp, policy.Span(d.HoldDown), 100*d.Margin)
	p.Line("%s  %s   %s", v.plot(drawn).Draw(s), s.Legend("desired replicas", "level in git"), s.Faint(since(from, to)))
	return p.Print(out)
}

// samples returns the number of samples, and the time between them if a workload has more
// than one.
func (v Verdict) samples() string {
	text := term.Number(v.Past.Samples()) + " samples"
	if v.Past.Samples() == 1 {
		text = "1 sample"
	}
	if step := v.Past.Step(); step > 0 {
		text += " at intervals of " + policy.Span(step)
	}
	return text
}

func (v Verdict) table() string {
	rows := [][]string{{"", "policy", "commits", "updates", "covered", "worst", "waste", ""}}
	for _, i := range v.quietest() {
		r := v.Results[i]
		mark := ""
		switch {
		case i == v.Best:
			mark = ">"
		case v.Front[i]:
			mark = "*"
		}
		rows = append(rows, []string{mark, clip(r.Candidate.Name, 22), fmt.Sprintf("%.2f", r.CommitsPerDay), term.Number(int64(r.Updates)),
			orDash(r.Need > 0, term.Percent(r.Coverage)), orDash(r.Worst.Measured(), term.Percent(r.Worst.Share)),
			term.Number(int64(r.Waste + 0.5)), orDash(r.Need > 0, term.Percent(r.Waste/r.Need))})
	}
	return term.Table("llrrrrrr", rows...)
}

// quietest returns the indexes of the results, with the fewest commits first.
func (v Verdict) quietest() []int {
	all := make([]int, len(v.Results))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Or(cmp.Compare(v.Results[a].CommitsPerDay, v.Results[b].CommitsPerDay), cmp.Compare(v.Results[a].Waste, v.Results[b].Waste))
	})
	return all
}

// notes adds explanations of the table, and of the workloads that it omits.
func (v Verdict) notes(p *term.Page) {
	notes := []string{
		"The column \"commits\" shows the commits per day. The column \"worst\" shows the lowest coverage at any time, without replica counts that lasted less than " + policy.Span(v.Lasting) + ". The column \"waste\" shows the wasted pod hours, and their percentage of the desired pod hours. " +
			"An asterisk (*) marks a policy if no other policy is better in one of these columns without being worse in another of these columns.",
	}
	if slices.ContainsFunc(v.Results, func(r Result) bool { return r.Reviews > 0 }) {
		notes = append(notes, "\"gitlatch backtest\" assumes that a reviewed level change is merged immediately.")
	}
	if v.Best >= 0 {
		if r := v.Results[v.Best]; r.Declared < r.Workloads {
			notes = append(notes, fmt.Sprintf("%d of %d workloads never got a level. Such a workload always had 0 replicas, is not latched, had only one sample, or had samples more than three periods apart.", r.Workloads-r.Declared, r.Workloads))
		}
	}
	for _, note := range notes {
		p.Whisper("  ", note)
	}
}

// plot draws the highest value of each bucket, and 0 for a bucket that was not observed.
func (v Verdict) plot(id workload.ID) term.Plot {
	from, to := v.Past.Span()
	of, bucket := v.Results[v.Best].Candidate, v.bucket(240)
	lines, _ := Follow(v.Past, of, []workload.ID{id}, bucket, nil)
	steps := func(all []Stretch) []term.Point {
		return lists.Map(all, func(s Stretch) term.Point {
			return term.Point{At: time.Duration(s.Bucket) * bucket, Value: float64(max(0, s.High))}
		})
	}
	return term.Plot{
		Title: id.Short() + " by " + of.Name, To: max(to.Sub(from), time.Second), Every: marks(to.Sub(from)).apart,
		Scale: steps(lines.Need[id]), Level: steps(lines.Level[id]),
	}
}

// A scale is the distance between the marks of a chart, and its unit.
type scale struct {
	apart time.Duration
	unit  string
}

// marks returns the scale for a span, with at most 13 marks up to 91 days apart.
func marks(span time.Duration) scale {
	const day = 24 * time.Hour
	for _, s := range []scale{
		{time.Minute, "minutes"}, {5 * time.Minute, "minutes"}, {10 * time.Minute, "minutes"}, {time.Hour, "hours"}, {3 * time.Hour, "hours"},
		{day, "days"}, {2 * day, "days"}, {7 * day, "days"}, {14 * day, "days"}, {28 * day, "days"}, {91 * day, "days"},
	} {
		if span <= 13*s.apart {
			return s
		}
	}
	return scale{364 * day, "days"}
}

// since returns the unit of a chart's marks and the start of the chart, with the time of
// day if the first sample is not at midnight.
func since(from, to time.Time) string {
	format := "2006-01-02"
	if !from.Truncate(24 * time.Hour).Equal(from) {
		format = "2006-01-02 15:04"
	}
	return marks(to.Sub(from)).unit + " since " + from.Format(format)
}

// orDash returns text, or "-" if it was not measured.
func orDash(measured bool, text string) string {
	if !measured {
		return "-"
	}
	return text
}

func clip(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return "..." + string(r[len(r)-most+3:])
	}
	return text
}
