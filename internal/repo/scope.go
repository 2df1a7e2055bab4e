package repo

import (
	"slices"
	"strings"
)

// Within returns an argument for Read to read only some files below a directory. The file
// names are relative to the directory, and * at the start of a name matches any text:
// "*.levels.yaml", "*/record.yaml".
// Read ignores all other paths below the directory.
func Within(directory string, files ...string) string {
	return strings.Join(append([]string{directory}, files...), outside)
}

// outside separates the parts of a result of Within. No path in a repository contains it.
const outside = "//"

// A Scope is a path to read, with a selection of the files below it.
type Scope struct {
	Path  string
	files [][]string // the parts of the path of each file below Path; nil selects all files
}

// ParseScope parses an argument of Read: a path, or a result of Within.
func ParseScope(asked string) Scope {
	at, rest, some := strings.Cut(asked, outside)
	s := Scope{Path: at}
	if some {
		for file := range strings.SplitSeq(rest, outside) {
			s.files = append(s.files, strings.Split(file, "/"))
		}
	}
	return s
}

// Below returns the scope of a name in a directory; ok is false if the name is not in the
// scope.
func (s Scope) Below(name string) (below Scope, ok bool) {
	below.Path = name
	if s.Path != "" {
		below.Path = s.Path + "/" + name
	}
	if s.files == nil {
		return below, true
	}
	for _, names := range s.files {
		if len(names) > 0 && matches(names[0], name) {
			below.files = append(below.files, names[1:])
		}
	}
	return below, below.files != nil
}

// matches reports whether a name in a folder has the given form.
func matches(form, name string) bool {
	end, any := strings.CutPrefix(form, "*")
	if any {
		return strings.HasSuffix(name, end)
	}
	return name == form
}

// Whole reports whether the scope has all files below the path.
func (s Scope) Whole() bool { return s.files == nil }

// Refuses returns the reason not to read an entry of the kind found at the path, or "" if
// it may be read. levels is the number of folders between the argument of Read and the
// entry.
func (s Scope) Refuses(found Kind, levels int) string {
	asks := func(names []string) bool { return len(names) > 0 == (found == Folder) }
	switch wanted := s.files == nil || slices.ContainsFunc(s.files, asks); {
	case found.Unsafe() != "":
		return found.Unsafe()
	case !wanted && found == Folder:
		return "is a directory"
	case !wanted:
		return "is a file, but must be a directory"
	case found == Folder && levels > MostLevels:
		return TooDeep
	}
	return ""
}

// A Kind is the kind of an entry in a folder.
type Kind int

// A Riddle has a mode that git does not define.
const (
	File Kind = iota
	Folder
	Symlink
	Submodule
	Riddle
)

// Unsafe returns the reason why an entry of this kind must not be followed, as a phrase,
// or "" if it may be followed.
func (k Kind) Unsafe() string {
	return map[Kind]string{Symlink: "is a symlink", Submodule: "is a submodule", Riddle: "has a mode that git does not know"}[k]
}
