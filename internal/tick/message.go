package tick

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Beside is what a commit does besides its crossings.
type Beside struct {
	Components []string // the namespaces whose Component is written anew, sorted
	Files      []string // those that are edited in place, sorted
}

// Message is the message of the commit that makes the crossings: in the subject
// the one that matters most, in the body a line for each with its reason and one
// for each namespace whose Component is written anew and each file that is edited
// in place, then the trailers by which the commit is known again. There is at
// least one of any.
func Message(by ledger.Trailers, skipCI bool, crossings []policy.Decision, beside Beside) string {
	ordered := slices.Clone(crossings)
	slices.SortStableFunc(ordered, func(a, b policy.Decision) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), workload.Compare(a.ID, b.ID))
	})
	var b strings.Builder
	n, site := len(ordered), by.Site
	switch {
	case n > 0:
		fmt.Fprintf(&b, "latch(%s): %s %s", site, subject(ordered[0], ordered[0].ID.Short()), arrow(ordered[0]))
	case len(beside.Components) > 0:
		n = len(beside.Components)
		fmt.Fprintf(&b, "latch(%s): Component of %s follows its record", site, beside.Components[0])
	default:
		n = len(beside.Files)
		fmt.Fprintf(&b, "latch(%s): %s follows the record", site, beside.Files[0])
	}
	if n > 1 {
		fmt.Fprintf(&b, ", +%d more", n-1)
	}
	if skipCI {
		b.WriteString(" [skip ci]")
	}
	b.WriteString("\n\n")
	for _, d := range ordered {
		fmt.Fprintf(&b, "%s %s: %s\n", subject(d, d.ID.String()), arrow(d), line(d.Text))
	}
	for _, namespace := range beside.Components {
		fmt.Fprintf(&b, "%s: Component written anew from its record\n", namespace)
	}
	for _, file := range beside.Files {
		fmt.Fprintf(&b, "edited in place: %s\n", line(file))
	}
	fmt.Fprintf(&b, "\n%s", by)
	return b.String()
}

// Body is the body of a proposal: the crossings as a table, the namespaces whose
// Component is written anew and the files that are edited in place, and what
// people can do with it. There is at least one of any. What came from outside is
// escaped.
func Body(site string, crossings []policy.Decision, beside Beside) string {
	var b strings.Builder
	acts := "nothing on the live cluster."
	if len(beside.Files) > 0 {
		acts = "on the live cluster nothing but what applies the files below."
	}
	fmt.Fprintf(&b, "Site `%s`: merging changes what a rebuild gives; %s\n", site, acts)
	if len(crossings) > 0 {
		b.WriteString("\nWhat runs has left these levels.\n\n| workload | declared | proposed | why |\n|---|---:|---:|---|\n")
	}
	for _, d := range crossings {
		why := cmp.Or(d.Text, "as proposed before")
		if d.Surge {
			why = "**out of the ordinary:** " + escape(why)
		} else {
			why = escape(why)
		}
		from, to := levels(d)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", escape(subject(d, d.ID.String())), from, to, why)
	}
	for _, l := range []struct {
		of  []string
		are string
	}{
		{beside.Components, "The Components of these namespaces do not say what their records say, and are written anew from them:"},
		{beside.Files, "These files are edited in place. Their counts act wherever they are applied:"},
	} {
		if len(l.of) > 0 {
			fmt.Fprintf(&b, "\n%s\n\n", l.are)
		}
		for _, name := range l.of {
			fmt.Fprintf(&b, "- %s\n", escape(name))
		}
	}
	b.WriteString("\nMerge it in any way, change it in a commit of your own, or close it to say no: what you decide is left alone for a day. This proposal follows the need while it is open.\n")
	return b.String()
}

// escape makes text plain in a cell of a Markdown table.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r':
			r = ' '
		case r == '<':
			b.WriteString("&lt;")
			continue
		case strings.ContainsRune("\\`*_{}[]()#+!|~@", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// weight is how far a crossing goes: the ratio of its levels, a lowering
// counting as much as a raise; a new level or a retirement goes less far than
// any of these, and a rollout least, but for one that failed.
func weight(d policy.Decision) float64 {
	switch {
	case d.Reading == policy.ReadingRollout && d.To.Rollout.Phase == checkpoint.PhaseFailed:
		return -1
	case d.Reading == policy.ReadingRollout:
		return -2
	case d.From.Replicas == 0 || d.To.Replicas == 0:
		return 0
	}
	return math.Abs(math.Log(float64(d.To.Replicas) / float64(d.From.Replicas)))
}

// subject is a workload as a line begins with it.
func subject(d policy.Decision, name string) string {
	if d.Reading == policy.ReadingRollout {
		return name + " rollout"
	}
	return name
}

// arrow is the way of a crossing: "100 -> 200", of a rollout "25 -> 50 %".
func arrow(d policy.Decision) string {
	from, to := levels(d)
	if d.Reading == policy.ReadingRollout && strings.HasSuffix(to, " %") {
		from = strings.TrimSuffix(from, " %")
	}
	return from + " -> " + to
}

// levels are what a crossing takes from and to. What was not there is new; what
// will not be is retired, or of a rollout done.
func levels(d policy.Decision) (from, to string) {
	if d.Reading == policy.ReadingRollout {
		return milestone(d.From, "new"), milestone(d.To, "done")
	}
	if d.From.Replicas == 0 && !d.From.IsZero() && d.To.IsZero() {
		return milestone(d.From, "new"), "retired"
	}
	return levelOf(d.From, "new"), levelOf(d.To, "retired")
}

// levelOf is the level of an entry. One that declares only a rollout has none,
// as if it were not there.
func levelOf(e checkpoint.Entry, none string) string {
	if e.Replicas == 0 {
		return none
	}
	return fmt.Sprint(e.Replicas)
}

func milestone(e checkpoint.Entry, none string) string {
	if e.Rollout == (checkpoint.Rollout{}) {
		return none
	}
	return fmt.Sprintf("%d %%", e.Rollout.Milestone)
}

// line makes text that came from a cluster stay in one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }
