package term

import (
	"strings"
	"unicode/utf8"
)

// gap is the number of spaces between two columns.
const gap = 2

// Table returns rows with aligned columns, two spaces apart and with an indent of two.
// align has one letter for each column: l for left, r for right. A row may have fewer
// columns.
func Table(align string, rows ...[]string) string {
	width := widths(len(align), rows)
	var out strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for c, text := range row {
			if align[c] == 'l' {
				line.WriteString(strings.Repeat(" ", gap) + padded(text, width[c]))
			} else {
				line.WriteString(strings.Repeat(" ", gap+width[c]-utf8.RuneCountInString(text)) + text)
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}

// Rows returns the lines of each row of a table. The last column is a sentence. Rows
// folds it in its own column, so that no line is wider than columns; 0 does not fold. If
// the other columns leave too little room, the sentence is below them. The first row is
// the heading. All rows have the same number of columns.
func Rows(rows [][]string, columns int) [][]string {
	last := len(rows[0]) - 1
	width, facts := widths(last+1, rows), 0
	for _, n := range width[:last] {
		facts += n + gap
	}
	below := columns > 0 && columns-facts < min(narrowest, width[last])
	lines := make([][]string, len(rows))
	for i, row := range rows {
		indent := ""
		for c, fact := range row[:last] {
			indent += padded(fact, width[c]+gap)
		}
		sentence := row[last:]
		switch {
		case below:
			lines[i] = []string{strings.TrimRight(indent, " ")}
			indent, sentence = strings.Repeat(" ", gap), Fold(row[last], columns-gap)
		case columns > 0:
			sentence = Fold(row[last], columns-facts)
		}
		for _, line := range sentence {
			lines[i] = append(lines[i], strings.TrimRight(indent+line, " "))
			indent = strings.Repeat(" ", utf8.RuneCountInString(indent))
		}
	}
	return lines
}

// widths returns the widths of the first columns. A row may have fewer columns.
func widths(columns int, rows [][]string) []int {
	width := make([]int, columns)
	for _, row := range rows {
		for c, text := range row[:min(len(row), columns)] {
			width[c] = max(width[c], utf8.RuneCountInString(text))
		}
	}
	return width
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", width-utf8.RuneCountInString(text))
}
