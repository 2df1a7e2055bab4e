package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// A Reader collects what is wrong with one document while values read
// themselves from it.
type Reader struct {
	Told int // how many problems its error tells; 0 is all

	file     string
	lines    map[string]int  // by path, of what stands in the document
	failed   map[string]bool // by path, what had a problem
	problems []Problem       // the first mostKept
	more     int             // how many there are besides
}

// NewReader returns a reader of the document in a file, whose name stands in
// problems.
func NewReader(file string) *Reader {
	return &Reader{file: file, lines: map[string]int{}, failed: map[string]bool{}}
}

// Err returns all that is wrong with the document as *Errors, nil where nothing
// is.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return &Errors{Problems: r.problems, More: r.more, Told: r.Told}
}

// Line returns the line of a field, from 1; 0 where it does not stand in the
// document.
func (r *Reader) Line(path string) int { return r.lines[path] }

// Failed reports whether there is a problem with a field or inside of it.
func (r *Reader) Failed(path string) bool {
	for failed := range r.failed {
		if rest, found := strings.CutPrefix(failed, path); found && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// Report notes what is wrong with a field, at its line or that of the nearest
// field around it that stands in the document.
func (r *Reader) Report(path, format string, args ...any) {
	around := path
	for r.lines[around] == 0 && around != "" {
		around = around[:max(0, strings.LastIndexAny(around, ".["))]
	}
	r.problem(r.lines[around], path, format, args...)
}

// mostKept is how many problems of a document are kept: one of a megabyte can
// hold hundreds of thousands.
const mostKept = 100

func (r *Reader) problem(line int, path, format string, args ...any) {
	r.failed[path] = true
	if len(r.problems) == mostKept {
		r.more++
		return
	}
	printable := func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return unicode.ReplacementChar
	}
	r.problems = append(r.problems, Problem{r.file, line, path, strings.Map(printable, fmt.Sprintf(format, args...))})
}

// at records where a field stands: at its key, which is read before its value.
func (r *Reader) at(path string, line int) {
	if r.lines[path] == 0 {
		r.lines[path] = line
	}
}

// of reports whether a node is of a kind of YAML that the field can hold. An
// alias never is: what it stands for would have to be looked for elsewhere.
func (r *Reader) of(path string, n *yaml.Node, kind yaml.Kind, must string) bool {
	r.at(path, n.Line)
	switch {
	case n.Kind == yaml.AliasNode:
		r.Report(path, "is an alias, which gitlatch does not read here. Write the value")
	case n.ShortTag() == "!!null":
		r.Report(path, "has no value. Set %s, or remove the line", must)
	case n.Kind != kind:
		r.Report(path, "must be %s, got %s", must, got(n))
	default:
		return true
	}
	return false
}

// keys returns the values of a mapping by key, and the keys in their order. It
// reports keys that stand twice or are no names.
func (r *Reader) keys(path string, n *yaml.Node) (stands map[string]*yaml.Node, order []string) {
	stands = map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, node := n.Content[i], n.Content[i+1]
		at := Child(path, key.Value)
		_, twice := stands[key.Value]
		switch {
		case key.Tag == "!!merge":
			r.problem(key.Line, at, "is a merge key, which gitlatch does not read here. Write the fields")
		case key.Kind != yaml.ScalarNode:
			r.problem(key.Line, path, "has a key that is %s. Keys are plain names", got(key))
		case twice:
			r.problem(key.Line, at, "appears twice, first on line %d. Keep one", r.lines[at])
		default:
			r.at(at, key.Line)
			stands[key.Value] = node
			order = append(order, key.Value)
		}
	}
	return stands, order
}

// Child returns the path of a field of an object.
func Child(path, name string) string {
	switch quoted := strconv.Quote(name); {
	case name == "", strings.ContainsAny(name, ".[]/ "), len(quoted) > len(name)+2:
		return path + "[" + quoted + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// Index returns the path of an item of a list, from 0.
func Index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// got says what a node holds, in few words.
func got(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "the alias *" + n.Value
	case n.ShortTag() == "!!str":
		return Quote(n.Value)
	}
	return n.Value
}

// Quote returns a text for a message: in quotes, and cut after 40 characters.
func Quote(s string) string {
	if text := []rune(s); len(text) > 40 {
		s = string(text[:40]) + "..."
	}
	return strconv.Quote(s)
}
