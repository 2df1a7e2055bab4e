package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
)

// An annotation is a workflow command of GitHub Actions, which its pull request
// shows at a line of a file.
type annotation struct {
	level   level
	weight  float64 // among those of its level, the heaviest first
	file    string  // from the root of the repository; "" is none
	line    int     // from 1; 0 is none
	title   string
	message string
}

// A level is how much an annotation matters.
type level string

// The levels, the first first.
const (
	failing level = "error"
	warning level = "warning"
	notice  level = "notice"
)

var levels = []level{failing, warning, notice}

// What a workflow command takes apart is escaped, in properties and in data.
var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// String is the command, on one line.
func (a annotation) String() string {
	var properties []string
	if a.file != "" {
		properties = append(properties, "file="+escapeProperty.Replace(a.file))
		if a.line > 0 {
			properties = append(properties, fmt.Sprintf("line=%d", a.line))
		}
	}
	properties = append(properties, "title="+escapeProperty.Replace(a.title))
	return fmt.Sprintf("::%s %s::%s", a.level, strings.Join(properties, ","), escapeData.Replace(a.message))
}

// GitHub is an annotation for each thing that a person should hear of, and a line
// for the log.
func (r Report) GitHub(out io.Writer, s term.Style) error {
	p := term.Page{Style: s}
	for _, a := range r.annotations() {
		p.Line("%s", a)
	}
	p.Line("%s: %d of %d differ from the live cluster, in %s", r.Site, each.Count(r.Rows, Row.Differs), len(r.Rows), r.Against)
	return p.Print(out)
}

func (r Report) annotations() (all []annotation) {
	for _, gap := range r.Gaps() {
		title := "cannot be read"
		if gap.File == "" {
			title = "could not be read"
		}
		all = append(all, annotation{level: failing, file: gap.File, title: title, message: gap.Text})
	}
	places := r.Tree.Places()
	for _, row := range r.Rows {
		if row.Told() && (row.Differs() || row.State != InSync) {
			at, ok := places[row.ID]
			if file := checkpoint.RecordPath(r.Site, row.ID.Namespace); !ok && r.Tree.Has(file) {
				at.File = file
			}
			all = append(all, row.annotate(at)...)
		}
	}
	if n := r.unproven(); n > 0 {
		a := annotation{level: notice, title: term.Count(n, "workload") + " without a rule",
			message: "no rule protects their live replica counts. Run \"gitlatch doctor --write\" to look for one"}
		if file := checkpoint.EvidencePath(r.Site); r.Tree.Has(file) {
			a.file = file
		}
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, b annotation) int {
		return cmp.Or(cmp.Compare(slices.Index(levels, a.level), slices.Index(levels, b.level)), cmp.Compare(b.weight, a.weight))
	})
	return all
}

// annotate says what is to be said of a row at its place in git, the zero one
// where git says nothing of it: its state, and its bounds.
func (r Row) annotate(at checkpoint.Place) (all []annotation) {
	a := annotation{level: notice, file: at.File, line: at.Level, title: r.name(), message: r.Text}
	if r.Reading == policy.ReadingRollout {
		a.line = at.Milestone
	} else if r.Sample.Scale != nil {
		declared := r.level(r.Declared)
		if declared == "-" {
			declared = "nothing"
		}
		a.title = fmt.Sprintf("%s: %s live, %s in git", r.name(), r.live(), declared)
	}
	if r.Raises() {
		a.level, a.weight = warning, math.Inf(1)
		if r.Declared.Replicas > 0 {
			a.weight = float64(r.To.Replicas) / float64(r.Declared.Replicas)
		}
	}
	if r.State != InSync && r.State != Bounds {
		all = append(all, a)
	}
	bounds := annotation{level: warning, file: at.File, line: cmp.Or(at.Max, at.Level), title: r.name() + ": bounds"}
	if r.Mismatch != nil && r.Mismatch.Max == r.Declared.Max {
		bounds.line = cmp.Or(at.Min, at.Level)
	}
	switch {
	case r.Capped:
		bounds.message = fmt.Sprintf("capped by git: %s live, and git accepts at most %d", r.live(), r.Declared.Max)
	case r.Mismatch != nil:
		bounds.message = r.otherBounds()
	default:
		return all
	}
	bounds.message += "; to accept them, set its min and max in the checkpoint file"
	return append(all, bounds)
}
