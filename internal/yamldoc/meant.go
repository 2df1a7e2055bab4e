package yamldoc

import (
	"slices"
	"strings"
)

// meant suggests the known name that is most similar to an unknown one, or lists the
// known names.
func meant(name string, known []string) string {
	far := func(k string) int { return distance(strings.ToLower(name), strings.ToLower(k)) }
	if len(known) > 0 {
		nearest := slices.MinFunc(known, func(a, b string) int { return far(a) - far(b) })
		if far(nearest) <= max(2, len(name)/3) {
			return "did you mean " + nearest + "?"
		}
	}
	return "known here: " + strings.Join(known, ", ")
}

// distance returns the Levenshtein distance, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
