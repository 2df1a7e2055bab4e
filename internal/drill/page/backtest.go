package page

import (
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Backtest returns the report of a backtest as a page.
func Backtest(r backtest.Report) ([]byte, error) {
	p := r.Plot
	scale, level := p.Sample(p.Scale, columns, true), p.Sample(p.Level, columns, false)
	top := 1.0
	for i := range scale {
		top = max(top, scale[i], level[i])
	}
	c := newChart(p, "Desired replicas and levels of "+p.Title, top, func(v float64) string { return term.Number(int64(v)) })
	c.unit = r.Since()
	c.area = steps(scale, top, true)
	c.lines = []curve{{"level", steps(level, top, false)}}
	return render("Backtest, "+r.From.Format(time.DateOnly)+" to "+r.To.Format(time.DateOnly),
		h.Header(h.P(h.Class("above"), g.Text("Backtest")), h.H1(g.Text("Commits and rebuilds of each policy")), h.P(g.Text(r.Opening()))),
		h.Main(policies(r), section("replicas", p.Title,
			h.Ul(h.Class("legend"), h.Li(h.Class("area"), g.Text("desired replicas")), h.Li(g.Text("level in git"))),
			c.draw())),
		h.Footer(h.Dl(entry("Format", h.Dd(g.Text(r.APIVersion+" "+r.Kind))))),
	)
}

func policies(r backtest.Report) g.Node {
	rows := lists.Map(r.Policies, func(p backtest.Row) row {
		return row{cells: g.Map(p.Cells(), g.Text)}
	})
	note := g.Node(nil)
	if text := r.Note(); text != "" {
		note = h.P(h.Class("notice"), g.Text(text))
	}
	return section("policies", "Policies",
		under("Worst and mean show the share of needed pods that a rebuild starts. Surplus shows the additional pods, relative to the needed pods."),
		table("", "Policies and their figures", []column{
			{"Policy", ""}, {"Commits a day", "n"}, {"Worst", "n"}, {"At", "whole"}, {"Below 95 %", "n"}, {"Mean", "n"}, {"Surplus", "n"},
		}, rows), note)
}
