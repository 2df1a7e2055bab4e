package strict

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Schema is a piece of a JSON schema, which says to an editor what the reader
// says, as far as a schema can.
type Schema = map[string]any

// A Form is what a single value may be.
type Form struct {
	Must    string   // what it is, as a phrase after "must be"
	Tags    []string // what YAML may take it for, such as !!int; nil is anything but nothing
	Pattern Pattern  // nil is any
	Most    int      // how many bytes it may have; 0 is any number
	Hidden  bool     // it could be a secret by mistake, and no message shows it
	Schema  Schema   // the same for an editor
}

// A Pattern is a regular expression that is compiled when it is first asked for. A
// table has a form for each field, and most documents have few of them: compiling all
// took nine tenths of reading one.
type Pattern func() *regexp.Regexp

// Like returns the pattern of a regular expression, which must be one.
func Like(text string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Text returns the form of a text with a pattern; "" is any but the empty one.
func Text(pattern, must string) Form {
	f := Form{Must: must, Tags: []string{"!!str"}, Pattern: Like("(?s).")}
	f.Schema = Schema{"type": "string", "minLength": 1}
	if pattern != "" {
		f.Pattern, f.Schema["pattern"] = Like(pattern), pattern
	}
	return f
}

// Label is the form of a DNS label, which names a site.
var Label = Text(workload.LabelShape, workload.MustLabel)

// Bare returns the form without need of quotes: 5 and true are texts, too.
func (f Form) Bare() Form {
	f.Tags = nil
	return f
}

// Hide returns the form of what could be a secret by mistake: no message shows it.
func (f Form) Hide() Form {
	f.Hidden = true
	return f.Bare()
}

// AtMost returns the form of a text of no more bytes. As a count in its pattern, such
// as {1,255}, the same would take the better part of a millisecond to compile.
func (f Form) AtMost(bytes int) Form {
	f.Most, f.Schema = bytes, maps.Clone(f.Schema)
	f.Schema["maxLength"] = bytes
	return f
}

// Word returns the form of one of a few words.
func Word[S ~string](of ...S) Form {
	words := each.Of(of, func(word S) string { return string(word) })
	return Form{Must: "one of " + strings.Join(words, ", "), Tags: []string{"!!str"}, Schema: Schema{"enum": words},
		Pattern: Like("^(" + strings.Join(each.Of(words, regexp.QuoteMeta), "|") + ")$")}
}

// Words returns the words that the form is one of; nil where it is none of few.
func (f Form) Words() []string {
	words, _ := f.Schema["enum"].([]string)
	return words
}

// ErrForm is what Take returns of a text that is not of the form, where the
// pattern cannot tell.
var ErrForm = errors.New("is of another form")

// A Scalar is a single value, bound to a variable.
type Scalar struct {
	Form
	Holds string                  // what the variable holds, as a document has it; "" is nothing
	Take  func(text string) error // sets the variable, or says what is wrong; nil sets none
	// Path is the variable of a path on this machine, which is relative to the folder
	// of the document; nil where the text is none. A colon before the first slash makes
	// it an address of elsewhere, which stays as it is.
	Path *string
}

// Into binds a text or a word to a variable. The checks say what is wrong with
// it beyond the form.
func Into[S ~string](into *S, form Form, checks ...func(string) error) Scalar {
	s := Taken(form, func(text string) { *into = S(text) }, checks...)
	s.Holds = string(*into)
	return s
}

// Taken hands a text or a word to a function, once the checks find nothing wrong.
func Taken(form Form, take func(string), checks ...func(string) error) Scalar {
	return Scalar{Form: form, Take: func(text string) error {
		for _, check := range checks {
			if err := check(text); err != nil {
				return err
			}
		}
		take(text)
		return nil
	}}
}

// Parsed binds what a function makes of the text to a variable, which holds what
// is given as text; "" is nothing.
func Parsed[T any](into *T, form Form, holds string, parse func(string) (T, error)) Scalar {
	return Scalar{Form: form, Holds: holds, Take: func(text string) error {
		read, err := parse(text)
		if err == nil {
			*into = read
		}
		return err
	}}
}

// Exactly is a text that can be only one thing.
func Exactly(text string) Scalar {
	return Scalar{Form: Form{Must: text, Pattern: Word(text).Pattern, Schema: Schema{"const": text}}}
}

// Fits reports whether a text is of the form.
func (f Form) Fits(text string) bool {
	return (f.Most == 0 || len(text) <= f.Most) && (f.Pattern == nil || f.Pattern().MatchString(text))
}

// beside is a path from the folder of the document.
func (r *Reader) beside(path string) string {
	first, _, _ := strings.Cut(path, "/")
	if path == "" || filepath.IsAbs(path) || strings.Contains(first, ":") {
		return path
	}
	return filepath.Join(filepath.Dir(r.file), path)
}

func (s Scalar) read(r *Reader, path string, n *yaml.Node) {
	if s.Hidden && n.Kind != yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Line: n.Line}
	}
	if !r.of(path, n, yaml.ScalarNode, s.Must) {
		return
	}
	fits, err := s.Fits(n.Value), error(nil)
	tagged := s.Tags == nil || slices.Contains(s.Tags, n.ShortTag())
	if fits && tagged && s.Take != nil {
		if err = s.Take(n.Value); err == nil && s.Path != nil {
			*s.Path = r.beside(*s.Path)
		}
	}
	switch {
	case fits && tagged && err == nil:
	case s.Hidden:
		r.Report(path, "must be %s", s.Must)
	case err != nil && !errors.Is(err, ErrForm):
		r.Report(path, "%s", err)
	case fits && !tagged && s.Pattern != nil && slices.Contains(s.Tags, "!!str"):
		r.Report(path, "must be %s, got %s. For the text %q, use quotes", s.Must, n.Value, n.Value)
	default:
		r.Report(path, "must be %s, got %s", s.Must, got(n))
	}
}
