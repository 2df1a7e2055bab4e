package doctor

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// sourceIgnore is the name of the files in which users list exclusions for Flux's
// source-controller. Such a file can be in any folder, and applies to the files below
// that folder. spec.ignore of a GitRepository has the same syntax.
const sourceIgnore = ".sourceignore"

// parseIgnore parses gitignore patterns that apply below a folder. A nil folder is the
// root.
func parseIgnore(folder []string, text string) (patterns []gitignore.Pattern) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, gitignore.ParsePattern(line, folder))
		}
	}
	return patterns
}

// ignoreFiles parses every .sourceignore file of a repository. files has paths from the
// root. The patterns of a folder take precedence over the patterns of its parent folders.
func ignoreFiles(files map[string][]byte) (patterns []gitignore.Pattern) {
	var folders [][]string
	for name := range files {
		if dir, base := path.Split(name); base == sourceIgnore {
			folders = append(folders, strings.Split(dir, "/"))
		}
	}
	slices.SortFunc(folders, func(a, b []string) int { return cmp.Or(len(a)-len(b), slices.Compare(a, b)) })
	for _, folder := range folders {
		content := files[path.Join(append(slices.Clone(folder), sourceIgnore)...)]
		patterns = append(patterns, parseIgnore(folder[:len(folder)-1], string(content))...)
	}
	return patterns
}
