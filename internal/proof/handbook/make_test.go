package handbook

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// makes matches a call of make in a code span or a code block.
var makes = regexp.MustCompile("(?m)(?:`|^    |^\\s*\\$ )make ([a-z][a-z/-]*)")

// targets returns the targets of the Makefile.
func targets(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, rule := range regexp.MustCompile(`(?m)^([a-z][a-z/-]*):(?:[^=]|$)`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, rule[1])
	}
	return names
}

// The Makefile has each target that a page names.
func TestEachCallOfMakeHasATarget(t *testing.T) {
	t.Parallel()
	known, calls := targets(t), 0
	for file, text := range pages(t) {
		for _, call := range makes.FindAllStringSubmatch(text, -1) {
			calls++
			if !slices.Contains(known, call[1]) {
				t.Errorf("%s: the Makefile has no target %s", file, call[1])
			}
		}
	}
	if calls < 10 {
		t.Errorf("found only %d calls of make", calls)
	}
}

// A contributor finds the two commands that test everything in the README.
func TestTheReadmeNamesTheCommandsOfAContributor(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(pages(t)["README.md"], "\n## Contribute\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var named []string
	for _, call := range makes.FindAllStringSubmatch(section, -1) {
		named = append(named, call[1])
	}
	for _, target := range []string{"test", "test-all"} {
		if !slices.Contains(named, target) {
			t.Errorf("its section Contribute does not name make %s: %q", target, named)
		}
	}
}
