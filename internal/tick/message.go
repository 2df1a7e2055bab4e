package tick

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The trailers of a commit.
const (
	trailerSite   = "Gitlatch-Site: "
	trailerIntent = "Gitlatch-Intent: "
)

// Message is the message of the commit that makes the crossings: in the subject
// the one that matters most, in the body a line for each with its reason and one
// for each namespace whose Component is written anew, then the trailers by which
// the commit is known again. There is at least one of either.
func Message(site, intent string, skipCI bool, crossings []policy.Decision, mended []string) string {
	ordered := slices.Clone(crossings)
	slices.SortStableFunc(ordered, func(a, b policy.Decision) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), workload.Compare(a.ID, b.ID))
	})
	var b strings.Builder
	if len(ordered) > 0 {
		fmt.Fprintf(&b, "latch(%s): %s %s", site, ordered[0].ID.Short(), arrow(ordered[0]))
	} else {
		fmt.Fprintf(&b, "latch(%s): Component of %s follows its record", site, mended[0])
	}
	if more := cmp.Or(len(ordered), len(mended)) - 1; more > 0 {
		fmt.Fprintf(&b, ", +%d more", more)
	}
	if skipCI {
		b.WriteString(" [skip ci]")
	}
	b.WriteString("\n\n")
	for _, d := range ordered {
		fmt.Fprintf(&b, "%s %s: %s\n", d.ID, arrow(d), d.Text)
	}
	for _, namespace := range mended {
		fmt.Fprintf(&b, "%s: Component written anew from its record\n", namespace)
	}
	fmt.Fprintf(&b, "\n%s%s\n%s%s\n", trailerSite, site, trailerIntent, intent)
	return b.String()
}

// weight is how far a crossing goes: the ratio of its levels, a lowering
// counting as much as a raise. A new entry or a retirement goes farthest of
// what is ordinary.
func weight(d policy.Decision) float64 {
	if d.From == nil || d.To == nil {
		return 0
	}
	return math.Abs(math.Log(float64(d.To.Replicas) / float64(d.From.Replicas)))
}

func arrow(d policy.Decision) string {
	level := func(e *checkpoint.Entry, none string) string {
		if e == nil {
			return none
		}
		return fmt.Sprint(e.Replicas)
	}
	return level(d.From, "new") + " -> " + level(d.To, "retired")
}
