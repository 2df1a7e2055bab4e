// Package ignore tells which files of a repository a GitOps source leaves out,
// as Flux's source-controller reads the lines of gitignore.
package ignore

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// Lines are lines of gitignore, as spec.ignore of a GitRepository has them. The
// zero value leaves nothing out.
type Lines struct{ patterns []gitignore.Pattern }

// Parse reads lines of gitignore. Empty ones and comments say nothing.
func Parse(text string) Lines {
	var l Lines
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			l.patterns = append(l.patterns, gitignore.ParsePattern(line, nil))
		}
	}
	return l
}

// Leaves reports whether a file is left out, by its path from the root of the
// repository. Unlike with git, a file below a folder that is left out can be
// asked back in: the last line that matches decides.
func (l Lines) Leaves(file string) bool {
	return gitignore.NewMatcher(l.patterns).Match(strings.Split(file, "/"), false)
}
