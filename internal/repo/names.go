package repo

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// CheckBranch refuses what git would not take as the name of a branch, and a
// name in full (refs/heads/main).
func CheckBranch(name string) error {
	bad := name == "" || name == "@" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "refs/") ||
		strings.HasSuffix(name, ".") || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.ContainsAny(name, " ~^:?*[\\") || strings.ContainsFunc(name, unicode.IsControl)
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Errorf("branch %q: want a name such as main", name)
	}
	return nil
}

// CheckCommit refuses what is not the whole id of a commit.
func CheckCommit(id string) error {
	if len(id) != 40 || strings.Trim(id, "0123456789abcdef") != "" {
		return fmt.Errorf("commit %q: want 40 hexadecimal digits", id)
	}
	return nil
}

// CheckPath refuses what git would not take as a path, and what would reach a
// place of its own.
func CheckPath(path string) error {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") || strings.ContainsRune(name, 0) {
			return fmt.Errorf("path %q: want names with / between them, from the root of the repository", path)
		}
	}
	return nil
}

// Check refuses a commit that no adapter can make on the base of that name.
func (c Commit) Check(base string) error {
	problems := []error{CheckCommit(c.Parent)}
	if c.Branch != "" {
		problems = append(problems, CheckBranch(c.Branch))
	}
	if c.Branch == base {
		problems = append(problems, fmt.Errorf("branch %q is the base branch. For the base branch, give no name", c.Branch))
	}
	if c.Branch != "" && c.Expect != "" {
		problems = append(problems, CheckCommit(c.Expect))
	}
	for path := range c.Files {
		problems = append(problems, CheckPath(path))
	}
	if c.When.Unix() <= 0 {
		problems = append(problems, errors.New("a commit needs a time after 1970"))
	}
	return errors.Join(problems...)
}

// IsLFS reports whether content is what Git LFS keeps in place of a large file.
func IsLFS(content []byte) bool {
	return bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/"))
}
