package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// verdict is what came of a backtest.
type verdict struct {
	past            *backtest.Past
	results         []backtest.Result
	front           []bool
	best            int // -1 is none
	why             string
	wants           backtest.Wants
	period, lasting time.Duration
	all             bool // shows what is not on the front, too
}

func (v verdict) text(out io.Writer, s term.Style, drawn workload.ID) error {
	var b strings.Builder
	from, to := v.past.Span()
	fmt.Fprintf(&b, "%s with %s,\nfrom %s to %s, looked at every %s.\n\n",
		term.Count(len(v.past.IDs()), "workload"), v.samples(),
		from.Format("2006-01-02 15:04"), to.Format("2006-01-02 15:04"), policy.Span(v.period))
	b.WriteString(v.table(s))
	b.WriteString(v.notes(s))
	if v.best >= 0 {
		best := v.results[v.best]
		fmt.Fprintf(&b, "\n%s %s\n%s", s.Heading("Recommended:"), best.Candidate.Name, wrapped(v.why+"."))
		if w := best.Worst; w.Measured() && w.Share < 1 {
			b.WriteString(wrapped(fmt.Sprintf("At worst %s pods were declared of the %s that %s needed at %s.",
				term.Number(int64(w.Declared)), term.Number(int64(w.Need)), w.Workload.Short(), w.At.Format("2006-01-02 15:04"))))
		}
		fmt.Fprintf(&b, "\n    %s\n", asPolicy(best.Candidate.Set.Default))
		fmt.Fprintf(&b, "\n%s", v.plot(drawn).Draw(s))
		fmt.Fprintf(&b, "  %s   %s\n", s.Legend("pods asked for", "declared"), s.Faint(since(from, to)))
	} else {
		fmt.Fprintf(&b, "\n%s %s.\n", s.Heading("Recommended: none,"), v.why)
		if slices.ContainsFunc(v.results, func(r backtest.Result) bool { return r.Declared > 0 }) {
			b.WriteString(wrapped("A need must last " + policy.Span(v.lasting) + " after it was declared: give a longer past, or a shorter --lasting."))
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// samples says how many there are, and how far apart where there are several of
// one workload.
func (v verdict) samples() string {
	text := term.Number(v.past.Samples()) + " samples"
	if v.past.Samples() == 1 {
		text = "1 sample"
	}
	if step := v.past.Step(); step > 0 {
		text += ", " + policy.Span(step) + " apart"
	}
	return text
}

func (v verdict) table(s term.Style) string {
	rows := [][]string{{"", "policy", "commits", "updates", "covered", "worst", "waste pod h", ""}}
	for _, i := range v.shown() {
		r := v.results[i]
		mark := ""
		switch {
		case i == v.best:
			mark = ">"
		case v.front[i]:
			mark = "*"
		}
		rows = append(rows, []string{mark, clip(r.Candidate.Name, 22), fmt.Sprintf("%.2f", r.CommitsPerDay()), term.Number(int64(r.Updates)),
			orDash(r.Need > 0, percent(r.Coverage, 1)), orDash(r.Worst.Measured(), percent(r.Worst.Share, 0)),
			term.Number(int64(r.Waste + 0.5)), orDash(r.Need > 0, percent(r.Excess(), 0))})
	}
	head, body, _ := strings.Cut(term.Table("llrrrrrr", rows...), "\n")
	return s.Faint(head) + "\n" + body
}

// shown are the results that the table has, the quietest first.
func (v verdict) shown() []int {
	var shown []int
	for i := range v.results {
		if v.all || v.front[i] || i == v.best {
			shown = append(shown, i)
		}
	}
	slices.SortStableFunc(shown, func(a, b int) int {
		return cmp.Or(cmp.Compare(v.results[a].CommitsPerDay(), v.results[b].CommitsPerDay()), cmp.Compare(v.results[a].Waste, v.results[b].Waste))
	})
	return shown
}

// notes say what the table leaves out, or leaves to be guessed.
func (v verdict) notes(s term.Style) string {
	notes := []string{
		"Commits are a day; worst is of a need that lasted " + policy.Span(v.lasting) + "; waste is also given as a part of what was needed. " +
			"* is what no other beats in commits, worst or waste without being worse in another.",
	}
	if hidden := len(v.results) - len(v.shown()); hidden > 0 {
		notes = append(notes, fmt.Sprintf("Not shown: %d, no better in anything than one of these; --all shows all.", hidden))
	}
	if slices.ContainsFunc(v.results, func(r backtest.Result) bool { return r.Reviews > 0 }) {
		notes = append(notes, "Crossings for review are taken to be merged at once.")
	}
	if v.best >= 0 {
		if r := v.results[v.best]; r.Declared < r.Workloads {
			notes = append(notes, fmt.Sprintf("%d of %d workloads were never declared: at 0 all the time, sampled once or more than three periods apart, or not latched.", r.Workloads-r.Declared, r.Workloads))
		}
	}
	var b strings.Builder
	for _, note := range notes {
		for line := range strings.Lines(wrapped(note)) {
			b.WriteString(s.Faint(strings.TrimSuffix(line, "\n")) + "\n")
		}
	}
	return b.String()
}

// wrapped is text in lines of at most 78 columns, after an indent of two.
func wrapped(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case column == 0:
			b.WriteString("  ")
			column = 2
		case column+1+n > 78:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String() + "\n"
}

// asPolicy is what gitlatch.yaml says for a policy.
func asPolicy(p policy.Policy) string {
	return fmt.Sprintf("default: {series: %s, round: %s, hold: {up: %d, down: %s}, margin: %.3g%%}", p.Series, p.Round, p.HoldUp, policy.Span(p.HoldDown), 100*p.Margin)
}

func (v verdict) plot(id workload.ID) term.Plot {
	from, to := v.past.Span()
	r := v.results[v.best]
	lines := backtest.Draw(v.past, r.Candidate, id, max(to.Sub(from)/240, v.period))
	p := term.Plot{Title: id.Short() + " by " + r.Candidate.Name, To: max(to.Sub(from), time.Second), Every: marks(to.Sub(from)).apart}
	points := func(of []backtest.Point) []term.Point {
		all := make([]term.Point, len(of))
		for i, one := range of {
			all[i] = term.Point{At: one.At.Sub(from), Value: float64(one.Pods)}
		}
		return all
	}
	p.Scale, p.Level = points(lines.Need), points(lines.Level)
	return p
}

// A scale is how far the marks of a chart are apart, and what they count.
type scale struct {
	apart time.Duration
	unit  string
}

// marks are at most a dozen for a span.
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

// since says what the marks of a chart count, and from when: not a date alone
// where the first sample is later in its day.
func since(from, to time.Time) string {
	format := "2006-01-02"
	if !from.Truncate(24 * time.Hour).Equal(from) {
		format = "2006-01-02 15:04"
	}
	return marks(to.Sub(from)).unit + " since " + from.Format(format)
}

func percent(share float64, digits int) string { return fmt.Sprintf("%.*f %%", digits, 100*share) }

// orDash is text where there was something to measure.
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
