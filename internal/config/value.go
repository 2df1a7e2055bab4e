package config

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A text is a string. What it must be is a pattern, which an editor can check,
// and a function for what a pattern cannot say.
type text struct {
	into    *string
	pattern string              // "" is any but the empty string
	must    string              // what the pattern asks for, as a phrase after "must be"
	check   func(string) string // returns what is wrong, "" for nothing; may be nil
}

func (t text) read(r *reader, path string, n *yaml.Node) {
	want := cmp.Or(t.must, "text")
	if !r.of(path, n, yaml.ScalarNode, want) {
		return
	}
	fits := n.Value != "" && regexp.MustCompile(t.pattern).MatchString(n.Value)
	switch isText := n.ShortTag() == "!!str"; {
	case fits && !isText:
		r.report(path, "must be %s, got %s: quote it if %q is meant", want, n.Value, n.Value)
		return
	case !fits:
		r.report(path, "must be %s, got %s", want, got(n))
		return
	}
	if t.check != nil {
		if wrong := t.check(n.Value); wrong != "" {
			r.report(path, "%s", wrong)
			return
		}
	}
	*t.into = n.Value
}

func (t text) schema() schema {
	s := schema{"type": "string", "minLength": 1}
	if t.pattern != "" {
		s["pattern"] = t.pattern
	}
	if *t.into != "" {
		s["default"] = *t.into
	}
	return s
}

// A file is the path of a file on the machine that gitlatch runs on. Relative
// is to the working directory; ~/ is the user's home.
type file struct{ into *string }

func (f file) read(r *reader, path string, n *yaml.Node) {
	written := ""
	text{into: &written, must: "the path of a file"}.read(r, path, n)
	if !strings.HasPrefix(written, "~") {
		*f.into = cmp.Or(written, *f.into)
		return
	}
	home, err := os.UserHomeDir()
	if err != nil || !strings.HasPrefix(written, "~/") {
		r.report(path, "must be a path without ~ here, got %s: write it out", quote(written))
		return
	}
	*f.into = filepath.Join(home, written[2:])
}

func (f file) schema() schema { return schema{"type": "string", "minLength": 1} }

// A variable is the name of an environment variable. Upper case only, so that
// few secrets written in its place could pass; and no message shows the value.
type variable struct{ into *string }

const variableShape = `^[A-Z_][A-Z0-9_]*$`

func (v variable) read(r *reader, path string, n *yaml.Node) {
	if n.Kind != yaml.ScalarNode || !regexp.MustCompile(variableShape).MatchString(n.Value) {
		r.report(path, "must be the name of an environment variable, in upper case; the secret itself never stands in this file")
		return
	}
	*v.into = n.Value
}

func (v variable) schema() schema { return schema{"type": "string", "pattern": variableShape} }

// A constant is a text that can be only one thing.
type constant string

func (c constant) read(r *reader, path string, n *yaml.Node) {
	if r.of(path, n, yaml.ScalarNode, string(c)) && n.Value != string(c) {
		r.report(path, "must be %s, got %s", string(c), got(n))
	}
}

func (c constant) schema() schema { return schema{"const": string(c)} }

// A word is one of a few.
type word[S ~string] struct {
	into *S
	of   []S
}

func (w word[S]) read(r *reader, path string, n *yaml.Node) {
	want := "one of " + strings.Join(words(w.of), ", ")
	switch {
	case !r.scalar(path, n, want, "!!str"):
	case !slices.Contains(w.of, S(n.Value)):
		r.report(path, "must be %s, got %s", want, got(n))
	default:
		*w.into = S(n.Value)
	}
}

func (w word[S]) schema() schema {
	s := schema{"enum": words(w.of)}
	if *w.into != "" {
		s["default"] = string(*w.into)
	}
	return s
}

func words[S ~string](of []S) []string {
	all := make([]string, len(of))
	for i, w := range of {
		all[i] = string(w)
	}
	return all
}

// A truth is true or false.
type truth struct{ into *bool }

func (t truth) read(r *reader, path string, n *yaml.Node) {
	if r.scalar(path, n, "true or false", "!!bool") {
		*t.into = strings.EqualFold(n.Value, "true")
	}
}

func (t truth) schema() schema { return schema{"type": "boolean", "default": *t.into} }

// A refused field is one that people would look for and that must not be there. The
// text says why, and what to write instead; the value is not shown.
type refused string

func (f refused) read(r *reader, path string, _ *yaml.Node) { r.report(path, "%s", string(f)) }

func (f refused) schema() schema { return schema{} }

// An ignored field is one of earlier versions, which says nothing any more. The text
// says what to do. Its value is not read, and no site stops over it.
type ignored string

func (f ignored) read(r *reader, path string, n *yaml.Node) {
	r.ignored = append(r.ignored, Problem{r.file, n.Line, path, "is ignored: " + string(f)}.Error())
}

func (f ignored) schema() schema { return schema{"deprecated": true} }

// A presence is set where its field stands, with the object that it holds.
type presence struct {
	object
	into *bool
}

func (p presence) read(r *reader, path string, n *yaml.Node) {
	*p.into = true
	p.object.read(r, path, n)
}

// Texts is a list of texts that each match a pattern.
type texts[S ~string] struct {
	into *[]S
	one  func(*string) value
	none string // what to do where there is nothing to list; "" is to leave the field out, for all
}

func (t texts[S]) read(r *reader, path string, n *yaml.Node) {
	if !r.of(path, n, yaml.SequenceNode, "a list such as [a, b]") {
		return
	}
	if len(n.Content) == 0 {
		r.report(path, "must not be an empty list: %s", cmp.Or(t.none, "leave the field out for all"))
	}
	for i, item := range n.Content {
		read := ""
		t.one(&read).read(r, index(path, i), item)
		if read != "" {
			*t.into = append(*t.into, S(read))
		}
	}
}

func (t texts[S]) schema() schema {
	return schema{"type": "array", "minItems": 1, "items": t.one(new(string)).schema()}
}

// Pairs is a mapping from texts to texts.
type pairs struct {
	into *map[string]string
	one  func(*string) value
}

func (p pairs) read(r *reader, path string, n *yaml.Node) {
	if !r.of(path, n, yaml.MappingNode, "a mapping such as {app: web}") {
		return
	}
	if len(n.Content) == 0 {
		r.report(path, "must not be empty: leave the field out for all")
	}
	stands := r.keys(path, n)
	for _, key := range slices.Sorted(maps.Keys(stands)) {
		read := ""
		p.one(&read).read(r, child(path, key), stands[key])
		if *p.into == nil {
			*p.into = map[string]string{}
		}
		(*p.into)[key] = read
	}
}

func (p pairs) schema() schema {
	return schema{"type": "object", "minProperties": 1, "additionalProperties": p.one(new(string)).schema()}
}
