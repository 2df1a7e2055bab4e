package yamldoc

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// A Reader collects the problems of one document while values read themselves from it.
type Reader struct {
	Told int // maximum number of problems in its error; 0 is unlimited

	file     string
	bare     bool
	lines    map[string]int  // by path, for fields in the document
	failed   map[string]bool // by path, fields with a problem
	problems []Problem       // the first mostKept
	more     int             // number of further problems
}

// NewReader returns a reader for the document in a file. The name of the file is only for
// problems and relative paths.
func NewReader(file string) *Reader {
	return &Reader{file: file, lines: map[string]int{}, failed: map[string]bool{}}
}

// Err returns the problems of the document as *Errors, or nil if it has no problems.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return &Errors{Problems: r.problems, More: r.more, Told: r.Told}
}

// Line returns the line of a field, from 1, or 0 if the document does not have the field.
func (r *Reader) Line(path string) int { return r.lines[path] }

// Failed reports whether there is a problem with a field or inside it.
func (r *Reader) Failed(path string) bool {
	for failed := range r.failed {
		if rest, found := strings.CutPrefix(failed, path); found && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// Bare reports whether the document has a value of a Bare form without quotes that YAML does
// not read as a text, such as 5 and true.
func (r *Reader) Bare() bool { return r.bare }

// Report notes a problem with a field. Its line is the line of the field, or of the
// nearest enclosing field in the document.
func (r *Reader) Report(path, format string, args ...any) {
	around := path
	for r.lines[around] == 0 && around != "" {
		around = around[:max(0, strings.LastIndexAny(around, ".["))]
	}
	r.problem(r.lines[around], path, format, args...)
}

// mostKept is the maximum number of problems that a Reader stores. A document of one
// megabyte can have hundreds of thousands.
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

// at notes the line of a field: the line of its key, which is read before its value.
func (r *Reader) at(path string, line int) {
	if r.lines[path] == 0 {
		r.lines[path] = line
	}
}

// of reports whether a node has the given YAML kind. It refuses aliases, because a reader
// would have to look for the value elsewhere.
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

// keys returns the values of a mapping by key, and the keys in their order. It reports
// duplicate keys, merge keys and keys that are not names.
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

// got describes the content of a node, for a message.
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

// Quote returns a text for a message, in quotes and cut after 40 characters.
func Quote(s string) string {
	if text := []rune(s); len(text) > 40 {
		s = string(text[:40]) + "..."
	}
	return strconv.Quote(s)
}
