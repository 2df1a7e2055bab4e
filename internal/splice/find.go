package splice

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/internal/workload"
	"go.yaml.in/yaml/v3"
)

// found are the markers of a file.
type found struct {
	documents []*yaml.Node
	counts    []count // by line
	problems  []Problem
}

func find(file string, data []byte) found {
	var f found
	refuse := func(line int, id workload.ID, err error) {
		f.problems = append(f.problems, Problem{File: file, Line: line, ID: id, Text: err.Error()})
	}
	at := signs(data)
	if len(at) == 0 && len(signs(bytes.ReplaceAll(data, []byte{0}, nil))) == 0 { // UTF-16 has zeros between the characters of a sign
		return f
	}
	if line, err := sound(file, data); err != nil {
		refuse(line, workload.ID{}, err)
		return f
	}
	documents, err := parse(data)
	if err != nil {
		line, err := unread(data, err)
		refuse(line, workload.ID{}, err)
		return f
	}
	f.documents = documents
	at, err = comments(data, at, documents)
	if err != nil {
		refuse(0, workload.ID{}, err)
		return f
	}
	rows := marked(data, at)
	look(data, documents, rows)
	for _, r := range rows {
		c, id, err := r.judge()
		switch {
		case err != nil:
			refuse(r.line, id, err)
		case c != nil:
			f.counts = append(f.counts, *c)
		}
	}
	return f
}

// odd matches characters that are line breaks for parsers of YAML 1.1 or of YAML 1.2
// alone, so that parsers disagree about comments. It also matches the characters that
// YAML forbids.
var odd = regexp.MustCompile("\r[^\n]|[\u2028\u2029\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\u009f]")

// sound returns an error and its line if the comments of a file are ambiguous.
func sound(file string, data []byte) (int, error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(data, bom))
	structured := bytes.HasPrefix(text, []byte("{")) || bytes.HasPrefix(text, []byte("["))
	if strings.HasSuffix(strings.ToLower(file), ".json") || structured && json.Valid(text) {
		return 1, errors.New("is JSON, which has no comments for markers. Write it as YAML")
	}
	for at := 0; at < len(data); {
		r, size := utf8.DecodeRune(data[at:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return lineAt(data, at), errors.New("is not UTF-8. Save it as UTF-8")
		}
		at += size
	}
	if at := odd.FindIndex(data); at != nil {
		r, _ := utf8.DecodeRune(data[at[0]:])
		return lineAt(data, at[0]), fmt.Errorf("contains %U, which YAML parsers read in different ways. Remove it", r)
	}
	return 0, nil
}

var atLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?`)

// unread returns an error for a file that could not be parsed, and its line.
func unread(data []byte, err error) (int, error) {
	where := atLine.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(where[1])
	why := strings.TrimPrefix(err.Error(), where[0])
	hint := "{{"
	if alias, ok := strings.CutPrefix(why, "unknown anchor '"); ok {
		alias, _, _ = strings.Cut(alias, "'")
		hint = "*" + alias
	}
	at := bytes.Index(data, []byte(hint))
	if line == 0 { // the parser reports no line for the first line
		line = lineAt(data, max(at, 0))
	}
	if hint == "{{" && at >= 0 {
		why += ": this is a template. Take the count from its values, and put the marker there"
	}
	return line, fmt.Errorf("cannot be read as YAML: %s", why)
}

// lineAt returns the line of an offset, from 1.
func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }
