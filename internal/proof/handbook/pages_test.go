package handbook

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/term"
)

// pages are the texts of the README and of all topics, by file from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"README.md": string(readme)}
	for _, topic := range docs.Topics() {
		all["internal/docs/"+topic.Name+".md"] = topic.Text
	}
	return all
}

// A file that is in no group cannot be found.
func TestEachFileIsATopicOfOneGroup(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "internal/docs/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	var named, there []string
	for _, topic := range docs.Topics() {
		named = append(named, topic.Name)
	}
	for _, file := range files {
		there = append(there, strings.TrimSuffix(filepath.Base(file), ".md"))
	}
	slices.Sort(named)
	slices.Sort(there)
	if !slices.Equal(named, there) {
		t.Errorf("groups name %q, and the files are %q", named, there)
	}
}

func TestATopicBeginsWithATitleAndASentence(t *testing.T) {
	t.Parallel()
	for _, topic := range docs.Topics() {
		if !strings.HasPrefix(topic.Text, "# "+topic.Title+"\n\n") || topic.Title == "" {
			t.Errorf("%s: title %q", topic.Name, topic.Title)
		}
		if s := topic.Summary; !strings.HasSuffix(s, ".") || strings.Contains(s, ". ") || strings.Contains(s, "\n") {
			t.Errorf("%s: its summary is not one sentence: %q", topic.Name, s)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	texts := pages(t)
	for file, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.HasPrefix(target, "https://") {
				continue
			}
			to := filepath.ToSlash(filepath.Join(filepath.Dir(file), target))
			if target == "" {
				to = file
			}
			if _, err := os.Stat(filepath.Join(root, to)); err != nil {
				t.Errorf("%s links %s, which is not there", file, m[1])
			}
			if anchor != "" && !slices.Contains(anchors(texts[to]), anchor) {
				t.Errorf("%s links %s, which has no such heading", file, m[1])
			}
		}
	}
}

// anchors returns the anchors that git hosts create for a text's headings.
func anchors(text string) (all []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			words := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(strings.TrimLeft(line, "# ")), "")
			all = append(all, strings.ReplaceAll(words, " ", "-"))
		}
	}
	return all
}

var inRepository = regexp.MustCompile("`((?:infra|internal|scripts|testdata|functions)/[^`<*\\s]*)`")

func TestPathsThatPagesNameAreThere(t *testing.T) {
	t.Parallel()
	for file, text := range pages(t) {
		for _, m := range inRepository.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", file, m[1])
			}
		}
	}
}

// A row that is printed as a list omits its empty cells.
func TestAnEmptyCellHasNoLabel(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	page := term.NewPage(term.Style{})
	docs.Topic{Text: "| what | older | newer |\n|---|---|---|\n| state | | refused: update gitlatch |\n| output | fields are only ever added | |\n"}.Show(page)
	if err := page.Print(&out); err != nil {
		t.Fatal(err)
	}
	if want := "state\n  newer: refused: update gitlatch\noutput\n  older: fields are only ever added\n"; out.String() != want {
		t.Errorf("got\n%swant\n%s", &out, want)
	}
}

// A user reads a topic in a terminal of 80 columns. Code is not wrapped, because users
// copy it.
func TestTopicsFitATerminal(t *testing.T) {
	t.Parallel()
	for _, topic := range docs.Topics() {
		var out strings.Builder
		page := term.NewPage(term.Style{})
		topic.Show(page)
		if err := page.Print(&out); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			line = strings.TrimSuffix(line, "\n")
			if n := len([]rune(line)); n > 80 && !strings.Contains(topic.Text, strings.TrimSpace(line)) {
				t.Errorf("%s: %d columns: %s", topic.Name, n, line)
			}
			if strings.Contains(line, "](") || strings.HasPrefix(line, "|") {
				t.Errorf("%s shows marks of Markdown: %s", topic.Name, line)
			}
		}
	}
}
