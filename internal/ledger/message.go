package ledger

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Crossing is a change of one reading of an entry, and why.
type Crossing struct {
	ID       workload.ID
	Rollout  bool // it changes the rollout, not the scale
	From, To checkpoint.Entry
	Text     string
}

// Beside is what a commit does besides its crossings.
type Beside struct {
	Components []string // the namespaces whose Component is written anew, sorted
	Files      []string // those that are edited in place, sorted
}

// Message is the message of the commit that makes the crossings: in the subject
// the one that matters most, in the body a line for each with its reason and one
// for each namespace whose Component is written anew and each file that is edited
// in place, then the trailers by which the commit is known again. There is at
// least one of any. Beyond 64 KiB it says how many more lines there would be.
func Message(by Trailers, skipCI bool, crossings []Crossing, beside Beside) string {
	ordered := slices.Clone(crossings)
	slices.SortStableFunc(ordered, func(a, b Crossing) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), workload.Compare(a.ID, b.ID))
	})
	var b strings.Builder
	n, site := len(ordered), by.Site
	switch {
	case n > 0:
		first := ReasonOf(ordered[0])
		fmt.Fprintf(&b, "latch(%s): %s", site, first.change(first.ID.Short()))
	case len(beside.Components) > 0:
		n = len(beside.Components)
		fmt.Fprintf(&b, "latch(%s): update the Component of %s", site, beside.Components[0])
	default:
		n = len(beside.Files)
		fmt.Fprintf(&b, "latch(%s): update the numbers in %s", site, beside.Files[0])
	}
	if n > 1 {
		fmt.Fprintf(&b, ", +%d more", n-1)
	}
	if skipCI {
		b.WriteString(" [skip ci]")
	}
	b.WriteString("\n\n")
	all := lines(ordered, beside)
	for i, l := range all {
		if b.Len()+len(l) > maxLineBytes {
			fmt.Fprintf(&b, "and %d more: see the diff\n", len(all)-i)
			break
		}
		b.WriteString(l)
	}
	fmt.Fprintf(&b, "\n%s", by)
	return b.String()
}

// maxLineBytes is how many bytes of a message tell what a commit does, before its
// trailers. CodeCommit takes 256 KiB of both.
const maxLineBytes = 64 << 10

// lines tell what a commit does.
func lines(crossings []Crossing, beside Beside) (all []string) {
	for _, d := range crossings {
		all = append(all, ReasonOf(d).String()+"\n")
	}
	for _, namespace := range beside.Components {
		all = append(all, namespace+": Component written again from its checkpoint file\n")
	}
	for _, file := range beside.Files {
		all = append(all, "edited in place: "+oneLine(file)+"\n")
	}
	return all
}

// weight is how far a crossing goes: the ratio of its levels, a lowering
// counting as much as a raise; a new level or a retirement goes less far than
// any of these, and a rollout least, but for one that failed.
func weight(c Crossing) float64 {
	switch {
	case c.Rollout && c.To.Rollout.Phase == checkpoint.PhaseFailed:
		return -1
	case c.Rollout:
		return -2
	case c.From.Replicas == 0 || c.To.Replicas == 0:
		return 0
	}
	return math.Abs(math.Log(float64(c.To.Replicas) / float64(c.From.Replicas)))
}

// A Reason is what a commit changed of one workload, and why: a line of its
// message's body.
type Reason struct {
	ID      workload.ID
	Rollout bool // it changed the rollout, not the scale
	// From and To are levels in pods, of a rollout in percent. What was not there
	// is "new"; what will not be is "retired", or of a rollout "done".
	From, To string
	Text     string // on one line
}

// ReasonOf is the reason of a crossing.
func ReasonOf(c Crossing) Reason {
	r := Reason{ID: c.ID, Rollout: c.Rollout, Text: oneLine(c.Text)}
	if r.Rollout {
		r.From, r.To = milestone(c.From, "new"), milestone(c.To, "done")
		return r
	}
	none := "new"
	if c.To.IsZero() && !c.From.IsZero() {
		none = milestone(c.From, none) + " %" // all that it declared was a rollout
	}
	r.From, r.To = level(c.From.Replicas, none), level(c.To.Replicas, "retired")
	return r
}

// String is the line: "shop/deployment/web 100 -> 200: why".
func (r Reason) String() string { return r.change(r.ID.String()) + ": " + r.Text }

// About is the workload by a name of it, as a line begins with it.
func (r Reason) About(name string) string {
	if r.Rollout {
		return name + " rollout"
	}
	return name
}

// Levels are From and To with their units.
func (r Reason) Levels() (from, to string) { return r.unit(r.From), r.unit(r.To) }

func (r Reason) unit(level string) string {
	if _, err := strconv.Atoi(level); err == nil && r.Rollout {
		return level + " %"
	}
	return level
}

// change is the crossing in words: "web 100 -> 200", "web rollout 25 -> 50 %".
func (r Reason) change(name string) string {
	from, to := r.Levels()
	if to != r.To {
		from = r.From // one unit does for both
	}
	return r.About(name) + " " + from + " -> " + to
}

var reason = regexp.MustCompile(`(?m)^(\S+)( rollout)? (\S+)(?: %)? -> (\S+)(?: %)?: (.*)$`)

// Reasons are those that a message gives, fit to be printed.
func Reasons(message string) (all []Reason) {
	for _, m := range reason.FindAllStringSubmatch(message, -1) {
		if id, err := workload.ParseID(m[1]); err == nil {
			all = append(all, Reason{ID: id, Rollout: m[2] != "", From: sanitize.Line(m[3]), To: sanitize.Line(m[4]), Text: sanitize.Line(m[5])})
		}
	}
	return all
}

func level(replicas int32, none string) string {
	if replicas == 0 {
		return none
	}
	return fmt.Sprint(replicas)
}

func milestone(e checkpoint.Entry, none string) string {
	if e.Rollout == (checkpoint.Rollout{}) {
		return none
	}
	return fmt.Sprint(e.Rollout.Milestone)
}

// Subject is the first line of a message, fit to be printed.
func Subject(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return sanitize.Line(first)
}

// oneLine makes text that came from a cluster stay in one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
