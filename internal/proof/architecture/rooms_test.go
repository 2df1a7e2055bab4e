package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The packages that may run a tick or read its report: they open and run it, report it,
// drill with it and prove it. A package that only reads git uses ledger.
var tickers = []string{"functions", "internal/wiring", "internal/report", "internal/drill", "internal/demo", "internal/proof",
	"internal/cli/amend.go", "internal/cli/explain.go", "internal/cli/open.go", "internal/cli/tick.go"}

func TestOnlyWhatRunsATickKnowsOfOne(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			file := p.name() + "/" + name
			if imports(t, p, name, module+"internal/tick") && !slices.ContainsFunc(tickers, func(room string) bool { return strings.HasPrefix(file+"/", room+"/") }) {
				t.Errorf("%s imports internal/tick: what git holds of a site is read by internal/ledger", file)
			}
		}
	}
}

// Rooms that open the parts of a program, and so import other rooms.
var opening = []string{"internal/drill/open", "internal/restore/open"}

// forTests reports whether a package serves only tests: parts and fakes, suites of a
// port, proofs.
func forTests(name string) bool {
	return strings.HasPrefix(name, "internal/testenv/") || strings.HasPrefix(name, "internal/proof/") || strings.HasSuffix(name, "test") && name != "internal/backtest"
}

func TestOnlyTestsKnowOfPartsAndFakes(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, dep := range p.Imports {
			if strings.HasPrefix(dep, module+"internal/testenv/") && !forTests(p.name()) && !strings.HasPrefix(p.name(), "scripts/") {
				t.Errorf("%s is in a program and imports %s", p.name(), dep)
			}
		}
	}
}

// A room is a folder of internal with the folders below it. Two rooms that need each
// other are one room. Packages for tests are exempt: they may fake a part of any room
// or run its suite.
func TestNoRoomsGoInCircles(t *testing.T) {
	t.Parallel()
	room := func(name string) string { return strings.Join(strings.SplitN(name, "/", 3)[:2], "/") }
	needs := map[string]map[string]bool{}
	for _, p := range packages(t) {
		if !strings.HasPrefix(p.name(), "internal/") || slices.Contains(opening, p.name()) || forTests(p.name()) {
			continue
		}
		for _, dep := range p.Imports {
			own, isOwn := strings.CutPrefix(dep, module)
			if from := room(p.name()); isOwn && room(own) != from {
				if needs[from] == nil {
					needs[from] = map[string]bool{}
				}
				needs[from][room(own)] = true
			}
		}
	}
	for start := range needs {
		seen := map[string]bool{}
		for next := slices.Collect(maps.Keys(needs[start])); len(next) > 0; next = next[1:] {
			if next[0] == start {
				t.Errorf("%s needs a room that needs %s", start, start)
				break
			}
			if !seen[next[0]] {
				seen[next[0]] = true
				next = slices.AppendSeq(next, maps.Keys(needs[next[0]]))
			}
		}
	}
}

// imports reports whether a file of a package imports another.
func imports(t *testing.T, p pkg, name, imported string) bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"`+imported+`"` })
}
