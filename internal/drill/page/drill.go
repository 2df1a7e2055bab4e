package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// open is the number of rows of a long table that are shown at once, and on paper.
const open = 60

// Drill returns the report of a drill as a page.
func Drill(d drill.Document) ([]byte, error) {
	with, without := d.Growth(drill.With), d.Growth(drill.Without)
	to := max(time.Minute, with[len(with)-1].At, without[len(without)-1].At) * 21 / 20
	p := term.Plot{To: to, Every: term.Marks(to)}
	c := newChart(p, "Share of the needed pods over time, with and without gitlatch", 1, term.Percent)
	c.Unit += " after the start of a rebuild"
	c.Limit = y(d.MinCoverage, 1)
	c.Lines = []curve{
		{"without", steps(p.Sample(without, columns, false), 1, false)},
		{"level", steps(p.Sample(with, columns, false), 1, false)},
	}
	fixes := map[string]string{} // links to findings, by cause and workload
	for i, f := range d.Findings {
		for _, w := range f.Workloads {
			fixes[f.Trap+" "+w] = fmt.Sprintf("#fix-%d", i)
		}
	}
	return render("drill", "Drill of "+d.Site+", "+d.At.UTC().Format(time.DateOnly), map[string]any{
		"Drill": d, "Chart": c, "Causes": causes(d), "Fixes": fixes,
		"First": d.Workloads[:min(open, len(d.Workloads))], "Rest": d.Workloads[min(open, len(d.Workloads)):],
		"With": soon(with, d.MinCoverage), "Without": soon(without, d.MinCoverage),
		"Rollouts": lists.Filter(d.Workloads, func(w drill.Workload) bool { return w.Rollout != nil }),
		"Frozen":   lists.Filter(d.Workloads, func(w drill.Workload) bool { return w.Frozen != nil }),
	})
}

// soon returns the time until a share is reached.
func soon(points []term.Point, share float64) string {
	p, reached := lists.First(points, func(p term.Point) bool { return p.Value >= share-1e-9 })
	if !reached {
		return "never"
	}
	return drill.Span(int64(p.At / time.Second))
}

// A cause is the sum of the missing pods of the workloads with the same first cause.
type cause struct {
	Name      string
	Pods      int64
	Workloads int
	Share     float64 // of the pods of the largest cause
}

// causes returns the causes, the largest first.
func causes(d drill.Document) (all []cause) {
	for _, w := range d.Workloads {
		if w.Missing == 0 {
			continue
		}
		name := "unexplained"
		if len(w.Causes) > 0 {
			name = w.Causes[0].Name
		}
		i := slices.IndexFunc(all, func(c cause) bool { return c.Name == name })
		if i < 0 {
			i = len(all)
			all = append(all, cause{Name: name})
		}
		all[i].Pods += int64(w.Missing)
		all[i].Workloads++
	}
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(b.Pods, a.Pods) })
	for i := range all {
		all[i].Share = float64(all[i].Pods) / float64(all[0].Pods)
	}
	return all
}

// drillFuncs are the functions of the template of a drill.
var drillFuncs = template.FuncMap{
	"stamp": func(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") },
	"age":   func(seconds int64) string { return duration.HumanDuration(time.Duration(seconds) * time.Second) },
	"since": func(from, to time.Time) string { return duration.HumanDuration(to.Sub(from)) },
	"takes": func(e *drill.Estimate) string {
		switch {
		case e == nil:
			return "unknown"
		case e.Never:
			return "never"
		}
		return drill.Span(e.Seconds)
	},
}
