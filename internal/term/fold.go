package term

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Narrow is the width that text is folded to if no terminal is wider, in columns.
const Narrow = 80

// narrowest is the smallest width that text is folded to. Names of workloads leave little
// room on a narrow terminal.
const narrowest = 24

// Fold breaks a text between words into lines of at most width columns. It does not
// separate a number from its %. It breaks a wider name after a / or -, but not a URL.
func Fold(text string, width int) (lines []string) {
	width = max(width, narrowest)
	line := ""
	words := strings.Fields(text)
	for i := len(words) - 1; i > 0; i-- {
		if strings.HasPrefix(words[i], "%") {
			words = slices.Replace(words, i-1, i+1, words[i-1]+" "+words[i])
		}
	}
	for i := 0; i < len(words); i++ {
		word := words[i]
		if utf8.RuneCountInString(word) > width && !strings.Contains(word, "://") {
			if at := strings.LastIndexAny(word[:width], "/-"); at > 0 {
				words = slices.Insert(words, i+1, word[at+1:])
				word = word[:at+1]
			}
		}
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
