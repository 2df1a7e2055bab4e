package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

type object = map[string]any

// prune returns a description with only some operations, by path and method.
func prune(whole object, called map[string][]string) (object, error) {
	paths, components := object{}, object{}
	all, _ := whole["paths"].(object)
	for path, methods := range called {
		held, ok := all[path].(object)
		if !ok {
			return nil, fmt.Errorf("there is no path %s", path)
		}
		kept := object{}
		for _, method := range methods {
			if kept[method], ok = held[method]; !ok {
				return nil, fmt.Errorf("path %s has no %s", path, method)
			}
		}
		paths[path] = strip(kept)
	}
	for todo := refs(paths); len(todo) > 0; todo = todo[1:] {
		kind, name, ok := strings.Cut(strings.TrimPrefix(todo[0], "#/components/"), "/")
		if !ok {
			return nil, fmt.Errorf("%s is no reference to a component", todo[0])
		}
		if _, have := dig(components, kind)[name]; have {
			continue
		}
		of, _ := whole["components"].(object)
		source, _ := of[kind].(object)
		found, ok := source[name]
		if !ok {
			return nil, fmt.Errorf("there is no %s", todo[0])
		}
		dig(components, kind)[name] = strip(found)
		todo = append(todo, refs(dig(components, kind)[name])...)
	}
	return object{
		"openapi": whole["openapi"], "info": whole["info"], "servers": whole["servers"],
		"paths": paths, "components": components,
	}, nil
}

func dig(in object, key string) object {
	below, ok := in[key].(object)
	if !ok {
		below = object{}
		in[key] = below
	}
	return below
}

// documentation are the fields without an effect. A property may have the same name:
// then its value is a schema, which is an object.
var documentation = []string{"example", "examples", "externalDocs", "tags", "x-github", "x-octokit", "summary"}

// strip returns a value without documentation. Descriptions stay, because some are
// required.
func strip(value any) any {
	switch v := value.(type) {
	case []any:
		kept := make([]any, len(v))
		for i := range v {
			kept[i] = strip(v[i])
		}
		return kept
	case object:
		kept := object{}
		for key, below := range v {
			if key == "properties" {
				properties := object{}
				for name, schema := range below.(object) {
					properties[name] = strip(schema)
				}
				kept[key] = properties
				continue
			}
			if !slices.Contains(documentation, key) {
				kept[key] = strip(below)
			}
		}
		return kept
	}
	return value
}

// refs returns the references in a value, sorted.
func refs(value any) (found []string) {
	switch v := value.(type) {
	case []any:
		for _, below := range v {
			found = append(found, refs(below)...)
		}
	case object:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if ref, ok := v[key].(string); ok && key == "$ref" {
				found = append(found, ref)
				continue
			}
			found = append(found, refs(v[key])...)
		}
	}
	return found
}
