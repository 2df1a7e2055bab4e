package room

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Refuses reports whether a drill with this report fails. The document of an older version
// has a nil report.
func (r *Report) Refuses() bool { return r != nil && r.Answer == DoesNotFit }

// Fullest is the largest part of a limit that the pods ask for, from 0; 0 if every
// share is unknown.
func (r Report) Fullest() float64 { return slices.Max(append(lists.Map(r.Limits, Limit.Share), 0)) }

// headlines are the first sentences about a report.
var headlines = map[Answer]string{
	Unknown:    "It is unknown whether the cluster has room for all pods of a rebuild.",
	DoesNotFit: "The cluster does not have room for all pods of a rebuild.",
	Close:      "The cluster may not have room for all pods of a rebuild.",
	LikelyFits: "The cluster likely has room for all pods of a rebuild.",
}

// Lines returns the report as sentences: the answer, and each limit with another answer than
// LikelyFits.
func (r Report) Lines() []string {
	worse := lists.Filter(r.Limits, func(l Limit) bool { return l.Answer != LikelyFits })
	return append([]string{headlines[r.Answer]}, lists.Map(worse, Limit.String)...)
}

// relations say how the need of a rebuild relates to a limit and its share of the limit.
var relations = map[Answer]string{
	Unknown:    "and it is unknown whether this fits within the limit of %s (%s)",
	DoesNotFit: "which exceeds the limit of %s (%s)",
	Close:      "which is close to the limit of %s (%s)",
	LikelyFits: "which likely fits within the limit of %s (%s)",
}

// String returns the limit as a sentence.
func (l Limit) String() string {
	text := "it is unknown whether a rebuild fits"
	if l.Asked != nil && l.There != nil {
		text = fmt.Sprintf("a rebuild needs %s %s, "+relations[l.Answer], l.Amount(l.Asked), l.Resource, l.Amount(l.There), term.Percent(l.Share()))
	}
	switch {
	case l.Why != "" && l.There != nil && *l.There == 0:
		text = l.Why
	case l.Why != "":
		text += ": " + l.Why
	}
	return l.Name + ": " + text + "."
}

// barWidth is the width of a bar in columns.
const barWidth = 10

// Rows returns a header and one row for each limit.
func (r Report) Rows() [][]string {
	rows := [][]string{{"ANSWER", "SHARE", "ASKED", "OF", "ESTIMATE", "LIMIT"}}
	for _, l := range r.Limits {
		share := "-"
		if l.Asked != nil && l.There != nil {
			full := min(barWidth, int(l.Share()*barWidth+0.5))
			share = "[" + strings.Repeat("#", full) + strings.Repeat("-", barWidth-full) + "] " + term.Percent(l.Share())
		}
		rows = append(rows, []string{l.Answer.String(), share, l.Amount(l.Asked), l.Amount(l.There), l.Amount(l.Estimate), strings.TrimSpace(l.Name + " " + l.Resource)})
	}
	return rows
}

// Amount formats an amount of the resource: "1.5", "61.0Gi", or "-" for nil.
func (l Limit) Amount(n *int64) string {
	if n == nil {
		return "-"
	}
	switch l.Resource[strings.LastIndexByte(l.Resource, '.')+1:] {
	case "cpu":
		return strconv.FormatFloat(float64(*n)/1000, 'f', -1, 64)
	case "memory", "ephemeral-storage":
		return strconv.FormatFloat(float64(*n)/(1<<30), 'f', 1, 64) + "Gi"
	}
	return term.Number(*n)
}
