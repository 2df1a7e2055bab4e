package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var here = &tree{root: filepath.Join("..", "..")}

func TestEachPatternFindsItsExample(t *testing.T) {
	t.Parallel()
	for _, r := range rules {
		found := hits(r.example)
		if len(found) != 1 || found[0].rule != r.name {
			t.Errorf("%s: %q has %+v", r.name, r.example, found)
		}
		if r.remedy == "" {
			t.Errorf("%s has no remedy", r.name)
		}
	}
}

// The words of a pattern are ordinary in other places.
func TestOrdinaryEnglishHasNoPattern(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"The rule is no longer in the cluster.",
		"To list the rights, see what the role allows.",
		"Of course, you can run it again.",
		"The first looks like the second.",
		"Install it too.",
		"Run it without the flag.",
	} {
		for _, h := range hits(text) {
			t.Errorf("%q has the pattern %s: %q", text, h.rule, h.text)
		}
	}
}

// A page in plain English has no hit.
func TestAPlainPageHasNoPattern(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/plain.md")
	if err != nil {
		t.Fatal(err)
	}
	m := measure(markdown("plain.md", string(text)))
	for _, h := range m.hits {
		t.Errorf("%s has the pattern %s: %q", h.where, h.rule, h.text)
	}
	if m.words < 150 {
		t.Errorf("the page has %d words", m.words)
	}
}

func TestAHitHasItsLine(t *testing.T) {
	t.Parallel()
	page := "# Title\n\nThe first line is plain.\nIt stays as\nit is.\n\n    code: it is decided anew\n\n| a cell | it waits for the next look |\n"
	var at []string
	for _, h := range measure(markdown("page.md", page)).hits {
		at = append(at, h.where)
	}
	if want := []string{"page.md:4", "page.md:9"}; !slices.Equal(at, want) {
		t.Errorf("in the page: got %q, want %q", at, want)
	}

	code := "package p\n\nimport \"fmt\"\n\n// A is a constant.\n// It says what it is.\nconst A = \"it stays as it is\"\n\nvar _ = fmt.Sprint(`short`)\n"
	comments, literals, err := source("code.go", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	at = nil
	for _, h := range measure(slices.Concat(comments, literals)).hits {
		at = append(at, h.where)
	}
	if want := []string{"code.go:6", "code.go:6", "code.go:7"}; !slices.Equal(at, want) {
		t.Errorf("in the code: got %q, want %q", at, want)
	}
}

// The text of the product stays within the limits of its surfaces.
func TestSurfacesAreWithinTheirLimits(t *testing.T) {
	t.Parallel()
	for _, s := range surfaces {
		passages, err := s.read(here)
		if err != nil {
			t.Fatal(err)
		}
		m := measure(passages)
		if m.perThousand() <= s.most {
			continue
		}
		t.Errorf("dialect_%s is %.1f, and its limit is %.1f", s.name, m.perThousand(), s.most)
	}
}

// The comments of a file have no more patterns than they had. A new file has no
// pattern.
func TestNoFileHasMorePatternsInItsComments(t *testing.T) {
	t.Parallel()
	allowed, err := readAllowed(filepath.Join(here.root, allowedFile))
	if err != nil {
		t.Fatal(err)
	}
	passages, err := here.comments()
	if err != nil {
		t.Fatal(err)
	}
	m := measure(passages)
	for file, n := range m.byFile() {
		if n <= allowed[file] {
			continue
		}
		t.Errorf("%s has %d patterns in its comments, and %d are allowed:", file, n, allowed[file])
		for _, h := range m.hits {
			if h.file == file {
				t.Errorf("  %s: %s: %q. %s", h.where, h.rule, h.text, h.remedy)
			}
		}
	}
}
