package demo

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// report writes the report of the day for users.
func (d *day) report(out io.Writer, s term.Style) error {
	rows, err := d.compare()
	if err != nil {
		return err
	}
	parts := []string{d.opening(), d.gitLog(s), d.chart(s), d.lookAround(s), d.verdict(s, rows)}
	_, err = io.WriteString(out, strings.Join(parts, "\n"))
	return err
}

func (d *day) clock(at time.Duration) time.Time { return d.trace.Start.Add(at) }

func (d *day) name() string { return d.clock(d.trace.WarmUp).Weekday().String() }

func (d *day) opening() string {
	return fmt.Sprintf("A simulated day: %d workloads, a tick every %.0f minutes,\n%s after a warm-up of %.0f hours.\n",
		len(d.trace.Workloads), period.Minutes(), d.name(), d.trace.WarmUp.Hours())
}

func (d *day) gitLog(s term.Style) string {
	from := d.clock(d.trace.WarmUp)
	var rows [][]string
	before := 0
	for _, c := range d.log {
		if c.at.Before(from) {
			before++
			continue
		}
		rows = append(rows, []string{c.at.Format("15:04"), c.id, c.subject})
	}
	if len(rows) == 0 {
		rows = append(rows, []string{"nothing"})
	}
	text := s.Heading("Commits of gitlatch on "+d.name()) + "\n" + term.Table("lll", rows...)
	return text + s.Faint(fmt.Sprintf("  and %d earlier commits, with the first commit of the team", before)) + "\n"
}

// chart draws a workload of the shipped day.
func (d *day) chart(s term.Style) string {
	text := fmt.Sprintf("%s     %s\n\n", s.Heading("Desired replicas and levels"), s.Legend("desired replicas", "level in git"))
	for i, w := range d.trace.Workloads {
		if w.ID.Short() == "tickets/seats" {
			text += d.plot(i, w.ID.Short()+": a sale starts at 18:30").Draw(s)
		}
	}
	return text
}

// plot returns the chart of the i-th workload over the day.
func (d *day) plot(i int, title string) term.Plot {
	since := d.trace.WarmUp // midnight
	return term.Plot{
		Title: title, To: d.trace.Length - since,
		Scale: lists.Map(d.trace.Changes[i], func(c traces.Change) term.Point { return term.Point{At: c.At - since, Value: float64(c.Desired)} }),
		Level: lists.Map(d.history[i], func(s Step) term.Point { return term.Point{At: s.At - since, Value: float64(s.Level)} }),
	}
}

func (d *day) verdict(s term.Style, rows []backtest.Row) string {
	busiest := rows[len(rows)-1].Coverage.Busiest
	return s.Heading("Rebuilds from git on "+d.name()) + "\n" + backtest.Table(s, rows) +
		s.Faint(fmt.Sprintf("  At %s, when most pods are needed, gitlatch starts %s as many.",
			busiest.At.Format("15:04"), term.Percent(float64(busiest.Created)/float64(busiest.Needed)))) + "\n"
}

func (d *day) lookAround(s term.Style) string {
	dir, repository := filepath.Split(d.repository)
	config := filepath.Base(configPath(dir))
	return s.Heading("To look at the repository and the state, run") + "\n" +
		"  cd " + filepath.Clean(dir) + "\n" +
		"  git -C " + repository + " show " + branch + ":" + checkpoint.RecordPath(siteName, "tickets") + "\n" +
		"  git clone " + repository + " fleet && kubectl kustomize fleet/apps/tickets\n" +
		"  gitlatch log tickets/seats -c " + config + "\n" +
		s.Faint("  If gitlatch is not in your PATH, first run this in a clone of gitlatch:\n"+
			"  make bin/gitlatch && export PATH=$PWD/bin:$PATH") + "\n"
}
