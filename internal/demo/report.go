package demo

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/drill/page"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// shown is the workload in the chart.
const shown = "tickets/seats"

// report writes the report of the day as a page beside the repository, and its summary for
// a terminal.
func (d *day) report(out io.Writer, s term.Style) error {
	r, err := d.compare()
	if err != nil {
		return err
	}
	html, err := page.Backtest(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(d.page(), html, 0o644); err != nil {
		return err
	}
	_, err = io.WriteString(out, strings.Join([]string{d.opening(), d.verdict(s, r.Policies), d.chart(s, r.Plot), d.next(s)}, "\n"))
	return err
}

func (d *day) clock(at time.Duration) time.Time { return d.trace.Start.Add(at) }

// dir returns the folder of the demo.
func (d *day) dir() string { return filepath.Dir(d.repository) }

// page returns the path of the page.
func (d *day) page() string { return filepath.Join(d.dir(), "demo.html") }

func (d *day) opening() string {
	return fmt.Sprintf("A simulated day: %s, a tick every %.0f minutes.\n", term.Count(len(d.trace.Workloads), "workload"), period.Minutes())
}

func (d *day) chart(s term.Style, p term.Plot) string {
	return fmt.Sprintf("%s     %s\n\n%s", s.Heading("Desired replicas and levels"), s.Legend("desired replicas", "level in git"), p.Draw(s))
}

// plot returns the chart of the i-th workload over the day.
func (d *day) plot(i int, title string) term.Plot {
	since := d.trace.WarmUp // midnight
	return term.Plot{
		Title: title, To: d.trace.Length - since, Every: 3 * time.Hour,
		Scale: lists.Map(d.trace.Changes[i], func(c traces.Change) term.Point { return term.Point{At: c.At - since, Value: float64(c.Desired)} }),
		Level: lists.Map(d.history[i], func(s Step) term.Point { return term.Point{At: s.At - since, Value: float64(s.Level)} }),
	}
}

func (d *day) verdict(s term.Style, rows []backtest.Row) string {
	busiest := rows[len(rows)-1].Coverage.Busiest
	return s.Heading("Rebuilds from git on "+d.clock(d.trace.WarmUp).Weekday().String()) + "\n" + backtest.Table(s, rows) +
		s.Faint(fmt.Sprintf("  At %s, when most pods are needed, gitlatch starts %s as many.",
			busiest.At.Format("15:04"), term.Percent(float64(busiest.Created)/float64(busiest.Needed)))) + "\n"
}

// next shows the page, and the commands to run next.
func (d *day) next(s term.Style) string {
	return s.Heading("The same as a page: ") + d.page() + "\n\n" +
		s.Heading("Next, look at the commits, or predict the rebuild of your own cluster") + "\n" +
		"  cd " + d.dir() + "\n" +
		"  git -C " + filepath.Base(d.repository) + " log --stat\n" +
		"  gitlatch log " + shown + " -c " + filepath.Base(configPath(d.dir())) + "\n" +
		"  gitlatch preview\n" +
		s.Faint("  To build gitlatch first: make bin/gitlatch && export PATH=$PWD/bin:$PATH") + "\n"
}
