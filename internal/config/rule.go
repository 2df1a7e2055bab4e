package config

import "strings"

// A rule is about which fields of an object stand together.
type rule interface {
	// check reports at the object's path where its fields, which were read
	// before, break the rule.
	check(r *reader, path string)
	// schema says the same to an editor.
	schema() schema
}

// A choice is fields of an object of which at most one may stand; exactly one
// where it is required.
type choice struct {
	names    []string
	required bool
}

func (c choice) check(r *reader, path string) {
	found := r.standing(path, c.names)
	switch {
	case len(found) > 1:
		r.report(path, "must hold only one of %s, got %s", strings.Join(c.names, ", "), strings.Join(found, " and "))
	case len(found) == 0 && c.required:
		r.report(path, "must hold one of %s", strings.Join(c.names, ", "))
	}
}

func (c choice) schema() schema {
	if c.required {
		return schema{"oneOf": each(c.names)}
	}
	return schema{"not": schema{"required": c.names}}
}

// A companion is a field that means nothing unless one of others stands beside
// it.
type companion struct {
	name   string
	of     []string
	reason string
	// Where value is set, the rule is about the field's value when only.
	value *string
	only  string
}

func (c companion) check(r *reader, path string) {
	at := child(path, c.name)
	if r.lines[at] == 0 || c.value != nil && *c.value != c.only || len(r.standing(path, c.of)) > 0 {
		return
	}
	needs := "needs"
	if c.value != nil {
		needs = c.only + " needs"
	}
	r.report(at, "%s %s beside it: %s", needs, strings.Join(c.of, " or "), c.reason)
}

func (c companion) schema() schema {
	stands := schema{"required": []string{c.name}}
	if c.value != nil {
		stands["properties"] = schema{c.name: schema{"const": c.only}}
	}
	return schema{"anyOf": append([]any{schema{"not": stands}}, each(c.of)...)}
}

// standing returns which fields of an object stand in the document.
func (r *reader) standing(path string, names []string) []string {
	var found []string
	for _, name := range names {
		if r.lines[child(path, name)] > 0 {
			found = append(found, name)
		}
	}
	return found
}

func each(names []string) []any {
	all := make([]any, len(names))
	for i, name := range names {
		all[i] = schema{"required": []string{name}}
	}
	return all
}
