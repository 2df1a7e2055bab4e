package demo

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

func (d *day) commitsIn(s Span) int { return lists.Count(d.commits, s.Holds) }

func share(of, all int64) float64 { return float64(of) / float64(max(1, all)) }

// report writes the report of the day for users.
func (d *day) report(out io.Writer, s term.Style) error {
	parts := []string{d.opening(), d.gitLog(s), d.charts(s), d.lookAround(s), d.rebuildTable(s), d.verdict(s)}
	_, err := io.WriteString(out, strings.Join(parts, "\n"))
	return err
}

func (d *day) clock(at time.Duration) time.Time { return d.trace.Start.Add(at) }

func (d *day) name() string { return d.clock(d.trace.WarmUp).Weekday().String() }

func (d *day) opening() string {
	most := int64(0)
	for at := d.trace.WarmUp; at < d.trace.Length; at += grain {
		pods := int64(0)
		for i := range d.trace.Workloads {
			pods += int64(d.trace.At(i, at).Desired)
		}
		most = max(most, pods)
	}
	return fmt.Sprintf("A simulated day: %d workloads with up to %s pods, a tick every %.0f minutes,\n%s after a warm-up of %.0f hours.\n",
		len(d.trace.Workloads), term.Number(most), period.Minutes(), d.name(), d.trace.WarmUp.Hours())
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

// charts draws three workloads of the shipped day.
func (d *day) charts(s term.Style) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s     %s\n", s.Heading("Desired replicas and levels"), s.Legend("desired replicas", "level in git"))
	for _, c := range []struct{ workload, title string }{
		{"tickets/seats", "a sale starts at 18:30"},
		{"shop/web", "follows the time of day, except in the outage at 13:40"},
		{"data/report-export", "no pods at night, and its level stays in git"},
	} {
		for i, w := range d.trace.Workloads {
			if w.ID.Short() == c.workload {
				text.WriteString("\n" + d.plot(i, c.workload+": "+c.title).Draw(s))
			}
		}
	}
	return text.String()
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

// coverage returns the sentence about the lowest coverage of the day.
func (d *day) coverage() string {
	c := WorstCoverage(d.trace, d.history, holdUp, dayOf(d.trace))
	return fmt.Sprintf("  The lowest coverage of a healthy replica count that lasted %.0f minutes was\n  %.0f %%: %s for the %s pods of %s at %s\n",
		holdUp.Minutes(), 100*c.Share, term.Number(int64(c.Declared)), term.Number(int64(c.Need)), c.Workload.Short(), d.clock(c.At).Format("15:04"))
}

// verdict returns the last lines: the commits and the result of a rebuild, without
// gitlatch and with it.
func (d *day) verdict(s term.Style) string {
	span := dayOf(d.trace)
	changes := term.Number(int64(d.trace.ScaleChanges(span.From, span.To)))
	r := WorstMoment(d.trace, d.history, span)
	met := func(o Outcome) string { return fmt.Sprintf("%.0f %%", 100*share(o.Met, r.Needed)) }
	return s.Heading("Result of "+d.name()) + "\n" + term.Table("lrr",
		[]string{"", "without gitlatch", "with gitlatch"},
		[]string{fmt.Sprintf("commits for %s changes", changes), changes, term.Number(int64(d.commitsIn(span)))},
		[]string{fmt.Sprintf("needed pods that a rebuild at %s starts", d.clock(r.At).Format("15:04")), met(r.Manifests), met(r.Checkpoint)},
	)
}

func (d *day) rebuildTable(s term.Style) string {
	r := WorstMoment(d.trace, d.history, dayOf(d.trace))
	row := func(name string, o Outcome) []string {
		wait := "none"
		if o.Rounds > 0 {
			wait = fmt.Sprintf("%s, %s", term.Count(o.Rounds, "round"), drill.Span(o.Seconds))
		}
		return []string{name, term.Number(o.Created), fmt.Sprintf("%.0f %%", 100*share(o.Met, r.Needed)), fmt.Sprint(o.Short), wait}
	}
	f := r.Furthest
	return s.Heading(fmt.Sprintf("A rebuild from git at %s, the worst time, when %s pods were needed", d.clock(r.At).Format("15:04"), term.Number(r.Needed))) + "\n" +
		term.Table("lrrrl",
			[]string{"", "pods", "of the need", "short", "until scaled up"},
			row("only manifests", r.Manifests),
			row("with checkpoint", r.Checkpoint),
		) + fmt.Sprintf("  %s would start with %s pods instead of %s,\n  and with the checkpoint with %s.\n", f.Workload.Short(),
		term.Number(int64(f.Manifest)), term.Number(int64(f.Need)), term.Number(int64(f.Checkpoint))) +
		s.Faint("  Short: workloads with fewer pods than they need. In each round, an autoscaler\n"+
			"  doubles the pods, and the new pods start and add to its metrics.") + "\n" + d.coverage()
}

func (d *day) lookAround(s term.Style) string {
	dir, repository := filepath.Split(d.repository)
	config := filepath.Base(configPath(dir))
	return s.Heading("To look at the repository and the state, run") + "\n" +
		"  cd " + filepath.Clean(dir) + "\n" +
		"  git -C " + repository + " show " + branch + ":" + checkpoint.RecordPath(siteName, "tickets") + "\n" +
		"  git clone " + repository + " fleet && kubectl kustomize fleet/apps/tickets\n" +
		"  gitlatch log tickets/seats --limit 3 -c " + config + "\n" +
		s.Faint("  If gitlatch is not in your PATH, first run this in a clone of gitlatch:\n"+
			"  make bin/gitlatch && export PATH=$PWD/bin:$PATH") + "\n"
}
