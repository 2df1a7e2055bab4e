package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/docs"
)

const (
	// allowedFile lists the patterns that the comments of a file may have.
	allowedFile = "scripts/prose/testdata/comments.txt"
	// counter is the file whose first commit is the first one whose subject counts.
	counter = "scripts/prose/dialect.go"
)

// A tree is the working tree of the repository.
type tree struct{ root string }

func (t *tree) readme() ([]passage, error) {
	text, err := os.ReadFile(filepath.Join(t.root, "README.md"))
	return markdown("README.md", string(text)), err
}

func (t *tree) handbook() (all []passage, err error) {
	for _, topic := range docs.Topics() {
		all = append(all, markdown("internal/docs/"+topic.Name+".md", topic.Text)...)
	}
	return all, nil
}

func (t *tree) help() (all []passage, err error) {
	texts := helps(commands())
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		all = append(all, markdown(name, texts[name])...)
	}
	return all, nil
}

// strings returns the strings of the product: functions and internal, without tests and
// fakes.
func (t *tree) strings() (all []passage, err error) {
	err = t.sources(func(file string, comments, literals []passage) {
		product := strings.HasPrefix(file, "functions/") || strings.HasPrefix(file, "internal/")
		for _, folder := range []string{"internal/testenv/", "internal/proof/"} {
			product = product && !strings.HasPrefix(file, folder)
		}
		if product && !strings.HasSuffix(file, "_test.go") {
			all = append(all, literals...)
		}
	})
	return all, err
}

func (t *tree) comments() (all []passage, err error) {
	err = t.sources(func(file string, comments, literals []passage) { all = append(all, comments...) })
	return all, err
}

// sources reads all Go files except dialect.go, which quotes the patterns.
func (t *tree) sources(read func(file string, comments, literals []passage)) error {
	listed, err := t.git("ls-files", "--", "*.go")
	if err != nil {
		return err
	}
	for _, file := range strings.Fields(listed) {
		if file == counter {
			continue
		}
		text, err := os.ReadFile(filepath.Join(t.root, file))
		if err != nil {
			return err
		}
		comments, literals, err := source(file, text)
		if err != nil {
			return err
		}
		read(file, comments, literals)
	}
	return nil
}

// subjects returns the commit subjects since the first commit with this command. A
// shallow clone does not have that commit, and has no subjects.
func (t *tree) subjects() (all []passage, err error) {
	shallow, err := t.git("rev-parse", "--is-shallow-repository")
	if err != nil || strings.TrimSpace(shallow) == "true" {
		return nil, err
	}
	added, err := t.git("log", "--diff-filter=A", "--format=%H", "--", counter)
	first := strings.Fields(added)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	listed, err := t.git("log", "--no-merges", "--format=%h %s", first[len(first)-1]+"..HEAD")
	for line := range strings.Lines(listed) {
		commit, subject, _ := strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, passage{file: commit, text: subject})
	}
	return all, err
}

func (t *tree) git(args ...string) (string, error) {
	command := exec.Command("git", args...)
	command.Dir = t.root
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}

// readAllowed returns the number of patterns that the comments of each file may have. A
// file that is not in the list may have 0.
func readAllowed(file string) (map[string]int, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := map[string]int{}
	for line := range strings.Lines(string(text)) {
		count, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, fmt.Errorf("%s: a line has no number: %q", file, line)
		}
		all[name] = n
	}
	return all, nil
}

// writeAllowed writes the patterns of each file, most first.
func writeAllowed(file string, hits map[string]int) error {
	names := slices.SortedFunc(maps.Keys(hits), func(a, b string) int {
		if hits[a] != hits[b] {
			return hits[b] - hits[a]
		}
		return strings.Compare(a, b)
	})
	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "%d %s\n", hits[name], name)
	}
	return os.WriteFile(file, []byte(text.String()), 0o644)
}
