package room

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/term"
)

// Refuses reports whether a drill with this report fails. The document of an older version
// has a nil report.
func (r *Report) Refuses() bool { return r != nil && r.Answer == DoesNotFit }

// Fullest is the largest part of a limit that the pods ask for, from 0; 0 if every
// share is unknown.
func (r Report) Fullest() (share float64) {
	for _, l := range r.Limits {
		share = max(share, l.Share())
	}
	return share
}

// headlines are the first sentences about a report.
var headlines = map[Answer]string{
	Unknown:    "It is unknown whether a rebuild fits its limits.",
	DoesNotFit: "A rebuild does not fit its limits.",
	Close:      "A rebuild is close to a limit.",
	LikelyFits: "A rebuild likely fits its limits.",
}

// Lines returns the report as sentences: the answer, and each limit with another answer than
// LikelyFits.
func (r Report) Lines() []string {
	lines := []string{headlines[r.Answer]}
	for _, l := range r.Limits {
		if l.Answer != LikelyFits {
			lines = append(lines, l.String())
		}
	}
	return lines
}

// String returns the limit as a sentence.
func (l Limit) String() string {
	text := fmt.Sprintf("%s: %s", l.Name, l.Answer)
	if l.Asked != nil && l.There != nil {
		text = fmt.Sprintf("%s: the pods ask for %s of %s %s (%s), %s", l.Name, l.Amount(*l.Asked), l.Amount(*l.There), l.Resource, term.Percent(l.Share()), l.Answer)
	}
	if l.Why != "" {
		text += ": " + l.Why
	}
	return text + "."
}

// barWidth is the width of a bar in columns.
const barWidth = 10

// bar draws a share.
func bar(share float64) string {
	full := min(barWidth, int(share*barWidth+0.5))
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", barWidth-full) + "]"
}

// Rows returns a header and one row for each limit.
func (r Report) Rows() [][]string {
	rows := [][]string{{"ANSWER", "SHARE", "ASKED", "OF", "ESTIMATE", "LIMIT"}}
	for _, l := range r.Limits {
		share := "-"
		if l.Asked != nil && l.There != nil {
			share = bar(l.Share()) + " " + term.Percent(l.Share())
		}
		name := strings.TrimSpace(l.Name + " " + l.Resource)
		rows = append(rows, []string{l.Answer.String(), share, l.amount(l.Asked), l.amount(l.There), l.amount(l.Estimate), name})
	}
	return rows
}

func (l Limit) amount(n *int64) string {
	if n == nil {
		return "-" // the answer is unknown, and a sentence has the reason
	}
	return l.Amount(*n)
}

// Amount formats an amount of the resource: "1.5", "61.0Gi".
func (l Limit) Amount(n int64) string {
	switch l.Resource[strings.LastIndexByte(l.Resource, '.')+1:] {
	case "cpu":
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64)
	case "memory", "ephemeral-storage":
		return strconv.FormatFloat(float64(n)/(1<<30), 'f', 1, 64) + "Gi"
	}
	return strconv.FormatInt(n, 10)
}
