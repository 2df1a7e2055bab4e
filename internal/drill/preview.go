package drill

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/term"
)

// PreviewKind is the kind of a Preview.
const PreviewKind = "Preview"

// A Preview predicts the rebuild of a cluster that is lost now, from one reading of the
// cluster and without a repository. Its shape is stable, as the shape of a Document is.
type Preview struct {
	term.Document
	Cluster  string    `json:"cluster"` // UID of the kube-system namespace; "" is unknown
	At       time.Time `json:"at"`      // time of the sample
	Sentence string    `json:"sentence"`

	// Need is the number of needed pods, of the workloads with a known need. Nothing is the
	// reason if it is 0.
	Need    int64  `json:"need"`
	Nothing string `json:"nothing,omitempty"`
	// Without is the rebuild without gitlatch. With is the rebuild with the levels of the
	// default policy, if it applies them before the workloads.
	Without Outcome `json:"withoutGitlatch"`
	With    Outcome `json:"withGitlatch"`

	// Fit is the answer to the question whether the pods with gitlatch can be placed.
	Fit *room.Report `json:"fit"`
	// Workloads are the workloads with a need. The first has the most missing pods without
	// gitlatch.
	Workloads []Workload `json:"workloads"`
	LeftOut   []LeftOut  `json:"leftOut"`  // live workloads that the numbers do not include
	Findings  []Finding  `json:"findings"` // problems and unknown answers, each with a fix
	Unread    []string   `json:"unread"`   // parts of the cluster that could not be read
	Model     Model      `json:"model"`    // of the seconds
}

// An Outcome is the start of a rebuild. If a start is unknown, it has both limits.
type Outcome struct {
	PodsAtLeast    int64 `json:"podsAtLeast"`
	PodsAtMost     int64 `json:"podsAtMost"`
	CoveredAtLeast int64 `json:"coveredAtLeast"` // pods of the need
	CoveredAtMost  int64 `json:"coveredAtMost"`
	// The seconds are the time until the last workload has all needed pods. They leave out
	// the Stuck workloads, which have no autoscaler that adds pods.
	SecondsAtLeast int64 `json:"secondsAtLeast"`
	SecondsAtMost  int64 `json:"secondsAtMost"`
	Stuck          int   `json:"stuck"`
}

// takes returns the time of an outcome, or both limits of an unknown one, with a verb. Of an
// outcome in which every workload is stuck, no time is known.
func (o Outcome) takes() string {
	if o.SecondsAtMost == 0 && o.Stuck > 0 {
		return "add no pods later, because no autoscaler adds the missing pods of " + term.Count(o.Stuck, "workload")
	}
	text := takes(o.SecondsAtMost, o.Stuck)
	if o.SecondsAtLeast < o.SecondsAtMost {
		text = Span(o.SecondsAtLeast) + " to " + text
	}
	return "take about " + text
}

// Told returns the preview with its sentence.
func (p Preview) Told() Preview {
	if p.Nothing != "" {
		p.Sentence = fmt.Sprintf("The effect of a loss of this cluster is unknown: %s.", p.Nothing)
		return p
	}
	share := func(pods int64) float64 { return float64(pods) / float64(p.Need) }
	p.Sentence = fmt.Sprintf("Without gitlatch, a rebuild would start %s of the %s (%s) and %s. With gitlatch, a rebuild would start %s and %s.",
		limits(p.Without.CoveredAtLeast, p.Without.CoveredAtMost), term.Count(int(p.Need), "needed pod"), percents(share(p.Without.CoveredAtLeast), share(p.Without.CoveredAtMost)),
		p.Without.takes(), podsOf(p.With.PodsAtLeast, p.With.PodsAtMost), p.With.takes())
	return p
}

// most is the number of workloads that Table lists.
const most = 10

// next is the command that follows a preview.
const next = "Next: gitlatch init --repository URL"

// Table prints the sentence, the workloads with the most missing pods, the next command, and
// the answers that are unknown.
func (p Preview) Table(out io.Writer, s term.Style) error {
	page := term.NewPage(s)
	page.Say("", "%s", p.Sentence)
	page.Line("")
	rows := [][]string{{"WORKLOAD", "NEED", "WITHOUT", "WITH GITLATCH"}}
	missing := 0
	for _, w := range p.Workloads {
		if w.Bare.AtLeast >= *w.Need {
			continue
		}
		missing++
		if missing <= most {
			rows = append(rows, []string{term.Name(w.ID()), term.Some(w.Need), w.Bare.String(), w.Start.String()})
		}
	}
	page.Rows(rows)
	if missing > most {
		page.Say("", "and %s", term.Count(missing-most, "more workload"))
	}
	if missing > 0 {
		page.Line("")
	}
	page.Line(next)
	page.Line("")
	for _, f := range p.Findings {
		page.Say("", "%s (%s): %s", f.Trap, f.Basis, term.Among(f.Subjects))
		page.Say("  ", "%s", f.Text)
		page.Fix("  ", f.Fix)
		for line := range strings.Lines(f.Manifest) {
			page.Line("%s", strings.TrimSuffix(line, "\n")) // not folded, to be copied
		}
		page.Line("")
	}
	for _, text := range p.Unread {
		page.Say("", "could not be read: %s", text)
	}
	for _, left := range p.LeftOut {
		page.Say("", "Not counted in the prediction: %s (%s).", term.Count(left.Workloads, "workload"), left.Text)
	}
	if p.Fit.Refuses() {
		for _, line := range p.Fit.Lines() {
			page.Say("", "%s", line)
		}
	}
	return page.Print(out)
}
