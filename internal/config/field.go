package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A schema is a piece of a JSON schema.
type schema = map[string]any

// A value is what a field holds: a variable that it is bound to, and how that
// is written in YAML.
type value interface {
	// read sets the variable from a node, or reports why it cannot and leaves
	// the variable as it was.
	read(r *reader, path string, n *yaml.Node)
	// schema says the same to an editor, as far as a schema can.
	schema() schema
}

// A field is one key of an object.
type field struct {
	name     string
	doc      string // a phrase that says what the field holds
	required bool
	into     value
}

// An object is a mapping with known keys. They are read in the order of the
// fields, whatever their order in the document.
type object struct {
	fields []field
	rules  []rule
}

func (o object) names() []string {
	var names []string
	for _, f := range o.fields {
		switch f.into.(type) {
		case refused, ignored:
		default:
			names = append(names, f.name)
		}
	}
	return names
}

func (o object) read(r *reader, path string, n *yaml.Node) {
	if !r.of(path, n, yaml.MappingNode, "a mapping of "+strings.Join(o.names(), ", ")) {
		return
	}
	stands := r.keys(path, n)
	for _, f := range o.fields {
		at := child(path, f.name)
		node, ok := stands[f.name]
		delete(stands, f.name)
		switch {
		case ok:
			f.into.read(r, at, node)
		case f.required && !r.failed[child(path, "<<")]:
			r.report(at, "is required: %s", f.doc)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stands)) {
		r.report(child(path, name), "unknown field; %s", meant(name, o.names()))
	}
	for _, rule := range o.rules {
		rule.check(r, path)
	}
}

// keys returns the values of a mapping by key, and reports keys that stand
// twice or are no names.
func (r *reader) keys(path string, n *yaml.Node) map[string]*yaml.Node {
	stands := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, node := n.Content[i], n.Content[i+1]
		at := child(path, key.Value)
		_, twice := stands[key.Value]
		switch {
		case key.Tag == "!!merge":
			r.problem(key.Line, at, "merging is not read here: write the fields out, or name a preset")
		case key.Kind != yaml.ScalarNode:
			r.problem(key.Line, path, "has a key that is %s: keys are plain names", got(key))
		case twice:
			r.problem(key.Line, at, "stands twice, first on line %d: keep one", r.lines[at])
		default:
			r.at(at, key.Line)
			stands[key.Value] = node
		}
	}
	return stands
}

func (o object) schema() schema {
	properties := schema{}
	var required []string
	for _, f := range o.fields {
		if _, ok := f.into.(refused); ok {
			continue
		}
		s := f.into.schema()
		s["description"] = f.doc
		properties[f.name] = s
		if f.required {
			required = append(required, f.name)
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	var all []any
	for _, rule := range o.rules {
		all = append(all, rule.schema())
	}
	if all != nil {
		s["allOf"] = all
	}
	return s
}

// A list is a sequence of objects.
type list struct {
	// add appends one to what the list is bound to, and returns its fields.
	add func() object
}

func (l list) read(r *reader, path string, n *yaml.Node) {
	if !r.of(path, n, yaml.SequenceNode, "a list") {
		return
	}
	for i, item := range n.Content {
		l.add().read(r, index(path, i), item)
	}
}

func (l list) schema() schema { return schema{"type": "array", "items": l.add().schema()} }

func child(path, name string) string {
	switch {
	case strings.ContainsAny(name, ".[] \n"):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// meant guesses which of the known names was meant by one that is not known.
func meant(name string, known []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return "known here: " + strings.Join(known, ", ")
	}
	return "did you mean " + best + "?"
}

// distance is Levenshtein's, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
