package splice

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Problem is why a mark, or a whole file, is not edited.
type Problem struct {
	File string
	Line int         // from 1; 0 where it is no line's fault
	ID   workload.ID // whose mark it is; zero where that cannot be told, or where the whole file is meant
	Text string      // what is wrong, and what to do
}

// Error returns file:line: workload: text.
func (p Problem) Error() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, p.Line)
	}
	if p.ID != (workload.ID{}) {
		at += ": " + p.ID.String()
	}
	return at + ": " + p.Text
}

// Refused is all that is not edited in one file, by line. It is never empty.
type Refused struct {
	Problems []Problem
}

// Error returns one line a problem.
func (r *Refused) Error() string {
	return strings.Join(each.Of(r.Problems, Problem.Error), "\n")
}

// join returns the problems as one error, nil where there are none.
func join(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Refused{problems}
}

// got shows a text of a file, or its beginning, in quotes.
func got(text string) string {
	const most = 80 // characters
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strconv.Quote(text)
}
