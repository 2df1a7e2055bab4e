package doctor

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// sourceIgnore is the name of the files, in any folder of a repository, by which Flux's
// source-controller excludes files below that folder. spec.ignore of a GitRepository has
// the same syntax.
const sourceIgnore = ".sourceignore"

// ignoreLines are lines of gitignore. The zero value excludes nothing.
type ignoreLines struct{ patterns []gitignore.Pattern }

// parseIgnore reads lines of gitignore that apply below a folder; nil is the root.
func parseIgnore(folder []string, text string) ignoreLines {
	var l ignoreLines
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			l.patterns = append(l.patterns, gitignore.ParsePattern(line, folder))
		}
	}
	return l
}

// ignoreFiles reads the files named sourceIgnore of a repository, by path from its root.
// The lines of a folder take precedence over those of the folders above it.
func ignoreFiles(files map[string][]byte) ignoreLines {
	var folders [][]string
	for name := range files {
		if dir, base := path.Split(name); base == sourceIgnore {
			folders = append(folders, strings.Split(dir, "/"))
		}
	}
	slices.SortFunc(folders, func(a, b []string) int { return cmp.Or(len(a)-len(b), slices.Compare(a, b)) })
	var l ignoreLines
	for _, folder := range folders {
		content := files[path.Join(append(slices.Clone(folder), sourceIgnore)...)]
		l = l.and(parseIgnore(folder[:len(folder)-1], string(content)))
	}
	return l
}

// and returns the lines with more lines, which take precedence.
func (l ignoreLines) and(more ignoreLines) ignoreLines {
	return ignoreLines{slices.Concat(l.patterns, more.patterns)}
}

// excludes reports whether a file is excluded, by its path from the root of the
// repository. Unlike with git, a line can include a file below an excluded folder: the
// last line that matches decides.
func (l ignoreLines) excludes(file string) bool {
	return gitignore.NewMatcher(l.patterns).Match(strings.Split(file, "/"), false)
}
