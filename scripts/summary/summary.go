package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// An event is one line of go test -json; see go doc test2json.
type event struct {
	Action, Package, Test, Output string
	ImportPath                    string // of a package that does not build
	Elapsed                       float64
}

// A summary is the result of a run of tests.
type summary struct {
	packages, passed int
	failed           []string // tests, and packages that fail without a failed test
	skipped          []string // tests, each with its reason
}

// good reports whether all tests passed; with strict, as in CI, no test may be skipped
// either.
func (s summary) good(strict bool) bool {
	return s.passed > 0 && len(s.failed) == 0 && !(strict && len(s.skipped) > 0)
}

// String returns the end of a report.
func (s summary) String() string {
	var b strings.Builder
	list := func(head string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "\n%s:\n  %s\n", head, strings.Join(lines, "\n  "))
		}
	}
	list("skipped", s.skipped)
	list("failed", s.failed)
	fmt.Fprintf(&b, "\n%d packages\n%d passed, %d failed, %d skipped\n", s.packages, s.passed, len(s.failed), len(s.skipped))
	return b.String()
}

// read copies the output of failed tests, and one line for each package, as they arrive.
func read(in io.Reader, out io.Writer) (s summary, err error) {
	output := map[string]*strings.Builder{} // by package and test
	blamed := map[string]bool{}             // packages with a failed test
	decoder := json.NewDecoder(in)
	for {
		var e event
		switch err := decoder.Decode(&e); {
		case errors.Is(err, io.EOF):
			return s, nil
		case err != nil:
			return s, fmt.Errorf("read what go test wrote: %w", err)
		}
		name := strings.TrimSuffix(e.Package+"."+e.Test, ".")
		switch e.Action {
		case "output":
			if output[name] == nil {
				output[name] = &strings.Builder{}
			}
			output[name].WriteString(e.Output)
			continue
		case "build-output":
			_, err = io.WriteString(out, e.Output)
		case "pass", "fail", "skip":
			wrote := ""
			if output[name] != nil {
				wrote = output[name].String()
			}
			delete(output, name)
			err = s.settle(e, name, wrote, blamed, out)
		}
		if err != nil {
			return s, err
		}
	}
}

// settle counts a test or package that ended.
func (s *summary) settle(e event, name, wrote string, blamed map[string]bool, out io.Writer) (err error) {
	switch {
	case e.Test == "" && e.Action == "skip": // a package without tests
		return nil
	case e.Test == "":
		s.packages++
		if e.Action == "fail" && !blamed[e.Package] {
			s.failed = append(s.failed, name)
			_, err = io.WriteString(out, wrote)
		}
		if err == nil {
			_, err = fmt.Fprintf(out, "%-5s %7.1fs  %s\n", e.Action, e.Elapsed, e.Package)
		}
		return err
	case e.Action == "pass":
		s.passed++
	case e.Action == "skip":
		s.skipped = append(s.skipped, name+": "+reason(wrote))
	case e.Action == "fail":
		blamed[e.Package] = true
		s.failed = append(s.failed, name)
		_, err = io.WriteString(out, wrote)
	}
	return err
}

// reason returns the text of a skipped test: "file.go:12: the reason".
func reason(wrote string) string {
	for line := range strings.Lines(wrote) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}
	return "no reason given"
}
