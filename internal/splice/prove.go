package splice

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// parse returns the documents of a file.
func parse(data []byte) ([]*yaml.Node, error) {
	var documents []*yaml.Node
	stream := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		switch err := stream.Decode(&document); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, err
		}
		documents = append(documents, &document)
	}
}

// prove parses the result of an edit. It returns an error if the result differs from the
// documents before the edit in other values than the changed ones.
func prove(before []*yaml.Node, edited []byte, changed map[*yaml.Node]string) error {
	after, err := parse(edited)
	if err != nil {
		return fmt.Errorf("it could not be read after the edit: %w", err)
	}
	if len(after) != len(before) {
		return fmt.Errorf("it would contain %d documents instead of %d", len(after), len(before))
	}
	for i := range before {
		if line := differ(before[i], after[i], changed); line != 0 {
			return fmt.Errorf("the edit would change more than marked counts, on line %d", line)
		}
	}
	return nil
}

// differ returns the line of the first wrong value; 0 if there is none. It compares an
// alias by the name of its anchor, so that it need not follow the alias.
func differ(before, after *yaml.Node, changed map[*yaml.Node]string) int {
	value := before.Value
	if digits, ok := changed[before]; ok {
		value = digits
	}
	if after.Value != value || after.Kind != before.Kind || after.Style != before.Style || after.Tag != before.Tag ||
		after.Anchor != before.Anchor || after.Line != before.Line || len(after.Content) != len(before.Content) {
		return max(before.Line, 1)
	}
	for i := range before.Content {
		if line := differ(before.Content[i], after.Content[i], changed); line != 0 {
			return line
		}
	}
	return 0
}
