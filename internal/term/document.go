package term

import (
	"bytes"
	"encoding/json"
	"io"
)

// Version is the API version of all documents. Later versions add fields, and never
// rename a field or change its meaning.
const Version = "gitlatch.dev/v1alpha1"

// A Document is the header of a JSON document.
type Document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// DocumentOf returns the header of a kind of document.
func DocumentOf(kind string) Document { return Document{Version, kind} }

// Marshal returns the same JSON as JSON. A MarshalJSON method uses it, because escaped
// text would stay escaped.
func Marshal(document any) ([]byte, error) {
	var text bytes.Buffer
	err := JSON(&text, document)
	return bytes.TrimRight(text.Bytes(), "\n"), err
}

// JSON writes a document for programs and users. It does not escape <, > and &.
func JSON(out io.Writer, document any) error {
	lines := json.NewEncoder(out)
	lines.SetIndent("", "  ")
	lines.SetEscapeHTML(false)
	return lines.Encode(document)
}
