package term

import (
	"bytes"
	"encoding/json"
	"io"
)

// Version is that of all documents for machines: fields are added to them, never
// renamed or given another meaning.
const Version = "gitlatch.dev/v1alpha1"

// A Document is the head of one for machines.
type Document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// DocumentOf is the head of a kind of document.
func DocumentOf(kind string) Document { return Document{Version, kind} }

// Marshal returns what JSON writes. A document that writes itself uses it, since what is
// escaped once stays so.
func Marshal(document any) ([]byte, error) {
	var text bytes.Buffer
	err := JSON(&text, document)
	return bytes.TrimRight(text.Bytes(), "\n"), err
}

// JSON writes a document as machines and people read it: <, > and & are not escaped.
func JSON(out io.Writer, document any) error {
	lines := json.NewEncoder(out)
	lines.SetIndent("", "  ")
	lines.SetEscapeHTML(false)
	return lines.Encode(document)
}
