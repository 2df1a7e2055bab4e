package yamldoc

import (
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Schema is a part of a JSON schema. It gives an editor the checks of the reader, as
// far as a schema can express them.
type Schema = map[string]any

// A Form describes the valid texts of a single value.
type Form struct {
	Must    string   // description, as a phrase after "must be"
	Tags    []string // accepted YAML tags, such as !!int; nil accepts any tag except null
	Pattern Pattern  // nil accepts any text
	Most    int      // maximum number of bytes; 0 is unlimited
	Hidden  bool     // the value could be a secret by mistake, so messages do not show it
	Schema  Schema   // the same for an editor
}

// A Pattern is a regular expression that is compiled when it is first used. A table has a
// form for each field, and most documents have few of the fields. Compiling all patterns
// took 90 % of the time to read a document.
type Pattern func() *regexp.Regexp

// Like returns the Pattern of a regular expression. It panics on first use if text is
// invalid.
func Like(text string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Text returns the form of a text with a pattern. "" accepts any text that is not empty.
func Text(pattern, must string) Form {
	f := Form{Must: must, Tags: []string{"!!str"}, Pattern: Like("(?s).")}
	f.Schema = Schema{"type": "string", "minLength": 1}
	if pattern != "" {
		f.Pattern, f.Schema["pattern"] = Like(pattern), pattern
	}
	return f
}

// Label is the form of a DNS label, such as the name of a site.
var Label = Text(workload.LabelShape, workload.MustLabel)

// Bare returns the form that also accepts values such as 5 and true, without quotes, as
// texts.
func (f Form) Bare() Form {
	f.Tags = nil
	return f
}

// Hide returns the form of a value that could be a secret by mistake. Messages do not
// show it.
func (f Form) Hide() Form {
	f.Hidden = true
	return f.Bare()
}

// AtMost returns the form with a maximum number of bytes. A repetition in the pattern,
// such as {1,255}, would take almost a millisecond to compile.
func (f Form) AtMost(bytes int) Form {
	f.Most, f.Schema = bytes, maps.Clone(f.Schema)
	f.Schema["maxLength"] = bytes
	return f
}

// Word returns the form of one of a few words.
func Word[S ~string](of ...S) Form {
	words := lists.Map(of, func(word S) string { return string(word) })
	return Form{Must: "one of " + strings.Join(words, ", "), Tags: []string{"!!str"}, Schema: Schema{"enum": words},
		Pattern: Like("^(" + strings.Join(lists.Map(words, regexp.QuoteMeta), "|") + ")$")}
}

// ErrForm is an error of Take. It means that the text does not have the form, although
// the pattern accepts it.
var ErrForm = errors.New("is of another form")

// A Scalar is a single value, bound to a variable.
type Scalar struct {
	Form
	Holds string                  // text of the variable's value, as in a document; may be ""
	Take  func(text string) error // sets the variable, or returns a problem; nil sets nothing
	// Path is the variable, if it is a path on this machine. The reader makes it relative
	// to the folder of the document. A path with a colon before the first slash is a
	// remote address, and stays unchanged. Path is nil if the value is not a path.
	Path *string
}

// Into binds a text or a word to a variable. The checks return further problems of the
// text.
func Into[S ~string](into *S, form Form, checks ...func(string) error) Scalar {
	s := Taken(form, func(text string) { *into = S(text) }, checks...)
	s.Holds = string(*into)
	return s
}

// Taken calls take with a text or a word if no check returns an error.
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

// Parsed binds the result of parse to a variable. holds is the text of its present value.
func Parsed[T any](into *T, form Form, holds string, parse func(string) (T, error)) Scalar {
	return Scalar{Form: form, Holds: holds, Take: func(text string) error {
		read, err := parse(text)
		if err == nil {
			*into = read
		}
		return err
	}}
}

// Exactly accepts only one text.
func Exactly(text string) Scalar {
	return Scalar{Form: Form{Must: text, Pattern: Word(text).Pattern, Schema: Schema{"const": text}}}
}

// Fits reports whether a text has the form.
func (f Form) Fits(text string) bool {
	return (f.Most == 0 || len(text) <= f.Most) && (f.Pattern == nil || f.Pattern().MatchString(text))
}

// beside returns a path relative to the folder of the document.
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
	r.bare = r.bare || s.Tags == nil && n.ShortTag() != "!!str"
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
