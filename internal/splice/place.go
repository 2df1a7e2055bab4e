package splice

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// bom is a byte order mark, which may start a file.
var bom = []byte("\ufeff")

// places converts lines and columns to offsets in bytes. Columns are in characters, and a
// byte order mark at the start of the file is not a column.
type places struct {
	data         []byte
	starts       []int // of the lines
	line, column int   // the previous result: nodes come in order, and lines can be long
	at           int
}

func newPlaces(data []byte) places {
	p := places{data: data, starts: []int{len(data) - len(bytes.TrimPrefix(data, bom))}}
	for i, c := range data {
		if c == '\n' {
			p.starts = append(p.starts, i+1)
		}
	}
	return p
}

func (p *places) of(n *yaml.Node) int {
	if n.Line != p.line || n.Column < p.column {
		p.line = n.Line
		p.column = 1
		p.at = p.starts[n.Line-1]
	}
	for ; p.column < n.Column && p.at < len(p.data); p.column++ {
		_, size := utf8.DecodeRune(p.data[p.at:])
		p.at += size
	}
	return p.at
}

// bare returns the start of a scalar after its anchor and its tag.
func bare(data []byte, at int) int {
	for at < len(data) {
		switch {
		case data[at] == '&' || data[at] == '!':
			at = skip(data, at, " \t\r\n")
		case data[at] == '#':
			at = skip(data, at, "\n")
		case strings.IndexByte(" \t\r\n", data[at]) >= 0:
			at++
		default:
			return at
		}
	}
	return at
}

// skip returns the offset of the first of some characters, or the end of the data.
func skip(data []byte, at int, to string) int {
	if n := bytes.IndexAny(data[at:], to); n >= 0 {
		return at + n
	}
	return len(data)
}

// closing returns the end of a quoted text that starts at an offset.
func closing(data []byte, at int) int {
	if at == len(data) {
		return at
	}
	quote := data[at]
	for at++; at < len(data); at++ {
		switch {
		case data[at] == '\\' && quote == '"':
			at++
		case data[at] != quote:
		case quote == '\'' && at+1 < len(data) && data[at+1] == quote:
			at++
		default:
			return at + 1
		}
	}
	return len(data)
}
