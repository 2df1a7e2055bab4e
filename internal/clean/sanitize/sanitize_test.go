package sanitize_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "",
		"2 of 20 pods are ready: 10 %":      "2 of 20 pods are ready: 10 %",
		"a\n\nSigned-off-by: b":             "a Signed-off-by: b",
		"\x1b[31mred\x1b[0m":                "(31mred (0m",
		"\x1b]0;title\x07rest\x9b2J":        ")0;title rest 2J",
		"a\u202eb\u2066c\u200bd\ufeffe":     "a b c d e",
		"done [skip ci]":                    "done (skip ci)",
		"***NO_CI***":                       "*NO_CI*",
		"fixes #12, shop/web#3 and AB#7":    "fixes # 12, shop/web# 3 and AB# 7",
		"closes GH-12 and team/app!5":       "closes GH 12 and team/app! 5",
		"@team see <@U012> or <!channel>":   "@ team see <@ U012> or <! channel>",
		"by jane@example.org":               "by jane@example.org",
		"app@sha256:0011":                   "app@sha256:0011",
		"fixes https://h/o/r/issues/12":     "fixes https://h/o/r/issues/ 12",
		"see https://example.org/runbook#a": "see https://example.org/runbook# a",
		strings.Repeat("x", 300):            strings.Repeat("x", 300),
		strings.Repeat("ü", 301):            strings.Repeat("ü", 297) + "...",
	} {
		if got := sanitize.Words(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// order matches the text that hosts, pipelines and chats act on. Only its words ignore the
// case: a \w that does also matches ſ, in which no tool sees a letter of a name.
var order = regexp.MustCompile(`(?i:\[[^\]]*(skip|ci)[^\]]*\])|(?i:\*\*\*NO_CI)|[#!]\w|(^|\W)@\w|(?i:\bGH-\d)|(?i:/(issues|pull|merge_requests|work_items)/\d)`)

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"\x1b[31m[skip ci]", "fixes #12 @team", "*\x00****", "[[ci skip]]", "\u202e\u0085\xff", "GH-1 http://h/pull/2", "!ſ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := sanitize.Words(text)
		switch {
		case sanitize.Words(got) != got:
			t.Errorf("%q becomes %q, and that becomes %q", text, got, sanitize.Words(got))
		case order.MatchString(got):
			t.Errorf("%q becomes %q, in which %q is an order", text, got, order.FindString(got))
		case strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) || !utf8.ValidString(got):
			t.Errorf("%q becomes %q, which is not printable", text, got)
		case utf8.RuneCountInString(got) > 300:
			t.Errorf("%q becomes %d characters", text, utf8.RuneCountInString(got))
		}
	})
}
