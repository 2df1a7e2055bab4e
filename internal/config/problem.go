package config

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// Errors is what is wrong with one document, by line: all of it, but for what a
// last problem counts. It is never empty.
type Errors struct {
	Problems []Problem
}

// Error returns one line a problem.
func (e *Errors) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems, so that errors.As finds the first.
func (e *Errors) Unwrap() []error {
	all := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		all[i] = p
	}
	return all
}

// err returns what was recorded as one error, nil where nothing was.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	if r.more > 0 {
		r.problems = append(r.problems, Problem{File: r.file, Text: fmt.Sprintf("has %d more problems", r.more)})
	}
	return &Errors{r.problems}
}
