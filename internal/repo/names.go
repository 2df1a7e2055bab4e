package repo

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// CheckBranch returns an error if git would not accept a name as the name of a branch, or
// if the name is a full ref name such as refs/heads/main.
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

// CheckCommit returns an error if id is not the full id of a commit.
func CheckCommit(id string) error {
	if len(id) != 40 || strings.Trim(id, "0123456789abcdef") != "" {
		return fmt.Errorf("commit %q: want 40 hexadecimal digits", id)
	}
	return nil
}

// CheckPath returns an error if git would not accept a path, or if the path contains
// "..", "." or ".git".
func CheckPath(path string) error {
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") || strings.ContainsRune(name, 0) {
			return fmt.Errorf("path %q: want names with / between them, from the root of the repository", path)
		}
	}
	return nil
}

// Check returns an error if no adapter can make the commit. base is the name of the base
// branch.
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

// IsLFS reports whether content is a pointer of Git LFS, which replaces a large file.
func IsLFS(content []byte) bool {
	return bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/"))
}
