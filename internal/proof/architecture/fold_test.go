package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// The types of a site's state, and of the values between steps. Each step has its own
// copy.
var values = []string{"State", "Head", "Latches", "Latch", "Found", "Loaded", "Plan", "Committed", "Proposed"}

// Only Run replaces the state between steps: no step has a pointer to a part of it, and no
// method with a pointer receiver assigns a part of the state that its receiver holds.
func TestOnlyRunReplacesTheState(t *testing.T) {
	t.Parallel()
	for _, room := range []string{"internal/tick", "internal/tick/read", "internal/tick/publish"} {
		p := find(t, room)
		for _, name := range p.GoFiles {
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range sharing(files, file) {
				t.Error(found)
			}
		}
	}
}

// sharing finds pointers to values of the state, and assignments through a receiver.
func sharing(files *token.FileSet, file *ast.File) (found []string) {
	for _, d := range file.Decls {
		f, is := d.(*ast.FuncDecl)
		if !is {
			continue
		}
		receiver := ""
		if f.Recv != nil && len(f.Recv.List[0].Names) == 1 {
			receiver = f.Recv.List[0].Names[0].Name
		}
		ast.Inspect(f.Type, func(n ast.Node) bool {
			star, is := n.(*ast.StarExpr)
			if is && slices.Contains(values, last(star.X)) {
				found = append(found, fmt.Sprintf("%s: a step takes its own copy, and no pointer", files.Position(n.Pos())))
			}
			return true
		})
		ast.Inspect(f, func(n ast.Node) bool {
			set, is := n.(*ast.AssignStmt)
			if !is {
				return true
			}
			for _, to := range set.Lhs {
				path := path(to)
				held := func(name string) bool { return name == "Head" || name == "Latches" || name == "State" }
				if len(path) > 1 && path[0] == receiver && slices.ContainsFunc(path, held) {
					found = append(found, fmt.Sprintf("%s: %v is the state of a receiver: return a changed copy", files.Position(to.Pos()), path))
				}
			}
			return true
		})
	}
	return found
}

// path returns the names of a selector such as p.head.Agreed.Tip.
func path(e ast.Expr) []string {
	switch x := e.(type) {
	case *ast.Ident:
		return []string{x.Name}
	case *ast.SelectorExpr:
		return append(path(x.X), x.Sel.Name)
	case *ast.IndexExpr:
		return path(x.X)
	}
	return nil
}

func last(e ast.Expr) string {
	names := path(e)
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1]
}

func TestSharedStateIsFound(t *testing.T) {
	t.Parallel()
	for text, shared := range map[string]bool{
		"func (r *reader) step() { r.Head.Agreed.Tip = x }":      true,
		"func (r *reader) step() { r.Latches = x }":              true,
		"func (r *reader) step() { r.Found.Tip = x }":            false,
		"func step(s *latch.State) {}":                           true,
		"func step(f *Found) {}":                                 true,
		"func step(s latch.State) latch.State { s.Head = x }":    false,
		"func (t *Tick) step(s State) State { s.Head.At = now }": false,
	} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "a.go", "package a\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := sharing(files, file)
		if len(found) > 0 != shared {
			t.Errorf("%s: %v", text, found)
		}
	}
}

// A ledger reads git. It does not depend on decisions.
func TestTheLedgerKnowsNoPolicy(t *testing.T) {
	t.Parallel()
	if slices.Contains(find(t, "internal/ledger").Deps, module+"internal/policy") {
		t.Error("internal/ledger reaches internal/policy")
	}
}
