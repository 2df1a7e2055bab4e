// Package ignore tells which files of a repository a GitOps source leaves out,
// as Flux's source-controller does: by the files of that purpose in it, and by
// spec.ignore of the source.
package ignore

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// File is the name of the files, in any folder of a repository, whose lines
// leave out what is below that folder.
const File = ".sourceignore"

// Lines are lines of gitignore, as spec.ignore of a GitRepository has them, or a
// File. The zero value leaves nothing out.
type Lines struct{ patterns []gitignore.Pattern }

// Parse reads lines of gitignore. Empty ones and comments say nothing, and one
// that is indented is of a name that begins with a space.
func Parse(text string) Lines { return within(nil, text) }

// Files reads the Files among those of a repository, by path from its root. What
// one says goes before what one in a folder above it says.
func Files(files map[string][]byte) Lines {
	var folders [][]string
	for name := range files {
		if dir, base := path.Split(name); base == File {
			folders = append(folders, strings.Split(dir, "/"))
		}
	}
	slices.SortFunc(folders, func(a, b []string) int { return cmp.Or(len(a)-len(b), slices.Compare(a, b)) })
	var l Lines
	for _, folder := range folders {
		l = l.And(within(folder[:len(folder)-1], string(files[path.Join(append(slices.Clone(folder), File)...)])))
	}
	return l
}

// within reads lines that are about what is below a folder.
func within(folder []string, text string) Lines {
	var l Lines
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			l.patterns = append(l.patterns, gitignore.ParsePattern(line, folder))
		}
	}
	return l
}

// And returns the lines with more after them, which go before.
func (l Lines) And(more Lines) Lines {
	return Lines{slices.Concat(l.patterns, more.patterns)}
}

// Leaves reports whether a file is left out, by its path from the root of the
// repository. Unlike with git, a file below a folder that is left out can be
// asked back in: the last line that matches decides.
func (l Lines) Leaves(file string) bool {
	return gitignore.NewMatcher(l.patterns).Match(strings.Split(file, "/"), false)
}
