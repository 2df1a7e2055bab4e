package drill

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// A Loss predicts the rebuild of a cluster that is lost now, from one sample. Its document
// scores the levels of a flush, as if a rebuild applied them before the workloads.
type Loss struct{ Document }

// Sentence returns the prediction in one sentence.
func (l Loss) Sentence() string {
	f := l.Fleet
	if f.Nothing != "" {
		return fmt.Sprintf("The effect of a loss of this cluster is unknown: %s.", f.Nothing)
	}
	share := func(pods int64) float64 { return float64(pods) / float64(f.Need) }
	return fmt.Sprintf("Lost now, this cluster would start with %s of %s (%s) and need about %s. With gitlatch: %s, %s.",
		limits(f.BareAtLeast, f.BareAtMost), pods(f.Need), percents(share(f.BareAtLeast), share(f.BareAtMost)),
		takes(f.Without, f.StuckWithout), pods(f.Rebuilt), takes(f.With, f.StuckWith))
}

func pods(n int64) string { return term.Count(int(n), "pod") }

// most is the number of levels that Print lists.
const most = 10

// Print writes the highest levels, the reasons to trust the numbers less, and the sentence
// at the end.
func (l Loss) Print(out io.Writer, s term.Style) error {
	p := term.NewPage(s)
	levels := lists.Filter(l.Workloads, func(w Workload) bool { return w.Declared != nil && w.Coverage != nil })
	slices.SortStableFunc(levels, func(a, b Workload) int { return cmp.Compare(*b.Declared, *a.Declared) })
	rows := [][]string{{"WORKLOAD", "NEED", "WITHOUT", "WITH GITLATCH"}}
	for _, w := range first(levels, most) {
		rows = append(rows, []string{term.Name(w.ID()), term.Some(w.Need), w.Bare.String(), term.Some(w.Declared)})
	}
	p.Rows(rows)
	if more := len(levels) - most; more > 0 {
		p.Say("", "and %s", term.Count(more, "more workload"))
	}
	if len(levels) > 0 {
		p.Line("")
	}
	for _, text := range l.Unread {
		p.Say("", "could not be read: %s", text)
	}
	for _, left := range l.LeftOut {
		p.Say("", "The numbers do not include %s (%s).", term.Count(left.Workloads, "workload"), left.Text)
	}
	for _, notice := range l.Notices {
		p.Say("", "Notice: %s.", notice)
	}
	if l.Fit.Refuses() {
		for _, line := range l.Fit.Lines() {
			p.Say("", "%s", line)
		}
	}
	p.Say("", "%s", l.Sentence())
	return p.Print(out)
}
