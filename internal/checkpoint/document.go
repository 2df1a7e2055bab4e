package checkpoint

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

// A document is one YAML document being read, and all that was found wrong with
// it so far.
type document struct {
	file     string
	problems []error // the first mostKept
	more     int     // how many there are besides
}

// mostKept is how many problems of a document are kept: one of a megabyte can hold
// hundreds of thousands.
const mostKept = 100

// refuse notes what is wrong with a field; "" is the document itself.
func (d *document) refuse(field, format string, args ...any) {
	if len(d.problems) == mostKept {
		d.more++
		return
	}
	where := d.file
	if field != "" {
		where += ": " + field
	}
	d.problems = append(d.problems, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
}

// err is what is wrong with the document, nil where nothing is.
func (d *document) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	return &problems{d.problems, d.more}
}

// problems are what is wrong with a document.
type problems struct {
	kept []error
	more int // not kept
}

// mostTold is how many problems of a document are told: who edits a hundred lines
// at once makes the same mistake in each.
const mostTold = 5

// Error returns a line a problem: the first ones, and how many more there are.
func (p *problems) Error() string {
	told := slices.Clone(p.kept[:min(len(p.kept), mostTold)])
	if more := len(p.kept) - len(told) + p.more; more > 0 {
		told = append(told, fmt.Errorf("and %d more", more))
	}
	return errors.Join(told...).Error()
}

// Unwrap returns those that were kept.
func (p *problems) Unwrap() []error { return p.kept }

// mostBytes is how much of a document is parsed: what Kubernetes takes of a
// ConfigMap. YAML needs up to a hundred times its bytes in memory.
const mostBytes = 1 << 20

// root returns the value of the only document in data; nil, with the problem
// noted, where there is none or more than one.
func (d *document) root(data []byte) *yaml.Node {
	if len(data) > mostBytes {
		d.refuse("", "has %d bytes, and at most %d are read: remove what is not of gitlatch", len(data), mostBytes)
		return nil
	}
	var doc yaml.Node
	stream := yaml.NewDecoder(bytes.NewReader(data))
	switch err := stream.Decode(&doc); {
	case errors.Is(err, io.EOF):
		d.refuse("", "is empty")
		return nil
	case err != nil:
		d.refuse("", "is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return nil
	}
	if err := stream.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		d.refuse("", "must hold one document, and another follows")
		return nil
	}
	return doc.Content[0]
}

// fields are the fields of one mapping.
type fields struct {
	doc   *document
	path  func(key string) string
	keys  []string // in the order of the file, each once
	value map[string]*yaml.Node
	read  map[string]bool
}

// fields returns the fields of a mapping at path; none where n is nil or no
// mapping, and notes that. Null is a mapping without fields.
func (d *document) fields(path string, n *yaml.Node) *fields {
	f := &fields{doc: d, value: map[string]*yaml.Node{}, read: map[string]bool{}}
	f.path = func(key string) string {
		switch path {
		case "":
			return key
		case "data", "evidence":
			return fmt.Sprintf("%s[%q]", path, key)
		}
		return path + "." + key
	}
	switch {
	case n == nil || n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return f
	case n.Kind != yaml.MappingNode:
		d.refuse(path, "must be a mapping, got %s", describe(n))
		return f
	}
	line := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.refuse(path, "line %d: key must be text, got %s", k.Line, describe(k))
			continue
		}
		if first, twice := line[k.Value]; twice {
			f.refuse(k.Value, "is there twice, in lines %d and %d: keep one", first, k.Line)
			continue
		}
		line[k.Value] = k.Line
		f.keys = append(f.keys, k.Value)
		f.value[k.Value] = v
	}
	return f
}

func (f *fields) has(key string) bool { return f.value[key] != nil }

func (f *fields) refuse(key, format string, args ...any) {
	f.doc.refuse(f.path(key), format, args...)
}

// get returns the value at a key, and counts it as read.
func (f *fields) get(key string) *yaml.Node {
	f.read[key] = true
	return f.value[key]
}

// refuseRest refuses the fields that nothing read.
func (f *fields) refuseRest() {
	for _, key := range f.keys {
		if !f.read[key] {
			f.refuse(key, "unknown field: remove it")
		}
	}
}

// text returns the text at a key, "" where there is none, and notes that.
func (f *fields) text(key string) string {
	n := f.get(key)
	switch {
	case n == nil:
		f.refuse(key, "is missing")
	case n.Kind != yaml.ScalarNode:
		f.refuse(key, "must be text, got %s", describe(n))
	case n.Tag != "!!str":
		f.refuse(key, "must be text, got %s: put it in quotes", n.Value)
	default:
		return n.Value
	}
	return ""
}

// equal notes where the text at a key is not the one that it must be.
func (f *fields) equal(key, want string) {
	if n := f.get(key); n == nil {
		f.refuse(key, "is missing, must be %s", want)
	} else if n.Kind != yaml.ScalarNode || n.Value != want {
		f.refuse(key, "must be %s, got %s", want, describe(n))
	}
}

var decimal = regexp.MustCompile(`^[1-9][0-9]*$`)

// whole returns the positive number at a key, 0 where there is none, and notes
// that. A number in quotes is what a ConfigMap holds; one without is what a
// person writes.
func (f *fields) whole(key string) int32 {
	n := f.get(key)
	if n == nil {
		f.refuse(key, "is missing, must be a whole number of at least 1")
		return 0
	}
	if n.Kind == yaml.ScalarNode && (n.Tag == "!!str" || n.Tag == "!!int") && decimal.MatchString(n.Value) {
		v, err := strconv.ParseInt(n.Value, 10, 32)
		if err == nil {
			return int32(v)
		}
		f.refuse(key, "must be a number of pods, got %s, which is too large", n.Value)
		return 0
	}
	f.refuse(key, "must be a whole number of at least 1, got %s", describe(n))
	return 0
}

// describe says what a value is, for a message.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "the alias *" + n.Value
	}
	if n.Tag == "!!null" {
		return "nothing"
	}
	return strconv.Quote(n.Value)
}
