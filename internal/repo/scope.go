package repo

import (
	"slices"
	"strings"
)

// Within returns the path by which Read is asked for a directory and only those
// files below it that have the names given. Each is relative to the directory,
// and * in it stands for any one folder: "*/checkpoint.yaml". Nothing else below
// the directory is looked at, whatever it is.
func Within(directory string, files ...string) string {
	return strings.Join(append([]string{directory}, files...), outside)
}

// outside parts what Within joins. No path in a repository holds it.
const outside = "//"

// A Scope is a path that is read, and what is read below it.
type Scope struct {
	Path  string
	files [][]string // the names of each file below Path; nil is all there are
}

// ParseScope takes apart what Read is asked for: a path, or what Within returned.
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

// Below returns the scope of a name in a directory; ok is false where the name is
// out of it.
func (s Scope) Below(name string) (below Scope, ok bool) {
	below.Path = name
	if s.Path != "" {
		below.Path = s.Path + "/" + name
	}
	if s.files == nil {
		return below, true
	}
	for _, names := range s.files {
		if len(names) > 0 && (names[0] == "*" || names[0] == name) {
			below.files = append(below.files, names[1:])
		}
	}
	return below, below.files != nil
}

// Whole reports whether all below the path is read.
func (s Scope) Whole() bool { return s.files == nil }

// Refuses says why what is found at the path, so many folders below what was asked
// for, is not read; "" where it is.
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

// A Kind is what a name in a folder stands for.
type Kind int

// The kinds; a Riddle is of a mode that git does not know.
const (
	File Kind = iota
	Folder
	Symlink
	Submodule
	Riddle
)

// Unsafe says, as a phrase, why what is of a kind must not be followed; "" where it
// may.
func (k Kind) Unsafe() string {
	return map[Kind]string{Symlink: "is a symlink", Submodule: "is a submodule", Riddle: "has a mode that git does not know"}[k]
}
