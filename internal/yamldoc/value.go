package yamldoc

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Value is the value of a field: a Scalar, an Object, a List or a Map.
type Value interface {
	// read sets the variable of the value from a node, or reports a problem.
	read(r *Reader, path string, n *yaml.Node)
}

// A Field is one key of an object.
type Field struct {
	Name     string
	Doc      string // description of the value, as a phrase
	Required bool
	Value    Value
}

// Required returns a field that the document must have.
func Required(name, doc string, v Value) Field { return Field{name, doc, true, v} }

// Optional returns a field that the document may omit.
func Optional(name, doc string, v Value) Field { return Field{name, doc, false, v} }

// An Object is a mapping with known keys. The reader reads the values in the order of
// Fields, not in the order of the document.
type Object struct {
	Fields []Field
	Rules  []Rule
}

// Fields returns an object with fields.
func Fields(fields ...Field) Object { return Object{Fields: fields} }

// With returns the object with further rules.
func (o Object) With(rules ...Rule) Object {
	o.Rules = append(slices.Clip(o.Rules), rules...)
	return o
}

func (o Object) names() []string {
	return lists.Map(o.Fields, func(f Field) string { return f.Name })
}

func (o Object) read(r *Reader, path string, n *yaml.Node) {
	if !r.of(path, n, yaml.MappingNode, "a mapping of "+strings.Join(o.names(), ", ")) {
		return
	}
	stands, order := r.keys(path, n)
	for _, f := range o.Fields {
		at := Child(path, f.Name)
		node, ok := stands[f.Name]
		delete(stands, f.Name)
		switch {
		case ok:
			f.Value.read(r, at, node)
		case f.Required && !r.failed[Child(path, "<<")]:
			r.Report(at, "is required: %s", f.Doc)
		}
	}
	for _, name := range order {
		if stands[name] != nil {
			r.Report(Child(path, name), "unknown field; %s", meant(name, o.names()))
		}
	}
	check(o.Rules, r, path)
}

// A List is a sequence.
type List struct {
	Must  string       // description, as a phrase after "must be"
	Item  func() Value // returns the value of the next item
	Holds string       // text of the variable's value, as in a document; may be ""
	None  string       // advice for an empty list; "" accepts an empty list
	Or    Scalar       // accepted instead of a list, if its Take is not nil
	Rules []Rule
}

func (l List) read(r *Reader, path string, n *yaml.Node) {
	if l.Or.Take != nil && n.Kind != yaml.SequenceNode {
		l.Or.read(r, path, n)
		return
	}
	if !r.of(path, n, yaml.SequenceNode, l.Must) {
		return
	}
	if len(n.Content) == 0 && l.None != "" {
		r.Report(path, "must not be an empty list: %s", l.None)
	}
	for i, item := range n.Content {
		l.Item().read(r, Index(path, i), item)
	}
	check(l.Rules, r, path)
}

// A Map is a mapping with arbitrary keys. The reader reads the values in the order of the
// document.
type Map struct {
	Must string // description, as a phrase after "must be"
	// Entry returns the value for a key, or the problem of the key.
	Entry func(key string) (Value, error)
	Empty bool // accepts an empty mapping and null
	Rules []Rule
}

func (m Map) read(r *Reader, path string, n *yaml.Node) {
	if m.Empty && n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	if !r.of(path, n, yaml.MappingNode, m.Must) {
		return
	}
	if len(n.Content) == 0 && !m.Empty {
		r.Report(path, "must not be empty. For all, remove the field")
	}
	stands, order := r.keys(path, n)
	for _, key := range order {
		value, err := m.Entry(key)
		if err != nil {
			r.Report(Child(path, key), "%s", err)
			continue
		}
		value.read(r, Child(path, key), stands[key])
	}
	check(m.Rules, r, path)
}
