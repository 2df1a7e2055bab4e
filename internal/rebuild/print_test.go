package rebuild

import (
	"fmt"
	"math"
	"os"
	"time"

	"github.com/gitlatch/gitlatch/internal/chart"
)

// print draws the load that is served over time, and prints the figures.
func (f form) print(runs map[string]run) {
	without := runs[absent.name]
	slow, recovered := without.recovered()
	slowest, lowest := "", math.Inf(1)
	kind, kindRecovered := runs[patient.name].recovered()
	rows := [][]string{
		{fmt.Sprintf("%d pods", f.pods), "serves its load after", "sooner", "than if no pod failed", "autoscalers own the counts after"},
		{"replicas absent", span(slow, recovered), "", "", ""},
		{"replicas absent, no pod fails", span(kind, kindRecovered), "", "", ""},
	}
	var last time.Duration
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
			covers, _ := r.coverage(m)
			lowest = min(lowest, covers)
		}
		rows = append(rows, []string{w.name, span(fast, true), ratio(slow, fast), ratio(kind, fast), span(owned, true)})
	}
	style := chart.StyleFor(os.Stdout, os.Getenv)
	title := fmt.Sprintf("Load served after a rebuild, in %% of that of %d pods, over minutes", f.pods)
	fmt.Println(chart.Plot{
		Title: title, To: max(slow, last), Every: marks(max(slow, last)), Linear: true,
		Scale: without.points(), Level: runs[slowest].points(),
	}.Draw(style))
	fmt.Println(style.Legend("replicas absent", "with a checkpoint, "+slowest))
	fmt.Println()
	fmt.Println(chart.Table("lrrrr", rows...))
	for _, w := range ways {
		fast, _ := runs[w.name].recovered()
		fmt.Printf("figure rebuild_speedup_%s_%d %.1f\n", w.name, f.pods, slow.Seconds()/fast.Seconds())
	}
	fmt.Printf("figure coverage_after_ready_min %.2f\n\n", lowest)
}

// marks is the distance of the marks of an axis: some five to fifteen of them.
func marks(of time.Duration) time.Duration {
	if of <= 2*time.Minute {
		return 10 * time.Second
	}
	return time.Minute
}

func ratio(slow, fast time.Duration) string {
	return fmt.Sprintf("%.1fx", slow.Seconds()/fast.Seconds())
}

func span(d time.Duration, reached bool) string {
	if !reached {
		return "not within " + d.String()
	}
	return d.Round(time.Second).String()
}

// points are the load that is served, in percent.
func (r run) points() []chart.Point {
	var all []chart.Point
	for _, l := range r.looks {
		all = append(all, chart.Point{At: l.At.Sub(r.from), Value: 100 * r.served(l)})
	}
	return all
}
