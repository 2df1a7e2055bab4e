package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// find returns the workload of a site that a person means by namespace/name, or
// by namespace/kind/name where that is not enough.
func find(text string, among []workload.ID) (workload.ID, error) {
	return findIn("the site has", text, among)
}

// findAll is find for several.
func findAll(texts []string, among []workload.ID) (found []workload.ID, err error) {
	for _, text := range texts {
		id, err := find(text, among)
		if err != nil {
			return nil, err
		}
		found = append(found, id)
	}
	return found, nil
}

// findIn is find in something else that has workloads: "the files have".
func findIn(place, text string, among []workload.ID) (workload.ID, error) {
	var found []string
	var id workload.ID
	for _, one := range among {
		if one.Short() == text || one.String() == text {
			id, found = one, append(found, one.String())
		}
	}
	switch len(found) {
	case 0:
		return id, fmt.Errorf("workload %q: %s none by this name%s", text, place, nearest(text, among))
	case 1:
		return id, nil
	}
	return id, fmt.Errorf("workload %q: which of %s?", text, strings.Join(found, ", "))
}

// nearest lists what else is in the namespace, for the misspelt.
func nearest(text string, among []workload.ID) string {
	namespace, _, ok := strings.Cut(text, "/")
	if !ok {
		return "; want namespace/name"
	}
	var names []string
	for _, one := range among {
		if one.Namespace == namespace {
			names = append(names, one.Short())
		}
	}
	if names = slices.Compact(names); len(names) == 0 {
		return ", nor any in namespace " + namespace
	}
	if most := 10; len(names) > most {
		names = append(names[:most], "...")
	}
	return "; there are " + strings.Join(names, ", ")
}
