// Package docs contains the handbook. Each topic is one embedded Markdown file, so the
// command can print the pages that match its version.
package docs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.md
var files embed.FS

// A Topic is one page of the handbook. Its file starts with a title and a summary of one
// sentence.
type Topic struct {
	Name    string // name of the file, without .md
	Title   string
	Summary string
	Text    string // content of the file, in Markdown
}

// A Group contains the topics of one purpose, in reading order.
type Group struct {
	Title  string
	Topics []Topic
}

// groups lists the topics of the handbook.
var groups = []struct {
	title string
	names string
}{
	{"Start", "quickstart concepts comparison install"},
	{"Set up", "apply git-hosts aws cluster workloads ci"},
	{"Run", "drill backtest runbook restore troubleshooting security"},
	{"Reference", "config cli measured develop"},
}

// Groups returns all topics, in groups.
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

// Topics returns all topics in the order of the groups.
func Topics() []Topic {
	var all []Topic
	for _, g := range Groups() {
		all = append(all, g.Topics...)
	}
	return all
}

// Find returns the topic with the name, and reports whether it exists.
func Find(name string) (Topic, bool) {
	text, err := files.ReadFile(name + ".md")
	if err != nil {
		return Topic{}, false
	}
	parts := slices.Concat(strings.SplitN(string(text), "\n\n", 3), []string{"", ""})
	return Topic{name, strings.TrimPrefix(parts[0], "# "), strings.TrimSpace(parts[1]), string(text)}, true
}

// Text returns the text of a topic, or "" if the topic does not exist.
func Text(name string) string {
	t, _ := Find(name)
	return t.Text
}
