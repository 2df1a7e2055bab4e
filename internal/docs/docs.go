// Package docs is the handbook: one file a topic, embedded, so that each copy of
// the command explains itself. The files read the same on any git host.
package docs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// A Topic is one page of the handbook. Its file begins with a title and a summary
// of one sentence.
type Topic struct {
	Name    string // of its file, without .md
	Title   string
	Summary string
	Text    string // all of the file, in Markdown
}

// A Group is the topics of one purpose, in the order of reading.
type Group struct {
	Title  string
	Topics []Topic
}

// groups name the topics of the handbook.
var groups = []struct {
	title string
	names string
}{
	{"Start", "install quickstart concepts glossary comparison"},
	{"Guides", "protection admission flux argocd helm git-servers in-place pause backtest drill restore ci"},
	{"Run", "aws cluster fleet upgrade changelog uninstall disaster security"},
	{"Reference", "config policy cli annotations checkpoint controllers levels rollouts rights metrics"},
	{"Trouble", "troubleshooting traps alerts alarms"},
	{"Why", "design measured development"},
}

// Groups returns all topics.
func Groups() []Group {
	var all []Group
	for _, g := range groups {
		of := Group{Title: g.title}
		for _, name := range strings.Fields(g.names) {
			if t, ok := Find(name); ok {
				of.Topics = append(of.Topics, t)
			}
		}
		all = append(all, of)
	}
	return all
}

// Topics returns all topics, group by group.
func Topics() []Topic {
	var all []Topic
	for _, g := range Groups() {
		all = append(all, g.Topics...)
	}
	return all
}

// Find returns the topic of a name, and whether there is one.
func Find(name string) (Topic, bool) {
	text, err := files.ReadFile(name + ".md")
	if err != nil {
		return Topic{}, false
	}
	parts := slices.Concat(strings.SplitN(string(text), "\n\n", 3), []string{"", ""})
	return Topic{name, strings.TrimPrefix(parts[0], "# "), strings.TrimSpace(parts[1]), string(text)}, true
}

// Text returns the text of a topic; "" if there is none of that name.
func Text(name string) string {
	t, _ := Find(name)
	return t.Text
}
