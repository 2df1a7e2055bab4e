package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// APIVersion is the version of all documents.
const APIVersion = "gitlatch.dev/v1alpha1"

// The kinds of document.
const (
	KindConfig = "Config"
	KindPolicy = "Policy"
	KindFleet  = "Fleet"
)

// A reader collects what is wrong while values read themselves from a document.
type reader struct {
	file     string
	lines    map[string]int // by path, of what stands in the document
	failed   map[string]bool
	problems []Problem // the first mostKept
	more     int       // how many there are besides
	ignored  []string  // fields that say nothing any more, with their lines
}

func newReader(file string) *reader {
	return &reader{file: file, lines: map[string]int{}, failed: map[string]bool{}}
}

// read reads a document of one kind into what its fields are bound to.
func (r *reader) read(kind string, data []byte, fields []field, rules ...rule) {
	root, ok := r.only(kind, data)
	if !ok {
		return
	}
	if other := kindOf(root); other != kind && purpose[other] != "" {
		r.problem(root.Line, "kind", "must be %s, got %s, which says %s", kind, other, purpose[other])
		return
	}
	document(kind, fields, rules...).read(r, "", root)
}

// document returns a whole document of a kind, given the fields of its own.
func document(kind string, fields []field, rules ...rule) object {
	return object{fields: append([]field{
		{"apiVersion", APIVersion + ", the version of this format", true, constant(APIVersion)},
		{"kind", kind + ", the kind of this document", true, constant(kind)},
	}, fields...), rules: rules}
}

var purpose = map[string]string{
	KindConfig: "how a site is run: the file for --config",
	KindPolicy: "how workloads are latched: the file on the branch",
	KindFleet:  "which sites a fleet has: the file that fleet of a Config names",
}

// mostBytes is how much of a document is parsed. YAML needs up to a hundred times
// its bytes in memory.
const mostBytes = 1 << 20

// only returns the root of the only document in data.
func (r *reader) only(kind string, data []byte) (*yaml.Node, bool) {
	if len(data) > mostBytes {
		r.problem(0, "", "has %d bytes, and at most %d are read", len(data), mostBytes)
		return nil, false
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF), err == nil && doc.Content[0].ShortTag() == "!!null":
		r.problem(0, "", "is empty: start it with apiVersion: %s and kind: %s", APIVersion, kind)
		return nil, false
	case err != nil:
		r.syntax(err)
		return nil, false
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		r.problem(next.Line, "", "must hold one document, and another begins here: move it to a file of its own")
	case !errors.Is(err, io.EOF):
		r.syntax(err)
	}
	return doc.Content[0], true
}

var syntaxLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func (r *reader) syntax(err error) {
	text := err.Error()
	part := syntaxLine.FindStringSubmatch(text)
	line := 0
	if part != nil {
		text = text[len(part[0]):]
		line, _ = strconv.Atoi(part[1])
	}
	r.problem(line, "", "is not YAML: %s", text)
}

func kindOf(root *yaml.Node) string {
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "kind" {
			return root.Content[i+1].Value
		}
	}
	return ""
}

// mostKept is how many problems of a document are kept: one of a megabyte can hold
// hundreds of thousands.
const mostKept = 100

// problem records what is wrong at a line.
func (r *reader) problem(line int, path, format string, args ...any) {
	r.failed[path] = true
	if len(r.problems) == mostKept {
		r.more++
		return
	}
	r.problems = append(r.problems, Problem{r.file, line, path, fmt.Sprintf(format, args...)})
}

// report records what is wrong with a field, at its line or that of the
// nearest field around it that stands in the document.
func (r *reader) report(path, format string, args ...any) {
	around := path
	for r.lines[around] == 0 && around != "" {
		around = around[:max(0, strings.LastIndexAny(around, ".["))]
	}
	r.problem(r.lines[around], path, format, args...)
}

// failedBelow reports whether a field, or one inside it, could not be read.
func (r *reader) failedBelow(path string) bool {
	for failed := range r.failed {
		if rest, found := strings.CutPrefix(failed, path); found && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// at records where a field stands: at its key, which is read before its value.
func (r *reader) at(path string, line int) {
	if r.lines[path] == 0 {
		r.lines[path] = line
	}
}

// of reports whether a node is of a kind of YAML that the field can hold. An
// alias never is: what it stands for would have to be looked for elsewhere.
func (r *reader) of(path string, n *yaml.Node, kind yaml.Kind, want string) bool {
	r.at(path, n.Line)
	switch {
	case n.Kind == yaml.AliasNode:
		r.report(path, "is an alias, which is not read here: write the value out")
	case n.ShortTag() == "!!null":
		r.report(path, "has no value: give %s, or remove the line", want)
	case n.Kind != kind:
		r.report(path, "must be %s, got %s", want, got(n))
	default:
		return true
	}
	return false
}

// scalar is of for a single value with one of some tags, such as !!int.
func (r *reader) scalar(path string, n *yaml.Node, want string, tags ...string) bool {
	if !r.of(path, n, yaml.ScalarNode, want) {
		return false
	}
	if slices.Contains(tags, n.ShortTag()) {
		return true
	}
	r.report(path, "must be %s, got %s", want, got(n))
	return false
}

// got says what a node holds, in few words.
func got(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!str":
		return quote(n.Value)
	}
	return n.Value
}

func quote(s string) string {
	if text := []rune(s); len(text) > 40 {
		s = string(text[:40]) + "..."
	}
	return strconv.Quote(s)
}
