package strict

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/each"
)

// A Value is what a field holds: a Scalar, an Object, a List or a Map.
type Value interface {
	// read sets what the value is bound to from a node, or reports why it cannot.
	read(r *Reader, path string, n *yaml.Node)
}

// A Field is one key of an object.
type Field struct {
	Name     string
	Doc      string // a phrase that says what the field holds
	Required bool
	Value    Value
}

// Required is a field that must stand.
func Required(name, doc string, v Value) Field { return Field{name, doc, true, v} }

// Optional is a field that may be left out.
func Optional(name, doc string, v Value) Field { return Field{name, doc, false, v} }

// An Object is a mapping with known keys. They are read in the order of the
// fields, whatever their order in the document.
type Object struct {
	Fields []Field
	Rules  []Rule
}

// Fields returns an object of fields.
func Fields(fields ...Field) Object { return Object{Fields: fields} }

// With returns the object with rules.
func (o Object) With(rules ...Rule) Object {
	o.Rules = append(slices.Clip(o.Rules), rules...)
	return o
}

func (o Object) names() []string {
	return each.Of(o.Fields, func(f Field) string { return f.Name })
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
	Must  string       // what it is, as a phrase after "must be"; "" is a list
	Item  func() Value // returns what the next item is bound to
	Holds string       // what the variable holds, as a document has it; "" is nothing
	None  string       // what to do where there is no item; "" takes an empty list
	Or    Scalar       // what may stand in place of a list, where it sets anything
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

// A Map is a mapping whose keys are not known before. They are read in their
// order.
type Map struct {
	Must string // what it is, as a phrase after "must be"
	// Entry returns what the value of a key is bound to, or what is wrong with the
	// key.
	Entry func(key string) (Value, error)
	Empty bool // it may hold nothing
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
