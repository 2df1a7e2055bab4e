package page

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
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
	c.Unit = r.Since()
	c.Area = steps(scale, top, true)
	c.Lines = []curve{{"level", steps(level, top, false)}}
	return render("backtest", "Backtest, "+r.From.Format(time.DateOnly)+" to "+r.To.Format(time.DateOnly), map[string]any{"Report": r, "Chart": c})
}
