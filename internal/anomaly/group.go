package anomaly

import (
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/term"
)

// single is how many workloads with the same anomaly are said one by one: what is
// open and what is to be sent lies in one item of the state, and nobody reads
// more.
const single = 10

// group puts together, kind by kind, what would be too many messages: beyond ten
// workloads all that were not said before are one condition, and stay that until
// it is over.
func group(found []alert.Condition, open []alert.Open) []alert.Condition {
	by := map[alert.Kind][]alert.Condition{}
	for _, c := range found {
		by[c.Kind] = append(by[c.Kind], c)
	}
	var all []alert.Condition
	for _, r := range rules {
		of := by[r.kind]
		said := func(subject string) bool {
			return slices.ContainsFunc(open, func(o alert.Open) bool { return o.Kind == r.kind && o.Subject == subject })
		}
		if len(of) <= single && !said("") {
			all = append(all, of...)
			continue
		}
		var others []alert.Condition
		for _, c := range of {
			if said(c.Subject) {
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

// together is the condition of several workloads with the same anomaly.
func together(of []alert.Condition) alert.Condition {
	names, first := each.Of(of, func(c alert.Condition) string { return c.Subject }), of[0]
	return alert.Condition{
		Kind: first.Kind,
		Text: fmt.Sprintf("%d workloads: %s. Of the first: %s", len(of), term.Among(names), first.Text),
		Did:  first.Did,
		Do:   first.Do,
	}
}
