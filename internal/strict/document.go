package strict

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

// A Document is a whole document: what it must say that it is, and its fields.
type Document struct {
	APIVersion, Kind string
	Object

	// Others says, of other kinds that people may take for this one, what their
	// documents are.
	Others map[string]string
}

// Whole returns the document as an object, with its version and its kind.
func (d Document) Whole() Object {
	d.Fields = append([]Field{
		Required("apiVersion", d.APIVersion+", the version of this format", Exactly(d.APIVersion)),
		Required("kind", d.Kind+", the kind of this document", Exactly(d.Kind)),
	}, d.Fields...)
	return d.Object
}

// Read reads the document in data into what its fields are bound to. What is wrong
// with it is noted.
func (r *Reader) Read(data []byte, d Document) {
	root, ok := r.only(data, d)
	if !ok {
		return
	}
	if stated := kindNode(root); stated != nil && stated.Value != d.Kind && d.Others[stated.Value] != "" {
		r.problem(root.Line, "kind", "must be %s, got %s: this file is %s", d.Kind, stated.Value, d.Others[stated.Value])
		return
	}
	d.Whole().read(r, "", root)
}

// mostBytes is how much of a document is parsed: what Kubernetes takes of a
// ConfigMap. YAML needs up to a hundred times its bytes in memory.
const mostBytes = 1 << 20

// only returns the root of the only document in data.
func (r *Reader) only(data []byte, d Document) (*yaml.Node, bool) {
	if len(data) > mostBytes {
		r.problem(0, "", "has %d bytes, and the maximum is %d", len(data), mostBytes)
		return nil, false
	}
	rest := bytes.NewReader(data)
	decoder := yaml.NewDecoder(rest)
	var doc, next yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF), err == nil && doc.Content[0].ShortTag() == "!!null":
		r.problem(0, "", "is empty. Start it with apiVersion: %s and kind: %s", d.APIVersion, d.Kind)
		return nil, false
	case err != nil:
		r.syntax(data, rest.Len(), err)
		return nil, false
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		r.problem(next.Line, "", "must contain one document, and another one starts here. Move it to a separate file")
	case !errors.Is(err, io.EOF):
		r.syntax(data, rest.Len(), err)
	}
	return doc.Content[0], true
}

// kindNode returns the value of kind in a document; nil if there is none.
func kindNode(root *yaml.Node) *yaml.Node {
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "kind" {
			return root.Content[i+1]
		}
	}
	return nil
}

// Kind returns the kind that the document in data states. It returns "", and notes
// what is wrong, if the document states none of the kinds.
func (r *Reader) Kind(data []byte, apiVersion string, kinds ...string) string {
	var kind string
	stated := Into(&kind, Word(kinds...))
	root, ok := r.only(data, Document{APIVersion: apiVersion, Kind: stated.Must})
	if !ok || !r.of("", root, yaml.MappingNode, "a mapping") {
		return ""
	}
	node := kindNode(root)
	if node == nil {
		r.Report("kind", "is required: %s", stated.Must)
		return ""
	}
	stated.read(r, "kind", node)
	return kind
}
