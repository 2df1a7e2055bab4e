package term

import (
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

// JSON writes a document as machines and people read it.
func JSON(out io.Writer, document any) error {
	lines := json.NewEncoder(out)
	lines.SetIndent("", "  ")
	lines.SetEscapeHTML(false)
	return lines.Encode(document)
}
