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
	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Crossing is a change of one reading of an entry, with its reason.
type Crossing struct {
	ID       workload.ID
	Rollout  bool // it changes the rollout, not the scale
	From, To checkpoint.Entry
	Text     string
}

// Message returns the message of a commit. The template of its subject is of the policy, see
// FillSubject. The subject shows the largest of the crossings. The body has a line for each
// crossing with its reason, and for each of the namespaces whose checkpoint file is restored
// to its canonical form. The trailers follow. At least one crossing or namespace is required.
// After 64 KiB the body ends with the number of omitted lines.
func Message(template string, by Trailers, skipCI bool, crossings []Crossing, restored []string) string {
	ordered := slices.Clone(crossings)
	slices.SortStableFunc(ordered, func(a, b Crossing) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), workload.Compare(a.ID, b.ID))
	})
	var b strings.Builder
	b.WriteString(FillSubject(template, by.Site, summary(ordered, restored)))
	if skipCI {
		b.WriteString(" [skip ci]")
	}
	b.WriteString("\n\n")
	all := lines(ordered, restored)
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

// summary returns the first crossing, or else the first namespace, and the number of the
// others.
func summary(ordered []Crossing, restored []string) string {
	var text string
	n := len(ordered)
	if n > 0 {
		first := ReasonOf(ordered[0])
		text = first.change(first.ID.Short())
	} else {
		n = len(restored)
		text = "restore the text of the checkpoint file of " + restored[0]
	}
	if n > 1 {
		text += fmt.Sprintf(", +%d more", n-1)
	}
	return text
}

// maxLineBytes is the maximum size of a message in bytes, without its trailers.
// CodeCommit accepts 256 KiB with them.
const maxLineBytes = 64 << 10

// lines returns the lines of a message's body.
func lines(crossings []Crossing, restored []string) []string {
	return slices.Concat(
		lists.Map(crossings, func(d Crossing) string { return ReasonOf(d).String() + "\n" }),
		lists.Map(restored, func(namespace string) string { return Restored(namespace) + "\n" }),
	)
}

// Restored returns the line about a namespace whose checkpoint file is restored to its
// canonical form.
func Restored(namespace string) string {
	return namespace + ": text of the checkpoint file restored, levels unchanged"
}

// weight returns the size of a crossing. For a scale it is the ratio of the two levels,
// up or down. A new level or a retirement is smaller than any such change. A rollout is
// smaller still, and a failed one is larger than another.
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

// A Reason is the change of one workload in a commit, and why: a line of the message's
// body.
type Reason struct {
	ID      workload.ID
	Rollout bool // it changed the rollout, not the scale
	// From and To are levels in pods, or for a rollout the progress in percent. If the
	// entry did not exist, From is "new". If it will not exist, To is "retired", or
	// "done" for a rollout.
	From, To string
	Text     string // on one line
}

// ReasonOf returns the Reason of a crossing.
func ReasonOf(c Crossing) Reason {
	r := Reason{ID: c.ID, Rollout: c.Rollout, Text: oneLine(c.Text)}
	if r.Rollout {
		r.From, r.To = milestone(c.From, "new"), milestone(c.To, "done")
		return r
	}
	none := "new"
	if c.To.IsZero() && !c.From.IsZero() {
		none = milestone(c.From, none) + " %" // the entry had no level, only a rollout
	}
	r.From, r.To = level(c.From.Replicas, none), level(c.To.Replicas, "retired")
	return r
}

// String returns the line: "shop/deployment/web 100 -> 200: why".
func (r Reason) String() string { return r.change(r.ID.String()) + ": " + r.Text }

// About returns the start of the line for a workload with the given name.
func (r Reason) About(name string) string {
	if r.Rollout {
		return name + " rollout"
	}
	return name
}

// Levels returns From and To with their units.
func (r Reason) Levels() (from, to string) { return r.unit(r.From), r.unit(r.To) }

func (r Reason) unit(level string) string {
	if _, err := strconv.Atoi(level); err == nil && r.Rollout {
		return level + " %"
	}
	return level
}

// change returns the change as text: "web 100 -> 200", "web rollout 25 -> 50 %".
func (r Reason) change(name string) string {
	from, to := r.Levels()
	if to != r.To {
		from = r.From // the unit of To applies to both
	}
	return r.About(name) + " " + from + " -> " + to
}

var reason = regexp.MustCompile(`(?m)^(\S+)( rollout)? (\S+)(?: %)? -> (\S+)(?: %)?: (.*)$`)

// Reasons returns the reasons in a message, sanitized for printing.
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

// Subject returns the first line of a message, sanitized for printing.
func Subject(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return sanitize.Line(first)
}

// oneLine returns text from a cluster without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
