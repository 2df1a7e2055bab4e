package main

import (
	"regexp"
	"strings"
)

// words returns the parts of a text between spaces that have a letter or a digit.
func words(text string) (all []string) {
	for _, w := range strings.Fields(text) {
		if strings.ContainsFunc(w, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }) {
			all = append(all, w)
		}
	}
	return all
}

var (
	codeSpan = regexp.MustCompile("`[^`]+`")
	linked   = regexp.MustCompile(`\[([^]]+)\]\([^)]+\)`)
	marker   = regexp.MustCompile(`^\s*(- |\d+\. |#+ )`)
	ended    = regexp.MustCompile(`[.?!]["')*]*\s+`)
)

// fewest is the minimum number of words of a sentence.
const fewest = 4

// sentences returns the sentences of a Markdown text: of its paragraphs, of each item
// of a list and of each cell of a table. Code has no sentences, and a span of code is
// one word. A text with fewer than four words is a label, and not a sentence.
func sentences(text string) (all []string) {
	fenced, paragraph := false, ""
	end := func() {
		for _, s := range ended.Split(paragraph, -1) {
			if len(words(s)) >= fewest {
				all = append(all, strings.TrimSpace(s))
			}
		}
		paragraph = ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced || strings.HasPrefix(line, "```") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "<!--") {
			end()
			continue
		}
		line = linked.ReplaceAllString(codeSpan.ReplaceAllString(line, "code"), "$1")
		if row, is := strings.CutPrefix(line, "|"); is {
			for _, cell := range strings.Split(row, "|") {
				end()
				paragraph = cell
			}
			end()
			continue
		}
		if line == "" || marker.MatchString(line) {
			end()
		}
		paragraph += " " + marker.ReplaceAllString(line, "")
	}
	end()
	return all
}
