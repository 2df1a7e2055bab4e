package yamldoc

import (
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Rule is a condition for a complete value. It is checked after all inner values were
// read.
type Rule struct {
	// Check reports a problem if the value at the path violates the rule.
	Check func(r *Reader, path string)
	// Schema is the same rule for an editor; nil if a schema cannot express it.
	Schema Schema
}

func check(rules []Rule, r *Reader, path string) {
	for _, rule := range rules {
		rule.Check(r, path)
	}
}

// AtMostOne is the rule that at most one of two fields is set.
func AtMostOne(names ...string) Rule {
	return Rule{func(r *Reader, path string) { r.choice(path, names) }, Schema{"not": Schema{"required": names}}}
}

// OneOf is the rule that exactly one of the fields is set.
func OneOf(names ...string) Rule {
	return Rule{func(r *Reader, path string) {
		if r.choice(path, names) == 0 {
			r.Report(path, "must contain one of %s", strings.Join(names, ", "))
		}
	}, Schema{"oneOf": Each(names)}}
}

// AnyOf is the rule that at least one of the fields is set.
func AnyOf(names ...string) Rule {
	return Rule{func(r *Reader, path string) {
		if len(r.Standing(path, names)) == 0 {
			r.Report(path, "must contain at least one of %s", strings.Join(names, ", "))
		}
	}, Schema{"anyOf": Each(names)}}
}

func (r *Reader) choice(path string, names []string) int {
	found := r.Standing(path, names)
	if len(found) > 1 {
		r.Report(path, "must contain only one of %s, got %s", strings.Join(names, ", "), strings.Join(found, " and "))
	}
	return len(found)
}

// Needs is the rule that a field requires one of the other fields.
func Needs(name, reason string, of ...string) Rule {
	return Rule{func(r *Reader, path string) {
		if at := Child(path, name); r.Line(at) > 0 && len(r.Standing(path, of)) == 0 {
			r.Report(at, "requires %s: %s", strings.Join(of, " or "), reason)
		}
	}, Schema{"anyOf": append([]any{Schema{"not": Schema{"required": []string{name}}}}, Each(of)...)}}
}

// Standing returns the fields of an object that are in the document.
func (r *Reader) Standing(path string, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return r.Line(Child(path, name)) == 0 })
}

// Each returns one schema for each field, which requires the field.
func Each(names []string) []any {
	return lists.Map(names, func(name string) any { return Schema{"required": []string{name}} })
}
