package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/diff"
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

// diffGitHub is an annotation for each thing that a person should hear of, and a
// line for the log.
func diffGitHub(out io.Writer, d difference, _ term.Style) error {
	var b strings.Builder
	for _, a := range annotations(d) {
		fmt.Fprintln(&b, a)
	}
	differing := 0
	for _, r := range d.Rows {
		if r.Differs() {
			differing++
		}
	}
	fmt.Fprintf(&b, "%s: %d of %d differ from what runs, in %s\n", d.Site, differing, len(d.Rows), d.against)
	_, err := io.WriteString(out, b.String())
	return err
}

func annotations(d difference) []annotation {
	places := d.Tree.Places()
	all := unreadable(d)
	for _, r := range d.Rows {
		if r.Told() && (r.Differs() || r.State != diff.InSync) {
			all = append(all, annotate(r, placed(places, d.Tree, d.Site, r.ID))...)
		}
	}
	if n := len(unproven(d.Rows)); n > 0 {
		a := annotation{level: notice, title: term.Count(n, "checkpoint") + " not known to be inert",
			message: "nothing is known to keep them from acting on the live cluster: gitlatch doctor --write looks for what does"}
		if file := checkpoint.EvidencePath(d.Site); d.Tree.Has(file) {
			a.file = file
		}
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, b annotation) int {
		return cmp.Or(cmp.Compare(slices.Index(levels, a.level), slices.Index(levels, b.level)), cmp.Compare(b.weight, a.weight))
	})
	return all
}

// annotate says what is to be said of a row: its state, and its bounds.
func annotate(r diff.Row, at checkpoint.Place) (all []annotation) {
	a := annotation{level: notice, file: at.File, line: at.Level, title: rowName(r), message: r.Text}
	if r.Reading == policy.ReadingRollout {
		a.line = at.Milestone
	} else if r.Sample.Scale != nil {
		a.title = fmt.Sprintf("%s: %s live, %s declared", rowName(r), live(r), orNothing(declaredOf(r, r.Declared)))
	}
	if r.Raises() {
		a.level, a.weight = warning, math.Inf(1)
		if r.Declared.Replicas > 0 {
			a.weight = float64(r.To.Replicas) / float64(r.Declared.Replicas)
		}
	}
	if r.State != diff.InSync && r.State != diff.Bounds {
		all = append(all, a)
	}
	bounds := annotation{level: warning, file: at.File, line: cmp.Or(at.Max, at.Level), title: rowName(r) + ": bounds"}
	if r.Mismatch != nil && r.Mismatch.Max == r.Declared.Max {
		bounds.line = cmp.Or(at.Min, at.Level)
	}
	switch {
	case r.Capped:
		bounds.message = fmt.Sprintf("capped by git: %s run, and the accepted max is %d", live(r), r.Declared.Max)
	case r.Mismatch != nil:
		bounds.message = boundsDiffer(r)
	default:
		return all
	}
	bounds.message += "; accept the live ones by editing the record"
	return append(all, bounds)
}

func orNothing(declared string) string {
	if declared == "-" {
		return "nothing"
	}
	return declared
}

// unreadable are the parts of either side that could not be read.
func unreadable(d difference) (all []annotation) {
	for _, part := range d.Fleet.Unread {
		all = append(all, annotation{level: failing, title: "not read", message: part.String()})
	}
	for _, namespace := range d.Broken() {
		all = append(all, annotation{level: failing, file: checkpoint.RecordPath(d.Site, namespace), title: "cannot be read", message: d.Tree.Broken[namespace].Error()})
	}
	if err := d.Tree.Unproven; err != nil {
		all = append(all, annotation{level: failing, file: checkpoint.EvidencePath(d.Site), title: "cannot be read", message: err.Error()})
	}
	return all
}
