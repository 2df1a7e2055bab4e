package repomem

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// An edit puts lines in the place of others.
type edit struct {
	from, to int // of the lines that were
	lines    []string
}

func edits(was, is []string) (all []edit) {
	for _, op := range difflib.NewMatcher(was, is).GetOpCodes() {
		if op.Tag != 'e' {
			all = append(all, edit{op.I1, op.I2, is[op.J1:op.J2]})
		}
	}
	return all
}

// mergeLines merges what two sides made of a text. ok is false where their edits
// touch, which git calls a conflict too.
func mergeLines(was, ours, theirs string) (merged string, ok bool) {
	lines := strings.SplitAfter(was, "\n")
	mine, others := edits(lines, strings.SplitAfter(ours, "\n")), edits(lines, strings.SplitAfter(theirs, "\n"))
	for _, a := range mine {
		for _, b := range others {
			if a.from <= b.to && b.from <= a.to {
				return "", false
			}
		}
	}
	all := slices.SortedFunc(slices.Values(slices.Concat(mine, others)), func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range all {
		lines = slices.Replace(lines, e.from, e.to, e.lines...)
	}
	return strings.Join(lines, ""), true
}

func union(a, b map[string]string) map[string]string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}
