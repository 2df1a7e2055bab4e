package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	text := "# A title of four\n\nOne is short. Two `is a span of code` here. See [the page of it](page.md)!\n" +
		"It goes on over\ntwo lines.\n\n- An item is its own\n- Label\n\n    code is no sentence at all\n\n" +
		"| a cell of four | x |\n|---|---|\n\n```yaml\nfenced: is no sentence either\n```\n"
	want := []string{"A title of four", "Two code here", "See the page of it", "It goes on over two lines.", "An item is its own", "a cell of four"}
	want = slices.DeleteFunc(want, func(s string) bool { return len(words(s)) < fewest })
	if got := sentences(text); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWordsHaveALetterOrADigit(t *testing.T) {
	t.Parallel()
	if got := words("| a 10 % - `--flag` |"); len(got) != 3 {
		t.Errorf("got %q", got)
	}
}

// A sentence states one fact. Pages have no limit on words.
func TestMostSentencesAreShort(t *testing.T) {
	t.Parallel()
	p90, err := here.sentence()
	if err != nil {
		t.Fatal(err)
	}
	if p90 > sentenceMost {
		t.Errorf("90 %% of the sentences have up to %d words, and the limit is %d", p90, sentenceMost)
	}
}

// No page of the tree and no help has a sentence that has to be read twice.
func TestNoSentenceIsTooLong(t *testing.T) {
	t.Parallel()
	const most = 35
	listed := exec.Command("git", "ls-files", "*.md")
	listed.Dir = filepath.Join("..", "..")
	names, err := listed.Output()
	if err != nil {
		t.Fatal(err)
	}
	texts := helps(commands())
	for _, name := range strings.Fields(string(names)) {
		text, err := os.ReadFile(filepath.Join(listed.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	for _, where := range slices.Sorted(maps.Keys(texts)) {
		for _, s := range sentences(texts[where]) {
			if n := len(words(s)); n > most {
				t.Errorf("%s: %d words: %s", where, n, s)
			}
		}
	}
}
