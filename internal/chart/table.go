package chart

import (
	"strings"
	"unicode/utf8"
)

// Table returns rows with their columns aligned, two spaces apart and after an
// indent of two. align has a letter a column: l for left, r for right. Rows may
// be short.
func Table(align string, rows ...[]string) string {
	width := make([]int, len(align))
	for _, row := range rows {
		for c, text := range row {
			width[c] = max(width[c], utf8.RuneCountInString(text))
		}
	}
	var out strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for c, text := range row {
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(text))
			line.WriteString("  ")
			if align[c] == 'r' {
				line.WriteString(pad + text)
			} else {
				line.WriteString(text + pad)
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}
