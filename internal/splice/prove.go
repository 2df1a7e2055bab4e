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

// prove parses what an edit made of some documents, and says where it holds
// other values than they do with the changed counts in place.
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

// differ returns the line of the first value that is another than it should be,
// 0 where all is well. An alias stands for what its anchor's name says, so that
// the two need no following.
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
