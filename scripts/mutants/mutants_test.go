package main

import (
	"bytes"
	"context"
	"go/importer"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// small is a module in which the tests of two packages catch mutants of one of them.
const small = `
-- go.mod --
module example.com/small

go 1.26
-- larger/larger.go --
package larger

func Of(a, b int) int {
	if a > b {
		return a
	}
	return b
}

const size uint8 = 255

var Size = size
-- larger/larger_test.go --
package larger

import "testing"

func TestOf(t *testing.T) {
	if Of(1, 2) != 2 {
		t.Fatal("not the second")
	}
}
-- user/user_test.go --
package user

import (
	"testing"

	"example.com/small/larger"
)

func TestUser(t *testing.T) {
	if larger.Of(2, 1) != 2 {
		t.Fatal("not the first")
	}
}
`

// The tests of a package and of its dependents catch mutants, and a second run reads the
// results of the first.
func TestSurvivorsAreReported(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, file := range txtar.Parse([]byte(small)).Files {
		path := filepath.Join(root, file.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := load(t.Context(), root, []string{"larger"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(m.dir)
	all, err := m.candidates(t.Context(), []string{"larger"})
	if err != nil {
		t.Fatal(err)
	}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7}[:len(all)]
	const want = `3 survived: larger/larger.go:4
  - if a > b {
  + if a >= b {
figure mutants 4
figure mutants_caught 0.750
`
	results, out := filepath.Join(root, "results"), strings.Builder{}
	log := bytes.Buffer{}
	if err := m.draw(t.Context(), all, order, 10, nil, &log, &out); err != nil || out.String() != want {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, by := range []string{"larger TestOf", "user TestUser", string(NotBuilt)} {
		if !strings.Contains(log.String(), by) {
			t.Errorf("no result has %q:\n%s", by, log.String())
		}
	}

	if err := os.WriteFile(results, log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	known, err := read(results, false)
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	out.Reset()
	if err := m.draw(stopped, all, order, 10, known, &log, &out); err != nil || out.String() != want {
		t.Fatalf("with the results of the first run: %v\n%s", err, out.String())
	}
	if known, err := read(results, true); err != nil || len(known) != 4 {
		t.Errorf("without survivors there are %d results, not 4: %v", len(known), err)
	}
}

// Each kind of candidate is one change of a line.
func TestCandidates(t *testing.T) {
	t.Parallel()
	const head = "package small\n\nimport \"time\"\n\ntype box struct{ n int }\n\n" +
		"func small(i, j int, p, q bool, s string, b *box, f func()) {\n"
	for line, want := range map[string][]string{
		"_ = i < 1":                             {"_ = i <= 1", "_ = i >= 1", "_ = i < (1 + 1)"},
		"_ = i == j || p":                       {"_ = i == j && p", "_ = i != j || p"},
		`_ = "a" + s`:                           nil,
		"_ = i - j":                             {"_ = i + j"},
		"_ = true":                              {"_ = false"},
		"_ = 5 * time.Minute":                   {"_ = (5 + 1) * time.Minute", "_ = 5 * (2 * time.Minute)"},
		"const c = 7; _ = [3]int{}":             {"const c = (7 + 1); _ = [3]int{}"},
		"b.n = i":                               {"/* removed */"},
		"i = j":                                 nil,
		"f()":                                   {"/* removed */"},
		"panic(s)":                              nil,
		"if p { return }":                       {"if !(p) { return }", "if false && (p) { return }"},
		"if i != j { i++ }":                     {"if i == j { i++ }"},
		"for { if p { continue } }":             {"for { if !(p) { continue } }", "for { if false && (p) { continue } }"},
		"switch { case p: return; case p, q: }": {"switch { case !(p): return; case p, q: }", "switch { case false && (p): return; case p, q: }"},
		"switch p { case q: return }":           nil,
	} {
		root := t.TempDir()
		text := []byte(head + line + "\n_ = time.Now\n}\n")
		if err := os.WriteFile(filepath.Join(root, "small.go"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := candidates(root, ".", importer.ForCompiler(token.NewFileSet(), "source", nil))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		byID := map[int]candidate{}
		for i, c := range all {
			_, changed, _ := strings.Cut(c.describe(text), "\n  + ")
			got = append(got, changed)
			byID[i+1] = c
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(want)); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", line, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if _, err := parser.ParseFile(token.NewFileSet(), "", together(text, byID), 0); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}
