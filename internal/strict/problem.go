package strict

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/each"
)

// A Problem is one thing wrong with a document.
type Problem struct {
	File string
	Line int    // from 1; 0 where there is none to name
	Path string // of the field: "policies[0].hold.up"; "" is the document
	Text string // "must be at least 1 sample, got 0"
}

// Error returns file, line, field and what is wrong, on one line.
func (p Problem) Error() string {
	at := p.File
	if p.Line > 0 {
		at += ":" + strconv.Itoa(p.Line)
	}
	if p.Path != "" {
		at += ": " + p.Path
	}
	return at + ": " + p.Text
}

// Errors is what is wrong with one document. It is never empty.
type Errors struct {
	Problems []Problem // by line; of a document with more than 100 the first that were found
	More     int       // how many there are besides
	Told     int       // how many of them Error tells; 0 is all
}

// Error returns a line a problem: the first ones, and how many more there are.
func (e *Errors) Error() string {
	told := e.Problems
	if e.Told > 0 {
		told = told[:min(len(told), e.Told)]
	}
	lines := each.Of(told, Problem.Error)
	if more := len(e.Problems) - len(told) + e.More; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", e.Problems[0].File, more))
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems, so that errors.As finds the first.
func (e *Errors) Unwrap() []error {
	return each.Of(e.Problems, func(p Problem) error { return p })
}
