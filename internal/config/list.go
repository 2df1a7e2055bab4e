package config

import "github.com/gitlatch/gitlatch/internal/yamldoc"

// texts binds a list of texts of a form. The advice none is for an empty list.
func texts[S ~string](into *[]S, none string, form yamldoc.Form, checks ...func(string) error) yamldoc.List {
	return yamldoc.List{Must: "a list such as [a, b]", None: none, Item: func() yamldoc.Value {
		return yamldoc.Taken(form, func(text string) { *into = append(*into, S(text)) }, checks...)
	}}
}

// pairs binds a mapping from texts to texts of a form.
func pairs(into *map[string]string, form yamldoc.Form) yamldoc.Map {
	return yamldoc.Map{Must: "a mapping such as {app: web}", Entry: func(key string) (yamldoc.Value, error) {
		return yamldoc.Taken(form, func(text string) {
			if *into == nil {
				*into = map[string]string{}
			}
			(*into)[key] = text
		}), nil
	}}
}

// items binds a list of objects. fields returns the fields of one object.
func items[T any](into *[]*T, fields func(*T) yamldoc.Object, rules ...yamldoc.Rule) yamldoc.List {
	return yamldoc.List{Must: "a list", Rules: rules, Item: func() yamldoc.Value {
		*into = append(*into, new(T))
		return fields((*into)[len(*into)-1])
	}}
}

// A firsts maps a value that must be unique in a list to the index of its first item.
type firsts map[any]int

func (f firsts) before(i int, what any) (before int, twice bool) {
	before, twice = f[what]
	if !twice {
		f[what] = i
	}
	return before, twice
}
