package codecommit

import (
	"bytes"
	"os/exec"
	"strings"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// git runs git in a repository, and returns its output.
func git(o *gitserver.Origin, input string, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = o.Dir, append(gitserver.Environ(), env...)
	cmd.Stdin = strings.NewReader(input)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return strings.TrimSuffix(out.String(), "\n"), err
}

// commitOf returns the commit of a branch name, a ref or an id.
func commitOf(o *gitserver.Origin, specifier string) (string, bool) {
	if id := o.Tip(strings.TrimPrefix(specifier, "refs/heads/")); id != "" {
		return id, true
	}
	id, err := git(o, "", nil, "rev-parse", "--verify", "--quiet", specifier+"^{commit}")
	return id, err == nil
}

// object returns the content of a git object; ok is false if no object of the kind
// exists.
func object(o *gitserver.Origin, kind, id string) (content string, ok bool) {
	out, err := git(o, id+"\n", nil, "cat-file", "--batch")
	head, content, _ := strings.Cut(out, "\n")
	field := strings.Fields(head)
	return content, err == nil && len(field) == 3 && field[1] == kind
}

// A line is one of a tree.
type line struct{ mode, kind, id, path string }

// listing returns git's listing of a tree; ok is false if the tree does not exist.
func listing(o *gitserver.Origin, tree string, flags ...string) (lines []line, ok bool) {
	out, err := git(o, "", nil, append(append([]string{"ls-tree", "-z"}, flags...), tree)...)
	for _, text := range strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") {
		if meta, path, found := strings.Cut(text, "\t"); found {
			field := strings.Fields(meta)
			lines = append(lines, line{field[0], field[1], field[2], path})
		}
	}
	return lines, err == nil
}
