// Package sanitize makes text from a cluster, a server or a user's file safe to repeat in
// errors, logs, alerts, terminals, commits and pull requests.
package sanitize

import (
	"regexp"
	"strings"
	"unicode"
)

// longest is the maximum number of characters of a text.
const longest = 300

// Line returns text as one printable line of limited length, without control characters,
// terminal escapes, and characters that change the direction of text or are invisible.
func Line(text string) string { return line(text, longest) }

// MostAnswer is the maximum number of characters of a server's answer.
const MostAnswer = 8 << 10

// Answer returns the answer of a server as Line does, up to MostAnswer characters. The rule
// that refuses a request can come late in a long answer.
func Answer(text string) string { return line(text, MostAnswer) }

func line(text string, longest int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(text); len(runes) > longest {
		text = strings.TrimRight(string(runes[:longest-3]), " ") + "..."
	}
	return text
}

// orders are the texts that tools obey in a commit, a pull request or a message, and
// their replacements.
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

// Words returns Line of a text in which no tool finds an order to skip a pipeline, to
// close an issue or to notify users.
func Words(text string) string {
	text = strings.ToValidUTF8(text, " ")
	for _, o := range orders {
		text = o.is.ReplaceAllString(text, o.instead)
	}
	return Line(text)
}
