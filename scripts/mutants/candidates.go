package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Mutant is one change of one file.
type Mutant struct {
	File       string // relative to the root of the module, with slashes
	Line       int
	Start, End int    // the bytes of the file that Is replaces
	Is         string // the new text of these bytes
}

// A candidate is a mutant with the form in which it is built.
type candidate struct {
	Mutant
	form form
	kind string // the type of a number
}

// A form is the way to build a mutant. All mutants but constants are built together, and a
// variable of the environment selects one.
type form int

const (
	condition form = iota // an expression of type bool
	number                // an expression of the type kind
	statement             // a statement that is removed
	constant              // a part of a constant, which is built on its own
)

// operators are the replacements of each operator.
var operators = map[token.Token][]token.Token{
	token.LSS:  {token.LEQ, token.GEQ},
	token.LEQ:  {token.LSS, token.GTR},
	token.GTR:  {token.GEQ, token.LEQ},
	token.GEQ:  {token.GTR, token.LSS},
	token.EQL:  {token.NEQ},
	token.NEQ:  {token.EQL},
	token.LAND: {token.LOR},
	token.LOR:  {token.LAND},
	token.ADD:  {token.SUB},
	token.SUB:  {token.ADD},
}

// units are the durations of package time.
var units = []string{"Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour"}

// candidates returns the candidates of a package, in the order of the files.
func candidates(root, folder string, from types.Importer) (all []candidate, err error) {
	of, err := build.ImportDir(filepath.Join(root, folder), 0)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	var files []*ast.File
	texts := map[*ast.File][]byte{}
	for _, name := range of.GoFiles {
		text, err := os.ReadFile(filepath.Join(root, folder, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(set, folder+"/"+name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		texts[file] = text
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	_, err = (&types.Config{Importer: from}).Check(folder, set, files, info)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		f := finder{set: set, info: info, text: texts[file]}
		for _, d := range file.Decls {
			general, ok := d.(*ast.GenDecl)
			f.constant = ok && general.Tok == token.CONST
			if !ok || general.Tok != token.IMPORT {
				ast.Inspect(d, f.visit)
			}
		}
		all = append(all, f.found...)
	}
	return all, nil
}

// A finder finds the candidates of a file.
type finder struct {
	set      *token.FileSet
	info     *types.Info
	text     []byte
	constant bool // it is in the declaration of constants
	found    []candidate
}

// add adds the replacement of a node.
func (f *finder) add(n ast.Node, is string, as form) {
	start := f.set.Position(n.Pos())
	c := candidate{Mutant{start.Filename, start.Line, start.Offset, f.set.Position(n.End()).Offset, is}, as, ""}
	if expression, ok := n.(ast.Expr); ok && as == number {
		of := f.info.TypeOf(expression)
		c.kind = of.String()
		if basic, ok := of.(*types.Basic); c.kind != "time.Duration" && (!ok || basic.Info()&types.IsUntyped != 0) {
			c.form = constant
		}
	}
	if f.constant {
		c.form = constant
	}
	c.Line += bytes.Count(f.text[start.Offset:start.Offset+differs(f.text[start.Offset:], is)], []byte("\n"))
	f.found = append(f.found, c)
}

// differs returns the index of the first byte that differs.
func differs(text []byte, is string) int {
	n := min(len(text), len(is))
	for i := range n {
		if text[i] != is[i] {
			return i
		}
	}
	return n
}

// source returns the text of a node.
func (f *finder) source(n ast.Node) string {
	return string(f.text[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

// branch adds the negation of a condition, and its branch without effect if it leaves the
// block.
func (f *finder) branch(e ast.Expr, body []ast.Stmt) {
	if b, simple := e.(*ast.BinaryExpr); !simple || b.Op != token.EQL && b.Op != token.NEQ {
		f.add(e, "!("+f.source(e)+")", condition)
	}
	if len(body) == 0 {
		return
	}
	switch body[len(body)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		f.add(e, "false && ("+f.source(e)+")", condition)
	}
}

// statements adds the removal of calls and of assignments to fields.
func (f *finder) statements(all []ast.Stmt) {
	for _, s := range all {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && f.source(call.Fun) != "panic" {
				f.add(s, "/* removed */", statement)
			}
		case *ast.AssignStmt:
			if !slices.ContainsFunc(s.Lhs, func(e ast.Expr) bool { _, field := e.(*ast.SelectorExpr); return !field }) {
				f.add(s, "/* removed */", statement)
			}
		}
	}
}

// visit adds the candidates of a node.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ArrayType:
		return false
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.Ident:
		if n.Name == "true" || n.Name == "false" {
			f.add(n, strconv.FormatBool(n.Name == "false"), condition)
		}
	case *ast.BasicLit:
		if n.Kind == token.INT || n.Kind == token.FLOAT {
			f.add(n, "("+n.Value+" + 1)", number)
		}
	case *ast.SelectorExpr:
		if from, ok := n.X.(*ast.Ident); ok && from.Name == "time" && slices.Contains(units, n.Sel.Name) {
			f.add(n, "(2 * "+f.source(n)+")", number)
		}
	case *ast.IfStmt:
		f.branch(n.Cond, n.Body.List)
	case *ast.SwitchStmt:
		for _, clause := range n.Body.List {
			if c := clause.(*ast.CaseClause); n.Tag == nil && len(c.List) == 1 {
				f.branch(c.List[0], c.Body)
			}
		}
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CaseClause:
		f.statements(n.Body)
	}
	return true
}

// binary adds the replacements of an operator.
func (f *finder) binary(n *ast.BinaryExpr) {
	as := condition
	if n.Op == token.ADD || n.Op == token.SUB {
		as = number
		if basic, ok := f.info.TypeOf(n).Underlying().(*types.Basic); ok && basic.Info()&types.IsNumeric == 0 {
			return
		}
	}
	for _, op := range operators[n.Op] {
		f.add(n, f.source(n.X)+" "+op.String()+" "+f.source(n.Y), as)
	}
}

// in returns a file with the mutant.
func (m Mutant) in(text []byte) []byte {
	return slices.Concat(text[:m.Start], []byte(m.Is), text[m.End:])
}

// describe returns the place, the original line and the changed line.
func (m Mutant) describe(text []byte) string {
	changed := m.in(text)
	at := m.Start + differs(text[m.Start:], string(changed[m.Start:]))
	line := func(text []byte) string {
		start := bytes.LastIndexByte(text[:at], '\n') + 1
		line, _, _ := bytes.Cut(text[start:], []byte("\n"))
		return strings.TrimSpace(string(line))
	}
	return fmt.Sprintf("%s:%d\n  - %s\n  + %s", m.File, m.Line, line(text), line(changed))
}

// wrap returns the text before and after the original text of a candidate. It selects the
// mutant if mutantID is id.
func (c candidate) wrap(id int) (before, after string) {
	switch c.form {
	case condition:
		return fmt.Sprintf("(mutantID == %d && (%s) || mutantID != %[1]d && (", id, c.Is), "))"
	case number:
		return fmt.Sprintf("mutantNumber[%s](mutantID == %d, %s, ", c.kind, id, c.Is), ")"
	case statement:
		return fmt.Sprintf("if mutantID != %d { ", id), " }"
	}
	return "", ""
}

// together returns a file with all candidates by id, which are candidates of this file.
func together(text []byte, all map[int]candidate) []byte {
	ids := make([]int, 0, len(all))
	for id := range all {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int) int { // outer candidates before inner candidates
		return cmp.Or(all[a].Start-all[b].Start, all[b].End-all[a].End, a-b)
	})
	var out bytes.Buffer
	written := 0
	through := func(to int) {
		out.Write(text[written:to])
		written = to
	}
	var open []int
	closeUntil := func(at int) {
		for len(open) > 0 && all[open[len(open)-1]].End <= at {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			through(all[last].End)
			_, after := all[last].wrap(last)
			out.WriteString(after)
		}
	}
	for _, id := range ids {
		closeUntil(all[id].Start)
		through(all[id].Start)
		before, _ := all[id].wrap(id)
		out.WriteString(before)
		open = append(open, id)
	}
	closeUntil(len(text))
	through(len(text))
	return out.Bytes()
}

// selector is the file that each package with mutants gets.
const selector = `package %s

import (
	"os"
	"strconv"
)

var mutantID, _ = strconv.Atoi(os.Getenv("MUTANT"))

func mutantNumber[T any](on bool, is, was T) T {
	if on {
		return is
	}
	return was
}
`
