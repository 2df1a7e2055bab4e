// Package room has the answer to the question whether a rebuild fits its limits: for each
// limit, the amount that the pods ask for, the amount that there is, and an estimate.
package room

import (
	"cmp"
	"slices"
)

// An Answer is the answer for one limit or for all of them. The zero value is Unknown.
type Answer int

// The answers. DoesNotFit is certain, Close and LikelyFits are estimates.
const (
	Unknown    Answer = iota // a value is missing
	DoesNotFit               // the pods ask for more than the limit
	Close                    // neither of the others
	LikelyFits               // the estimate is well within the limit
)

// Factor is the part of the estimate, in percent, that a limit of nodes must have for
// LikelyFits. limits/testdata/README.md has the measured answers for other factors.
const Factor = 145

var answers = []string{"unknown", "does not fit", "close", "likely fits"}

// String returns the answer as users read it.
func (a Answer) String() string { return answers[a] }

// MarshalText returns the answer as in documents.
func (a Answer) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads an answer of a document. A text that it does not know is Unknown.
func (a *Answer) UnmarshalText(text []byte) error {
	*a = Answer(max(0, slices.Index(answers, string(text))))
	return nil
}

// A Limit is the answer for one limit. Asked, There and Estimate are thousandths of a CPU, in
// bytes, or in the unit of the resource; nil is unknown.
type Limit struct {
	Name     string `json:"limit"`    // "NodePool default"
	Resource string `json:"resource"` // "cpu"
	Answer   Answer `json:"answer"`
	Asked    *int64 `json:"asked"`    // by the pods that no other limit takes
	There    *int64 `json:"there"`    // the limit
	Estimate *int64 `json:"estimate"` // the amount that the nodes of the pods take
	Why      string `json:"why,omitzero"`

	Namespace string `json:"-"` // of a ResourceQuota
}

// A Report is the answer for a rebuild: the worst answer of its limits.
type Report struct {
	Answer Answer  `json:"answer"`
	Limits []Limit `json:"limits"` // the worst first
	Pods   int64   `json:"pods"`   // of the rebuild
}

// rank orders answers, the worst first.
var rank = map[Answer]int{DoesNotFit: 0, Unknown: 1, Close: 2, LikelyFits: 3}

// ReportOf returns the report for limits and the number of pods of the rebuild.
func ReportOf(limits []Limit, pods int64) Report {
	if len(limits) == 0 {
		limits = []Limit{{Name: "limits", Why: "the cluster has no ResourceQuota, and no NodePool or node with a limit"}}
	}
	slices.SortStableFunc(limits, func(a, b Limit) int {
		return cmp.Or(cmp.Compare(rank[a.Answer], rank[b.Answer]), cmp.Compare(b.Share(), a.Share()), cmp.Compare(a.Name, b.Name))
	})
	return Report{limits[0].Answer, limits, pods}
}

// Judged returns the limit with its answer, which is Unknown without an estimate unless the
// pods ask for too much. factor is in percent, as Factor.
func (l Limit) Judged(factor int64) Limit {
	switch {
	case *l.Asked > *l.There:
		l.Answer = DoesNotFit
	case l.Estimate != nil && float64(factor)/100*float64(*l.Estimate) <= float64(*l.There):
		l.Answer = LikelyFits
	case l.Estimate != nil:
		l.Answer = Close
	}
	return l
}

// Share is the part of the limit that the pods ask for, from 0; 0 if it is unknown.
func (l Limit) Share() float64 {
	if l.Asked == nil || l.There == nil || *l.Asked == 0 {
		return 0
	}
	return float64(*l.Asked) / float64(max(1, *l.There))
}
