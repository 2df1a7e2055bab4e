package rebuild

import (
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
)

// print draws the served load over time, and prints the figures of one size.
func (f form) print(runs map[string]run) {
	slow, recovered := runs[absent.name].recovered()
	kind, kindRecovered := runs[patient.name].recovered()
	least, _ := runs[limit.name].recovered()
	rows := [][]string{
		{fmt.Sprintf("%d pods", f.pods), "serves its load after", "at its need at once", "sooner", "than if no pod failed", "autoscalers own the counts after"},
		{"replicas absent", span(slow, recovered), span(least, true), "", "", ""},
		{"replicas absent, no pod fails", span(kind, kindRecovered), span(least, true), "", "", ""},
	}
	slowest, last := "", time.Duration(0)
	for _, w := range ways {
		r := runs[w.name]
		fast, _ := r.recovered()
		if fast > last {
			slowest, last = w.name, fast
		}
		var owned time.Duration
		for _, m := range f.fleet() {
			_, after, _ := r.owned(m)
			owned = max(owned, after)
		}
		rows = append(rows, []string{w.name, span(fast, true), span(least, true), ratio(slow, fast) + "x", ratio(kind, fast) + "x", span(owned, true)})
	}
	style := tty.StyleFor(os.Stdout, os.Getenv)
	title := fmt.Sprintf("Load served after a rebuild, in %% of that of %d pods, over minutes", f.pods)
	fmt.Println(term.Plot{
		Title: title, To: max(slow, last), Every: marks(max(slow, last)),
		Scale: runs[absent.name].points(), Level: runs[slowest].points(),
	}.Draw(style))
	fmt.Println(style.Legend("replicas absent", "with a checkpoint, "+slowest))
	fmt.Println()
	fmt.Println(term.Table("lrrrrr", rows...))
	fmt.Println(f.figures("", absent, runs) + f.figures("if_no_pod_fails_", patient, runs))
}

// figures returns the speedup of each method over a rebuild without checkpoints, a line
// each. If the latter did not end, a line before them states the time that was waited.
func (f form) figures(of string, without way, runs map[string]run) string {
	var text strings.Builder
	slow, recovered := runs[without.name].recovered()
	if !recovered {
		fmt.Fprintf(&text, "%s did not serve its load in the %s that it was given, which count as its time:\n", without.name, slow)
	}
	for _, w := range ways {
		fast, _ := runs[w.name].recovered()
		fmt.Fprintf(&text, "figure rebuild_speedup_%s%s_%d %s\n", of, w.name, f.pods, ratio(slow, fast))
	}
	return text.String()
}

// lowest returns the lowest coverage of a workload for all methods with checkpoints.
func (f form) lowest(runs map[string]run) float64 {
	lowest := math.Inf(1)
	for _, w := range ways {
		for _, m := range f.fleet() {
			covers, _ := runs[w.name].coverage(m)
			lowest = min(lowest, covers)
		}
	}
	return lowest
}

// marks returns the distance of an axis's marks, for five to fifteen marks.
func marks(of time.Duration) time.Duration {
	if of <= 2*time.Minute {
		return 10 * time.Second
	}
	return time.Minute
}

func ratio(slow, fast time.Duration) string {
	return fmt.Sprintf("%.1f", slow.Seconds()/fast.Seconds())
}

func span(d time.Duration, reached bool) string {
	if !reached {
		return "not within " + d.String()
	}
	return d.Round(time.Second).String()
}

// points returns the served load, in percent.
func (r run) points() []term.Point {
	var all []term.Point
	for _, l := range r.looks {
		all = append(all, term.Point{At: l.At.Sub(r.from), Value: 100 * r.served(l)})
	}
	return all
}
