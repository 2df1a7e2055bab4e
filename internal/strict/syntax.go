package strict

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// syntax notes why data is no YAML, at the first line with which it stops being so.
// The parser, which had some bytes left to read, names where the block begins that it
// was in: that may be the whole document.
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

// soundPart returns the most lines, from the first, that are YAML by themselves, of
// data that is not. It gives up where trying would take long.
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
