package yamldoc

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// syntax notes why data is not valid YAML, at the first invalid line. left is the number
// of bytes that the parser has not read. The parser itself reports the start of the
// enclosing block, which may be the start of the document.
func (r *Reader) syntax(data []byte, left int, err error) {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if strings.HasPrefix(text, "line ") {
		_, text, _ = strings.Cut(text, ": ")
	}
	if above, found := soundPart(data[:len(data)-left]); found {
		line = 1 + bytes.Count(above, newline)
		if bytes.HasPrefix(bytes.TrimLeft(data[len(above):], " "), []byte("\t")) {
			text = "a tab indents this line; use spaces"
		}
	}
	r.problem(line, "", "is not YAML: %s", text)
}

var newline = []byte("\n")

// soundPart returns the longest run of lines from the start of data that is valid YAML.
// It gives up if the search would take too long.
func soundPart(data []byte) (above []byte, found bool) {
	above = data
	for tried := 0; tried < 8*mostBytes; tried += len(above) {
		above = above[:1+bytes.LastIndexByte(bytes.TrimSuffix(above, newline), '\n')]
		if isYAML(above) {
			return above, true
		}
	}
	return nil, false
}

func isYAML(data []byte) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var err error
	for err == nil {
		err = decoder.Decode(new(yaml.Node))
	}
	return errors.Is(err, io.EOF)
}
