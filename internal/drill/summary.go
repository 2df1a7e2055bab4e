package drill

import (
	"fmt"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
)

// A Summary is a document in short, for those who only need to know whether to
// look.
type Summary struct {
	term.Document
	Site        string    `json:"site"`
	At          time.Time `json:"at"`
	Commit      string    `json:"commit"`
	MinCoverage float64   `json:"minCoverage"`
	Passed      bool      `json:"passed"`
	MassDrop    bool      `json:"massDrop"`
	Notices     []string  `json:"notices"`
	Fleet       Fleet     `json:"fleet"`
	// Before is the fleet's coverage at the last drill; null is none, or not known.
	Before *float64 `json:"before"`
	Worst  []Worst  `json:"worst"` // below a coverage of 1, at most three
	Links  []Link   `json:"links"`
}

// Worst is one of the least covered workloads.
type Worst struct {
	Workload  string  `json:"workload"` // namespace/kind/name
	Need      int32   `json:"need"`
	RebuiltAt int32   `json:"rebuiltAt"`
	Coverage  float64 `json:"coverage"`
	Cause     string  `json:"cause,omitempty"`
}

// worstOf is how many workloads a summary names.
const worstOf = 3

// Summary returns the document in short.
func (d Document) Summary() Summary {
	s := Summary{
		Document: term.DocumentOf("DrillSummary"), Site: d.Site, At: d.At, Commit: d.Commit, MinCoverage: d.MinCoverage,
		Passed: d.Passed, MassDrop: d.MassDrop, Notices: append([]string{}, d.Notices...),
		Fleet: d.Fleet, Worst: []Worst{}, Links: append([]Link{}, d.Links...),
	}
	if d.Last != nil && d.Last.Nothing == "" {
		s.Before = &d.Last.Coverage
	}
	for _, w := range d.Workloads {
		if len(s.Worst) == worstOf || w.Coverage == nil || w.Missing == 0 {
			break
		}
		s.Worst = append(s.Worst, Worst{Workload: w.ID().String(), Need: *w.Need,
			RebuiltAt: *w.RebuiltAt, Coverage: *w.Coverage, Cause: w.cause()})
	}
	return s
}

// Headline is the summary in a line.
func (s Summary) Headline() string {
	if s.Fleet.Nothing != "" {
		return fmt.Sprintf("gitlatch %s: it cannot be said what a rebuild starts with: %s", s.Site, s.Fleet.Nothing)
	}
	needed := "needed"
	if s.Fleet.NeedUnknown > 0 {
		needed = "known to be needed"
	}
	if s.Fleet.Unknown > 0 {
		needed += " by the workloads with a known start"
	}
	verdict := "at or above " + term.Percent(s.MinCoverage)
	switch {
	case s.Fleet.Coverage < s.MinCoverage:
		verdict = "below " + term.Percent(s.MinCoverage)
	case s.MassDrop:
		verdict = "but the fleet lost much of its scale at once"
	case !s.Passed:
		verdict = "but not all is known"
	}
	return fmt.Sprintf("gitlatch %s: a rebuild starts with %s of what is %s, %s", s.Site, term.Percent(s.Fleet.Coverage), needed, verdict)
}

// Text is the summary for a person.
func (s Summary) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", s.Headline())
	for _, notice := range s.Notices {
		fmt.Fprintf(&b, "%s.\n", notice)
	}
	if len(s.Notices) > 0 {
		b.WriteString("\n")
	}
	if s.Fleet.Nothing != "" {
		fmt.Fprintf(&b, "Looked at: commit %s.\n", short(s.Commit))
	} else {
		s.score(&b)
	}
	if s.Before != nil {
		fmt.Fprintf(&b, "At the last drill it was %s.\n", term.Percent(*s.Before))
	}
	s.worst(&b)
	for i, l := range s.Links {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Report, %s: %s\n", l.Form, l.URI)
		if l.URL != "" {
			fmt.Fprintf(&b, "  until %s at most: %s\n", l.Until.UTC().Format(time.RFC3339), l.URL)
		}
	}
	return b.String()
}

func (s Summary) score(b *strings.Builder) {
	fmt.Fprintf(b, "%d of %d pods, at commit %s. With checkpoints all of %d workloads are at their need %s, and without %s.\n", s.Fleet.Covered, s.Fleet.Need, short(s.Commit),
		s.Fleet.Workloads, takes(s.Fleet.With, s.Fleet.StuckWith), takes(s.Fleet.Without, s.Fleet.StuckWithout))
}

func (s Summary) worst(b *strings.Builder) {
	if len(s.Worst) > 0 {
		b.WriteString("\nThe worst:\n")
	}
	for _, w := range s.Worst {
		fmt.Fprintf(b, "  %s starts with %d of %d (%s)\n", w.Workload, w.RebuiltAt, w.Need, w.Cause)
	}
	if more := s.Fleet.Workloads - s.Fleet.Full - len(s.Worst); more > 0 {
		fmt.Fprintf(b, "  and %d more below 100 %%\n", more)
	}
}

// Span is a number of seconds as people read it: "45 s", "7 min 30 s", "12 min".
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

// takes is how long a fleet takes, and how much of it never gets there.
func takes(seconds int64, stuck int) string {
	text := "after " + Span(seconds)
	if stuck > 0 {
		text += fmt.Sprintf(", but for %d that nothing scales up", stuck)
	}
	return text
}

func short(commit string) string { return commit[:min(len(commit), 7)] }

// Shortened returns the document with at most so many workloads, changes and
// levels in each list, the first of each.
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
	d.Findings = append([]Finding{}, first(d.Findings, most)...)
	for i := range d.Findings {
		d.Findings[i].Workloads = first(d.Findings[i].Workloads, most)
	}
	return d
}

func first[T any](of []T, most int) []T { return of[:min(len(of), most)] }
