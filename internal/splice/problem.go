package splice

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Problem is the reason why a marker, or a file, is not edited.
type Problem struct {
	File string
	Line int         // from 1; 0 if the problem has no line
	ID   workload.ID // the marked workload; zero if it is unknown, or if the problem affects the file
	Text string      // the problem and the remedy
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

// Refused are all problems of one file, by line. It is never empty.
type Refused struct {
	Problems []Problem
}

// Error returns one line per problem.
func (r *Refused) Error() string {
	return strings.Join(lists.Map(r.Problems, Problem.Error), "\n")
}

// join returns the problems as one error; nil if there are no problems.
func join(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return &Refused{problems}
}

// got returns a text of a file, or its first characters, in quotes.
func got(text string) string {
	const most = 80 // characters
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return strconv.Quote(text)
}
