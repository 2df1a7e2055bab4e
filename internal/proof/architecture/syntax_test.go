package architecture

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// widest is the length of a code line in bytes, if it has no string literal. A tab is one.
const widest = 140

// A line has one statement. An if header may define variables, or set err alone or
// together with a value. At most two values are assigned at once.
func TestALineHasOneStatement(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		if forTests(p.name()) || strings.HasPrefix(p.name(), "scripts") {
			continue
		}
		for _, name := range p.GoFiles {
			data, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range packedIn(t, p.name()+"/"+name, data) {
				t.Error(at)
			}
		}
	}
}

// packedIn finds the lines of a file that have more than one statement.
func packedIn(t *testing.T, name string, data []byte) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, data, 0)
	if err != nil {
		t.Fatal(err)
	}
	note := func(at token.Pos, text string) {
		found = append(found, fmt.Sprintf("%s: %s", files.Position(at), text))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			if len(s.Lhs) >= 3 && len(s.Rhs) == len(s.Lhs) {
				note(s.Pos(), "three or more values are assigned at once: write one assignment per line")
			}
		case *ast.IfStmt:
			set, ok := s.Init.(*ast.AssignStmt)
			if ok && set.Tok != token.DEFINE && !slices.ContainsFunc(set.Lhs, outcome) {
				note(s.Pos(), "an if header assigns a variable: assign it on the line before")
			}
		}
		return true
	})
	for i, line := range bytes.Split(data, []byte("\n")) {
		comment := bytes.HasPrefix(bytes.TrimSpace(line), []byte("//"))
		if len(line) > widest && !comment && !bytes.ContainsAny(line, "\"`") {
			found = append(found, fmt.Sprintf("%s:%d: has %d bytes: break the line", name, i+1, len(line)))
		}
	}
	return found
}

// outcome reports whether an expression is err.
func outcome(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "err"
}

func TestPackedLinesAreFound(t *testing.T) {
	t.Parallel()
	for text, packed := range map[string]bool{
		"if err = f(); err != nil {}":                   false,
		"if x, err = g(); err != nil {}":                false,
		"if x, ok = m[1]; ok {}":                        true,
		"if y := x; y > 0 {}":                           false,
		"if x = h(); x > 0 {}":                          true,
		"if x, y = g(); x > y {}":                       true,
		"x, y = y, x":                                   false,
		"x, y, z := 1, 2, 3":                            true,
		"x, y, z := g()":                                false,
		"f(" + strings.Repeat("x, ", 50) + "x)":         true,
		"f(\"" + strings.Repeat("x, ", 50) + "\")":      false,
		"// " + strings.Repeat("a comment is long ", 9): false,
	} {
		found := packedIn(t, "a.go", []byte("package a\n\nfunc a() {\n\t"+text+"\n}\n"))
		if len(found) > 0 != packed {
			t.Errorf("%s: %v", text, found)
		}
	}
}
