package yamldoc_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// The reader reports invalid YAML at its line, not at the start of the surrounding block.
func TestSyntaxErrorsNameTheLineThatIsWrong(t *testing.T) {
	t.Parallel()
	comments := strings.Repeat("# as before\n", 150)
	for name, c := range map[string]struct{ document, want string }{
		"no parent":                  {"a: 1\n" + comments + "  b: 2\n" + comments + "c: 3\n", "f:152: is not YAML: did not find expected key"},
		"no parent, under comments":  {comments + "a: 1\n  b: 2\n", "f:152: is not YAML: mapping values are not allowed in this context"},
		"no parent, at the end":      {"a:\n  b: 1\n#c:\n    d: 2", "f:4: is not YAML: did not find expected key"},
		"bad indentation":            {"a:\n  b: 1\n   c: 2\nd: 3\n", "f:3: is not YAML: mapping values are not allowed in this context"},
		"too little indentation":     {"a:\n    b: 1\n  c: 2\nd: 3\n", "f:3: is not YAML: did not find expected key"},
		"a list among fields":        {"a: 1\nb: 2\n- c\nd: 3\n", "f:3: is not YAML: did not find expected key"},
		"a tab":                      {"a:\n\tb: 1\nc: 2\n", "f:2: is not YAML: a tab indents this line; use spaces"},
		"a tab after spaces":         {"a:\n  b: 1\n \tc: 1\n", "f:3: is not YAML: a tab indents this line; use spaces"},
		"an open quote":              {"a: 1\nb: \"x\nc: 2\nd: 3\n", "f:2: is not YAML: found unexpected end of stream"},
		"an open quote at the top":   {"a: \"x\nc: 2\nd: 3\n", "f:1: is not YAML: found unexpected end of stream"},
		"a quote too many":           {"a: 1\nb: 'don't'\nc: 2\n", "f:2: is not YAML: did not find expected key"},
		"an open bracket":            {"a: 1\nb: [1, 2\nc: 2\nd: 3\n", "f:2: is not YAML: did not find expected ',' or ']'"},
		"an open brace":              {"a: 1\nb: {c: 1\n", "f:2: is not YAML: did not find expected ',' or '}'"},
		"below a list of many lines": {"a: [1,\n 2]\nb: \"x\n y\"\n  c: 2\nd: 3\n", "f:5: is not YAML: did not find expected key"},
		"no anchor of this name":     {"a: 1\nb: *c\nd: 2\n", "f:2: is not YAML: unknown anchor 'c' referenced"},
		"a second document":          {"a: 1\n---\nb: 1\n c: 1\n", "f:4: is not YAML: mapping values are not allowed in this context"},
		"lines of Windows":           {"a: 1\r\nb:\r\n  c: 2\r\n   d: 2\r\n", "f:4: is not YAML: mapping values are not allowed in this context"},
	} {
		r := yamldoc.NewReader("f")
		r.Read([]byte(c.document), yamldoc.Document{})
		if err := r.Err(); err == nil || !strings.HasSuffix("\n"+err.Error(), "\n"+c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// The reader reports a document of the maximum size with errors in every line, without
// reading the document again for each line.
func TestALongDocumentThatIsNotYAMLIsToldInBoundedTime(t *testing.T) {
	t.Parallel()
	r := yamldoc.NewReader("f")
	r.Read([]byte("a: \""+strings.Repeat("x\n", 1<<18)), yamldoc.Document{})
	if err := r.Err(); err == nil || err.Error() != "f: is not YAML: found unexpected end of stream" {
		t.Errorf("got %v", err)
	}
}
