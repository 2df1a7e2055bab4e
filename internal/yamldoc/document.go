package yamldoc

import (
	"bytes"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"
)

// A Document describes a kind of document: its apiVersion, its kind and its fields.
type Document struct {
	APIVersion, Kind string
	Object

	// Others describes other kinds of documents that users may confuse with this one, by
	// kind.
	Others map[string]string
}

// Whole returns the fields of the document, including apiVersion and kind.
func (d Document) Whole() Object {
	d.Fields = append([]Field{
		Required("apiVersion", d.APIVersion+", the version of this format", Exactly(d.APIVersion)),
		Required("kind", d.Kind+", the kind of this document", Exactly(d.Kind)),
	}, d.Fields...)
	return d.Object
}

// Read parses the document in data into the variables of its fields, and notes its
// problems.
func (r *Reader) Read(data []byte, d Document) {
	root, ok := r.only(data, d)
	if !ok {
		return
	}
	if stated := valueOf(root, "kind"); stated != nil && stated.Value != d.Kind && d.Others[stated.Value] != "" {
		r.problem(stated.Line, "kind", "must be %s, got %s: this file is %s", d.Kind, stated.Value, d.Others[stated.Value])
		return
	}
	d.Whole().read(r, "", root)
}

// mostBytes is the maximum size of a document in bytes: the limit of Kubernetes for a
// ConfigMap. Parsing YAML needs memory of up to 100 times the size.
const mostBytes = 1 << 20

// only returns the root of the document in data, and reports a second document.
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

// valueOf returns the value of a key in a document; nil if it does not have the key.
func valueOf(root *yaml.Node, key string) *yaml.Node {
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			return root.Content[i+1]
		}
	}
	return nil
}

// Kind returns the kind of the document in data. If it is not one of kinds, Kind notes
// the problem and returns "".
func (r *Reader) Kind(data []byte, apiVersion string, kinds ...string) string {
	var kind string
	stated := Into(&kind, Word(kinds...))
	root, ok := r.only(data, Document{APIVersion: apiVersion, Kind: stated.Must})
	if !ok || !r.of("", root, yaml.MappingNode, "a mapping") {
		return ""
	}
	node := valueOf(root, "kind")
	if node == nil {
		r.Report("kind", "is required: %s", stated.Must)
		return ""
	}
	stated.read(r, "kind", node)
	version := valueOf(root, "apiVersion")
	if kind == "" && version != nil {
		Exactly(apiVersion).read(r, "apiVersion", version)
	}
	return kind
}
