package architecture

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// upward is the number of arrows that lead up among the files of a room, with the folders
// below. Each makes a reader go back to a file that seemed to be read. The figure may fall.
var upward = map[string]int{"tick": 14, "doctor": 19, "cli": 22}

// TestArrowsLeadDown prints the arrows of the largest rooms. An arrow leads from a file to
// another file whose declarations it uses. An arrow leads up if it is against the order of the
// files with the fewest such arrows: without these, the files can be read from top to bottom.
func TestArrowsLeadDown(t *testing.T) {
	t.Parallel()
	for room, most := range upward {
		all := arrows(t, root, "internal/"+room)
		up := up(all)
		t.Logf("%s: %d files with arrows, %d arrows, %d upward: %v", room, len(ends(all)), len(all), len(up), up)
		if len(up) > most {
			t.Errorf("%s has %d upward arrows, want at most %d: declare what both files use in the lower one", room, len(up), most)
		}
	}
}

// A link is an arrow from a file to a file.
type link [2]string

// arrows returns the arrows among the files below a folder.
func arrows(t *testing.T, root, folder string) []link {
	t.Helper()
	m := meanings{t: t, root: root, folder: folder, files: token.NewFileSet(), known: map[string]*types.Package{},
		uses: types.Info{Uses: map[*ast.Ident]types.Object{}}}
	err := filepath.WalkDir(filepath.Join(root, folder), func(name string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() != "testdata" {
			below, _ := filepath.Rel(root, name)
			_, err = m.Import(module + filepath.ToSlash(below))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[link]bool{}
	for name, object := range m.uses.Uses {
		one := link{m.file(name.Pos()), m.file(object.Pos())}
		if one[0] != one[1] && one[0] != "" && one[1] != "" {
			all[one] = true
		}
	}
	return slices.Collect(maps.Keys(all))
}

// meanings resolves the identifiers below a folder. A package outside of this module is
// empty, so that only the declarations of this module have a meaning.
type meanings struct {
	t            *testing.T
	root, folder string
	files        *token.FileSet
	known        map[string]*types.Package
	uses         types.Info
}

// file returns the file of a position, from the folder; "" for a file outside of it.
func (m meanings) file(at token.Pos) string {
	name, below := strings.CutPrefix(filepath.ToSlash(m.files.Position(at).Filename), filepath.ToSlash(filepath.Join(m.root, m.folder))+"/")
	if !below {
		return ""
	}
	return name
}

// Import returns a package, and resolves its identifiers if it is below the folder.
func (m meanings) Import(name string) (*types.Package, error) {
	if m.known[name] != nil {
		return m.known[name], nil
	}
	own, isOwn := strings.CutPrefix(name, module)
	if !isOwn {
		m.known[name] = types.NewPackage(name, filepath.Base(name))
		m.known[name].MarkComplete()
		return m.known[name], nil
	}
	dir := filepath.Join(m.root, own)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, e := range entries {
		matches, err := build.Default.MatchFile(dir, e.Name())
		if err != nil {
			return nil, err
		}
		if !matches || !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(m.files, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	// The errors are about empty packages.
	rules := types.Config{Importer: m, Error: func(error) {}, IgnoreFuncBodies: !strings.HasPrefix(own+"/", m.folder+"/")}
	m.known[name], _ = rules.Check(name, m.files, files, &m.uses)
	return m.known[name], nil
}

// ends returns the files that arrows start from or lead to, in order.
func ends(all []link) []string {
	files := map[string]bool{}
	for _, one := range all {
		files[one[0]] = true
		files[one[1]] = true
	}
	return slices.Sorted(maps.Keys(files))
}

// up returns the arrows that are against the order of the files with the fewest of them. From
// many random orders, it moves one file after the other to its best place.
func up(all []link) []link {
	files := ends(all)
	leads := map[link]int{}
	for _, one := range all {
		leads[one] = 1
	}
	random := rand.New(rand.NewPCG(1, 1))
	fewest := all
	for range 200 {
		random.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		for before := len(all) + 1; len(against(files, leads)) < before; {
			before = len(against(files, leads))
			for _, file := range slices.Clone(files) {
				files = moved(files, file, leads)
			}
		}
		if up := against(files, leads); len(up) < len(fewest) {
			fewest = up
		}
	}
	return fewest
}

// against returns the arrows from a file to an earlier one.
func against(files []string, leads map[link]int) (all []link) {
	for i, from := range files {
		for _, to := range files[:i] {
			if leads[link{from, to}] > 0 {
				all = append(all, link{from, to})
			}
		}
	}
	return all
}

// moved returns the order with a file at its best place.
func moved(files []string, file string, leads map[link]int) []string {
	files = slices.DeleteFunc(slices.Clone(files), func(other string) bool { return other == file })
	var change, fewest, place int
	for i, other := range files {
		change += leads[link{file, other}] - leads[link{other, file}]
		if change < fewest {
			fewest = change
			place = i + 1
		}
	}
	return slices.Insert(files, place, file)
}

// The arrows of small packages: a use of a function, of a method and of a field, and cycles.
func TestArrowsAreCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files      map[string]string
		arrows, up int
	}{
		"a line":                     {map[string]string{"a.go": "package p; func A() { B() }", "b.go": "package p; func B() { var x c; x.do() }", "c.go": "package p; type c struct{}; func (c) do() {}"}, 2, 0},
		"a loop":                     {map[string]string{"a.go": "package p; func A() { B() }", "b.go": "package p; func B() { _ = C.f }", "c.go": "package p; var C struct{ f int }; func c() { A() }"}, 3, 1},
		"two loops through one file": {map[string]string{"a.go": "package p; func A() { B(); C() }", "b.go": "package p; func B() { A() }", "c.go": "package p; func C() { A() }"}, 4, 2},
		"a folder below":             {map[string]string{"a.go": "package p; import \"" + module + "room/q\"; func A() { q.B() }", "q/b.go": "package q; import \"fmt\"; func B() { fmt.Println() }"}, 1, 0},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			file = filepath.Join(root, "room", file)
			err := os.MkdirAll(filepath.Dir(file), 0o700)
			if err == nil {
				err = os.WriteFile(file, []byte(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		all := arrows(t, root, "room")
		if got := up(all); len(all) != c.arrows || len(got) != c.up {
			t.Errorf("%s: arrows %v, upward %v, want %d and %d", name, all, got, c.arrows, c.up)
		}
	}
}
