package yamldoc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Problem is one thing wrong with a document.
type Problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitempty"`  // from 1; 0 without a line
	Path string `json:"field,omitempty"` // "policies[0].hold.up"; "" is the document
	Text string `json:"message"`         // "must be at least 1 sample, got 0"
}

// Error returns the file, the line, the field and the problem on one line.
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

// Errors are the problems of one document. It is never empty.
type Errors struct {
	Problems []Problem // in order of lines; at most the 100 that were found first
	More     int       // number of further problems
	Told     int       // maximum number of problems in Error; 0 is unlimited
}

// Error returns one line for each problem, and the number of omitted problems.
func (e *Errors) Error() string {
	told := e.Problems
	if e.Told > 0 {
		told = told[:min(len(told), e.Told)]
	}
	lines := lists.Map(told, Problem.Error)
	if more := len(e.Problems) - len(told) + e.More; more > 0 {
		lines = append(lines, fmt.Sprintf("%s: and %d more", e.Problems[0].File, more))
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems, so errors.As finds the first one.
func (e *Errors) Unwrap() []error {
	return lists.Map(e.Problems, func(p Problem) error { return p })
}
