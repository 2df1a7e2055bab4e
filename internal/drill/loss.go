package drill

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// A Loss predicts the rebuild of a cluster that is lost now, from one sample: Now from git,
// and Then from git with the levels of a flush. Both score the same workloads, unless Now
// knows no start.
type Loss struct{ Now, Then Document }

// Known is true if Now has the number of pods that a rebuild starts.
func (l Loss) Known() bool { return l.Now.Fleet.Coverage != nil }

// Sentence returns the prediction in one sentence.
func (l Loss) Sentence() string {
	now, then := l.Now.Fleet, l.Then.Fleet
	if then.Nothing != "" {
		return fmt.Sprintf("The effect of a loss of this cluster is unknown: %s.", then.Nothing)
	}
	start := fmt.Sprintf("an unknown number of its %s", pods(then.Need))
	if l.Known() {
		start = fmt.Sprintf("%d of %s (%s) and need about %s", now.Covered, pods(now.Need), term.Percent(*now.Coverage), takes(now.With, now.StuckWith))
	}
	return fmt.Sprintf("Lost now, this cluster would start with %s; with these checkpoints %s, %s.", start, pods(then.Rebuilt), takes(then.With, then.StuckWith))
}

func pods(n int64) string { return term.Count(int(n), "pod") }

// most is the number of levels that Print lists.
const most = 10

// Print writes the highest levels, the reasons to trust the numbers less, and the sentence
// at the end. If the start is unknown, the reason and the remedy follow.
func (l Loss) Print(out io.Writer, s term.Style, remedy string) error {
	p := term.NewPage(s)
	levels := lists.Filter(l.Then.Workloads, func(w Workload) bool { return w.Declared != nil && w.Coverage != nil })
	slices.SortStableFunc(levels, func(a, b Workload) int { return cmp.Compare(*b.Declared, *a.Declared) })
	rows := [][]string{{"WORKLOAD", "NEED", "REBUILT AT", "CHECKPOINT"}}
	starts := lists.Index(l.Now.Workloads, Workload.ID)
	for _, w := range first(levels, most) {
		start := "unknown"
		if at := starts[w.ID()].RebuiltAt; at != nil {
			start = strconv.Itoa(int(*at))
		}
		rows = append(rows, []string{term.Name(w.ID()), term.Some(w.Need), start, term.Some(w.Declared)})
	}
	p.Rows(rows)
	if more := len(levels) - most; more > 0 {
		p.Say("", "and %s", term.Count(more, "more workload"))
	}
	if len(levels) > 0 {
		p.Line("")
	}
	for _, text := range l.Then.Unread {
		p.Say("", "could not be read: %s", text)
	}
	for _, left := range l.Then.LeftOut {
		p.Say("", "The numbers do not include %s (%s).", term.Count(left.Workloads, "workload"), left.Text)
	}
	for _, notice := range l.Then.Notices {
		p.Say("", "Notice: %s.", notice)
	}
	if l.Then.Fit.Refuses() {
		for _, line := range l.Then.Fit.Lines() {
			p.Say("", "%s", line)
		}
	}
	p.Say("", "%s", l.Sentence())
	if then := l.Then.Fleet; !l.Known() && then.Nothing == "" {
		p.Say("", "The number is unknown: %s. If the manifests in git set no replicas, a rebuild needs about %s.", l.Now.Fleet.Nothing, takes(then.Without, then.StuckWithout))
		p.Say("", "%s", remedy)
	}
	return p.Print(out)
}
