package gitserver

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nested adds trees of ten equal entries within one another, with the given number of
// levels, and returns the id of the outermost one. They take a few hundred bytes in
// git, and each level has ten times the paths.
func (o *Origin) Nested(t testing.TB, levels int) string {
	t.Helper()
	id, line := o.GitInput(t, "leaf", "hash-object", "-w", "--stdin"), "100644 blob %s\t%d\n"
	for range levels {
		var list strings.Builder
		for n := range 10 {
			fmt.Fprintf(&list, line, id, n)
		}
		id, line = o.GitInput(t, list.String(), "mktree"), "040000 tree %s\t%d\n"
	}
	return id
}

// Wide adds a folder with the given number of files, and returns the id of its tree.
func (o *Origin) Wide(t testing.TB, files int) string {
	t.Helper()
	blob := o.GitInput(t, "leaf", "hash-object", "-w", "--stdin")
	var list strings.Builder
	for n := range files {
		fmt.Fprintf(&list, "100644 blob %s\tfile-%06d\n", blob, n)
	}
	return o.GitInput(t, list.String(), "mktree")
}

// Zeros adds a file of the given number of zeros, and returns the id of its blob. Git
// stores a thousandth of it.
func (o *Origin) Zeros(t testing.TB, bytes int64) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "zeros")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, bytes); err != nil {
		t.Fatal(err)
	}
	return o.Git(t, "-c", "core.bigFileThreshold=1m", "-c", "core.compression=1", "hash-object", "-w", "--no-filters", file)
}

// Put commits an object that is there, a blob or a tree, at a path of a branch.
func (o *Origin) Put(t testing.TB, branch, path, id string) string {
	t.Helper()
	mode := "100644"
	if o.Git(t, "cat-file", "-t", id) == "tree" {
		mode = "040000"
	}
	return o.Commit(t, Change{Branch: branch, Message: "put " + path, Entries: []Entry{{Path: path, Mode: mode, ID: id}}})
}
