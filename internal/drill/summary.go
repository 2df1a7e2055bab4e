package drill

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Worst is the number of workloads with the most missing pods that Text names.
const Worst = 3

// Headline returns the result of the drill in one line.
func (d Document) Headline() string {
	if d.Fleet.Nothing != "" {
		return fmt.Sprintf("gitlatch %s: the coverage of a rebuild is unknown: %s", d.Site, d.Fleet.Nothing)
	}
	needed := "the needed pods"
	if d.Fleet.NeedUnknown > 0 {
		needed = "the known needed pods"
	}
	verdict := " (minimum " + term.Percent(d.MinCoverage) + ")"
	switch {
	case *d.Fleet.Coverage < d.MinCoverage && d.Fleet.atMost() >= d.MinCoverage:
		verdict = ", so that the minimum of " + term.Percent(d.MinCoverage) + " is not proven"
	case *d.Fleet.Coverage < d.MinCoverage:
		verdict = ", below the minimum of " + term.Percent(d.MinCoverage)
	case d.MassDrop:
		verdict = ", but there is a mass drop"
	case d.Fit.Refuses():
		verdict = ", but its pods do not fit: " + strings.TrimSuffix(d.Fit.Limits[0].String(), ".")
	case !d.Passed:
		verdict = ", but some values are unknown"
	}
	return fmt.Sprintf("gitlatch %s: a rebuild starts with %s of %s%s", d.Site, percents(*d.Fleet.Coverage, d.Fleet.atMost()), needed, verdict)
}

// Lines returns the lines about the coverage, the time until all needed pods are ready,
// the placement, the scored commit and the last drill.
func (d Document) Lines() []string {
	lines := lists.Map(d.Notices, func(notice string) string { return "Notice: " + notice + "." })
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	f, scored := d.Fleet, "Read"
	if f.Coverage != nil {
		say("For %s, a rebuild starts %s of the %s. Without gitlatch, it starts %s. Workloads with all needed pods: %d. Workloads below %s: %d.",
			term.Count(f.Workloads, "workload"), limits(f.Covered, f.CoveredAtMost), term.Count(int(f.Need), "needed pod"), podsOf(f.BareAtLeast, f.BareAtMost),
			f.Full, term.Percent(d.MinCoverage), f.Low)
		lines = append(lines, f.surplus()...)
		say("Once a rebuild has created the workloads, %s. Without gitlatch, %s.", ready("within", f.With, f.StuckWith), ready("after", f.Without, f.StuckWithout))
		scored = "Scored"
	}
	if d.Fit != nil {
		lines = append(lines, d.Fit.Lines()...)
	}
	if d.Marks != nil {
		say("%s.", d.Marks)
	}
	say("%s: %s on %s%s.", scored, short(d.Commit), d.Branch, d.flushed())
	if l := d.Last; l != nil {
		was := "unknown"
		if l.Coverage != nil {
			was = term.Percent(*l.Coverage)
		}
		say("In the last drill (%s), the coverage was %s. Since the last drill, %s changed.", l.At.UTC().Format("2006-01-02 15:04"), was, term.Count(len(l.Changes), "workload"))
	}
	return lines
}

// Share returns the coverage of a fleet that has one, or both limits of an unknown one.
func (f Fleet) Share() string { return percents(*f.Coverage, f.atMost()) }

// Missing returns the number of missing pods, or both limits of an unknown one.
func (f Fleet) Missing() string { return limits(f.Need-f.CoveredAtMost, f.Need-f.Covered) }

// percents returns a share, or both limits of an unknown one.
func percents(low, high float64) string {
	if low == high {
		return term.Percent(low)
	}
	return term.Percent(low) + " to " + term.Percent(high)
}

// limits returns a number, or both limits of an unknown one.
func limits(low, high int64) string {
	if low == high {
		return term.Number(low)
	}
	return term.Number(low) + " to " + term.Number(high)
}

// podsOf formats a number of pods, or both limits of an unknown one.
func podsOf(low, high int64) string {
	if low == high {
		return term.Count(int(low), "pod")
	}
	return limits(low, high) + " pods"
}

// atMost returns the highest coverage of a fleet that has a coverage.
func (f Fleet) atMost() float64 {
	if f.AtMost == nil {
		return *f.Coverage
	}
	return *f.AtMost
}

// atMost returns the coverage of a workload if its start is at its highest. The workload has a
// coverage.
func (w Workload) atMost() float64 {
	return float64(min(w.Start.AtMost, *w.Need)) / float64(*w.Need)
}

// surplus returns the line about the pods that a rebuild starts beyond the desired pods,
// if there are any.
func (f Fleet) surplus() []string {
	if f.Surplus == 0 {
		return nil
	}
	window := Span(int64(ScaleDownWindow / time.Second))
	end := "Autoscalers remove the surplus pods after " + window
	switch f.SurplusStuck {
	case 0:
	case f.Surplus:
		end = "No autoscaler removes the surplus pods"
	default:
		end = fmt.Sprintf("Autoscalers remove %s of the surplus pods after %s, and no autoscaler removes the others", term.Number(f.Surplus-f.SurplusStuck), window)
	}
	share := term.Percent(float64(f.Surplus) / float64(f.Live))
	return []string{fmt.Sprintf("A rebuild starts %s, including %s (%s of the desired replicas). %s.", term.Count(int(f.Rebuilt), "pod"), term.Count(int(f.Surplus), "surplus pod"), share, end)}
}

// flushed describes the result of the flush before the score.
func (d Document) flushed() string {
	f := d.Flush
	switch {
	case d.Mode == "observe":
		return ", without a flush (mode: observe)"
	case d.DryRun && len(f.Levels)+len(f.Proposed) > 0:
		return fmt.Sprintf(", without a flush. A flush would change %s", term.Count(len(f.Levels)+len(f.Proposed), "level"))
	case d.DryRun:
		return ", without a flush. A flush would not change any levels"
	case f.Proposal != "":
		return fmt.Sprintf(". A pull request with %s is not merged: %s", term.Count(len(f.Proposed), "level"), f.Proposal)
	case f.Commit == "" && d.Fleet.Coverage == nil:
		return ""
	case f.Commit == "":
		return ". The flush did not change any levels"
	}
	return fmt.Sprintf(". The flush changed %s", term.Count(len(f.Levels), "level"))
}

// Text returns the summary that a message contains.
func (d Document) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", d.Headline(), strings.Join(d.Lines(), "\n"))
	d.worst(&b)
	for i, l := range d.Links {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Report, %s: %s\n", l.Form, l.URI)
		if l.URL != "" {
			fmt.Fprintf(&b, "  link until %s at most: %s\n", l.Until.UTC().Format(time.RFC3339), l.URL)
		}
	}
	return b.String()
}

// worst writes the workloads with the most missing pods.
func (d Document) worst(b *strings.Builder) {
	low := d.Workloads[:min(len(d.Workloads), Worst)]
	if end := slices.IndexFunc(low, func(w Workload) bool { return w.Missing == 0 }); end >= 0 {
		low = low[:end]
	}
	if len(low) > 0 {
		b.WriteString("\nMost missing pods:\n")
	}
	for _, w := range low {
		fmt.Fprintf(b, "  %s starts with %s of %d (%s)\n", w.ID(), w.Start, *w.Need, w.cause())
	}
	if more := d.Fleet.Workloads - d.Fleet.Full - len(low); more > 0 {
		fmt.Fprintf(b, "  and %d more below 100 %%\n", more)
	}
}

// Span formats a number of seconds: "45 s", "7 min 30 s", "12 min".
func Span(seconds int64) string {
	switch minutes, rest := seconds/60, seconds%60; {
	case minutes == 0:
		return fmt.Sprintf("%d s", rest)
	case rest == 0:
		return fmt.Sprintf("%d min", minutes)
	default:
		return fmt.Sprintf("%d min %d s", minutes, rest)
	}
}

// ready returns when all needed pods are ready, as a clause. when is the preposition before
// the time. Of a rebuild in which every workload is stuck, no time is known.
func ready(when string, seconds int64, stuck int) string {
	if seconds == 0 && stuck > 0 {
		return "no autoscaler adds the missing pods of " + term.Count(stuck, "workload")
	}
	return "all needed pods are ready " + when + " " + takes(seconds, stuck)
}

// takes returns the time until all pods are ready, and the number of workloads without an
// autoscaler that would add them.
func takes(seconds int64, stuck int) string {
	text := Span(seconds)
	if stuck > 0 {
		text += fmt.Sprintf(", except the pods of %s without an autoscaler that adds pods", term.Count(stuck, "workload"))
	}
	return text
}

func short(commit string) string { return commit[:min(len(commit), 7)] }

// Shortened returns the document with at most the given number of workloads, limits,
// changes, levels and findings, the first of each list.
func (d Document) Shortened(most int) Document {
	if n := len(d.Workloads); n > most {
		d.Workloads, d.Cut = d.Workloads[:most], n-most
	}
	d.Flush.Levels = first(d.Flush.Levels, most)
	d.Flush.Proposed = first(d.Flush.Proposed, most)
	d.Flush.Withheld = first(d.Flush.Withheld, most)
	if d.Last != nil {
		last := *d.Last
		last.Changes = first(last.Changes, most)
		d.Last = &last
	}
	if d.Fit != nil {
		fit := *d.Fit
		fit.Limits = first(fit.Limits, most)
		d.Fit = &fit
	}
	d.Findings = append([]Finding{}, first(d.Findings, most)...)
	for i := range d.Findings {
		d.Findings[i].Workloads = first(d.Findings[i].Workloads, most)
	}
	return d
}

func first[T any](of []T, most int) []T { return of[:min(len(of), most)] }
