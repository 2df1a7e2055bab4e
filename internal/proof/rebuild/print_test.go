//go:build gitops

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
	rows := [][]string{{fmt.Sprintf("%d pods", f.pods), "serves its load after", "at its need at once", "sooner", "than if no pod failed", "autoscalers own the counts after"}}
	least := f.time(runs, limit)
	for _, w := range []way{absent, patient} {
		if _, ok := runs[w.name]; ok {
			title := map[string]string{absent.name: "replicas absent", patient.name: "replicas absent, no pod fails"}[w.name]
			rows = append(rows, []string{title, f.time(runs, w), least, "", "", ""})
		}
	}
	slowest, last := "", time.Duration(0)
	for _, w := range ran(runs) {
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
		sooner := func(other way) string {
			o, ok := runs[other.name]
			if !ok {
				return ""
			}
			slow, _ := o.recovered()
			return ratio(slow, fast) + "x"
		}
		rows = append(rows, []string{w.name, span(fast, true), least, sooner(absent), sooner(patient), span(owned, true)})
	}
	style := tty.StyleFor(os.Stdout, os.Getenv)
	if without, ok := runs[absent.name]; ok && slowest != "" {
		slow, _ := without.recovered()
		title := fmt.Sprintf("Load served after a rebuild, in %% of that of %d pods, over minutes", f.pods)
		fmt.Println(term.Plot{
			Title: title, To: max(slow, last), Every: marks(max(slow, last)),
			Scale: without.points(), Level: runs[slowest].points(),
		}.Draw(style))
		fmt.Println(style.Legend("replicas absent", "with a checkpoint, "+slowest))
		fmt.Println()
	}
	fmt.Println(term.Table("lrrrrr", rows...))
	fmt.Println(f.figures("speedup", absent, runs) + f.figures("speedup_if_no_pod_fails", patient, runs) + f.figures("over_limit", limit, runs))
}

// time returns the time of a method as text; "" if the method did not run.
func (f form) time(runs map[string]run, w way) string {
	r, ok := runs[w.name]
	if !ok {
		return ""
	}
	return span(r.recovered())
}

// figures returns the ratio of the time of another run to the time of each method, a line
// each. For the limit, it is the inverse. If the other run did not end, a line before them
// states the time that was waited. If the other run is missing, the result is "".
func (f form) figures(name string, other way, runs map[string]run) string {
	compared, ok := runs[other.name]
	if !ok {
		return ""
	}
	var text strings.Builder
	slow, recovered := compared.recovered()
	if !recovered {
		fmt.Fprintf(&text, "%s did not serve its load in the %s that it was given, which count as its time:\n", other.name, slow)
	}
	for _, w := range ran(runs) {
		fast, _ := runs[w.name].recovered()
		figure := ratio(slow, fast)
		if other.name == limit.name {
			figure = fmt.Sprintf("%.2f", fast.Seconds()/slow.Seconds())
		}
		fmt.Fprintf(&text, "figure rebuild_%s_%s_%d %s\n", name, w.name, f.pods, figure)
	}
	return text.String()
}

// lowest returns the lowest coverage of a workload for all methods with checkpoints.
func (f form) lowest(runs map[string]run) float64 {
	lowest := math.Inf(1)
	for _, w := range ran(runs) {
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
