package report

import (
	"strings"
	"unicode/utf8"
)

// Rows returns the lines of each row of a table: a column a fact, and the last
// one, which is a sentence, folded below itself so that nothing is wider than so
// many columns; 0 folds nothing. Where the facts leave too little room the
// sentence stands below them. The first row is the head; all rows have as many
// facts.
func Rows(rows [][]string, columns int) [][]string {
	const gap = 2
	last := len(rows[0]) - 1
	widths, facts := make([]int, last), 0
	for c := range last {
		for _, row := range rows {
			widths[c] = max(widths[c], utf8.RuneCountInString(row[c]))
		}
		facts += widths[c] + gap
	}
	below := columns > 0 && columns-facts < narrowest
	lines := make([][]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for c, fact := range row[:last] {
			b.WriteString(fact + strings.Repeat(" ", widths[c]-utf8.RuneCountInString(fact)+gap))
		}
		sentence := []string{row[last]}
		switch {
		case below:
			lines[i] = []string{strings.TrimRight(b.String(), " ")}
			for _, line := range Fold(row[last], columns-gap) {
				lines[i] = append(lines[i], strings.Repeat(" ", gap)+line)
			}
			continue
		case columns > 0:
			sentence = Fold(row[last], columns-facts)
		}
		indent := b.String()
		for _, line := range sentence {
			lines[i] = append(lines[i], strings.TrimRight(indent+line, " "))
			indent = strings.Repeat(" ", facts)
		}
	}
	return lines
}
