package anomaly

import (
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// single is the highest number of workloads with separate conditions of one kind. One
// item of the state store contains all open conditions, and users do not read more
// messages.
const single = 10

// group joins the conditions of a kind if they are too many for separate messages. The
// workloads without a separate open condition then share one condition until it is over.
func group(found []alert.Condition, open []alert.Open) []alert.Condition {
	by := map[alert.Kind][]alert.Condition{}
	for _, c := range found {
		by[c.Kind] = append(by[c.Kind], c)
	}
	var all []alert.Condition
	for _, r := range rules {
		of := by[r.kind]
		isOpen := func(subject string) bool {
			return slices.ContainsFunc(open, func(o alert.Open) bool { return o.Kind == r.kind && o.Subject == subject })
		}
		if len(of) <= single && !isOpen("") {
			all = append(all, of...)
			continue
		}
		var others []alert.Condition
		for _, c := range of {
			if isOpen(c.Subject) {
				all = append(all, c)
			} else {
				others = append(others, c)
			}
		}
		if len(others) > 0 {
			all = append(all, together(others))
		}
	}
	return all
}

// together returns one condition for several workloads.
func together(of []alert.Condition) alert.Condition {
	names := lists.Map(of, func(c alert.Condition) string { return c.Subject })
	first := of[0]
	return alert.Condition{
		Kind:   first.Kind,
		Text:   fmt.Sprintf("%d workloads: %s. For the first one: %s", len(of), term.Among(names), first.Text),
		Effect: "for the first one, " + first.Effect,
		Fix:    "for the first one, " + first.Fix,
	}
}
