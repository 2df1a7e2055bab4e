// Package foreign makes the words of others fit to be repeated. What a cluster, a
// server or a person's file says goes on into errors, logs and alerts, onto
// terminals, and into commits and proposals, where machines read it, too.
package foreign

import (
	"regexp"
	"strings"
	"unicode"
)

// longest is how many characters are repeated of what another said.
const longest = 300

// Line is text on one line, printable and not endless: without control
// characters, escapes of terminals, and characters that turn the direction of text
// or are not seen.
func Line(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(text); len(runes) > longest {
		text = strings.TrimRight(string(runes[:longest-3]), " ") + "..."
	}
	return text
}

// orders are what machines that read a commit, a proposal or a message obey, and
// what is said in their place.
var orders = []struct {
	is      *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\[`), "("}, // [skip ci], [ci skip], [skip deploy]
	{regexp.MustCompile(`\]`), ")"},
	{regexp.MustCompile(`\*{2,}`), "*"},              // ***NO_CI***
	{regexp.MustCompile(`([#!])(\w)`), "$1 $2"},      // fixes #12, AB#12, group/project!12, <!channel>
	{regexp.MustCompile(`(^|\W)@(\w)`), "$1@ $2"},    // @team, <@U012>; not image@sha256
	{regexp.MustCompile(`(?i)\b(GH)-(\d)`), "$1 $2"}, // fixes GH-12
	{regexp.MustCompile(`(?i)(/(?:issues|pull|merge_requests|work_items)/)(\d)`), "$1 $2"},
}

// Words are text as Line has it, in which no machine finds an order: to skip a
// pipeline, to close an issue, to call people.
func Words(text string) string {
	text = strings.ToValidUTF8(text, " ")
	for _, o := range orders {
		text = o.is.ReplaceAllString(text, o.instead)
	}
	return Line(text)
}
