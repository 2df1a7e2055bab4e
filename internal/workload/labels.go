package workload

import (
	"slices"
	"strings"
)

// Labels are those of an object, by key. They are a list: of a few, which most objects
// have, a map takes three times as much, and was a tenth of what a tick holds.
type Labels []Label

// A Label is one of an object's labels.
type Label struct{ Key, Value string }

// LabelsOf returns labels as Kubernetes has them.
func LabelsOf(labels map[string]string) Labels {
	all := make(Labels, 0, len(labels))
	for key, value := range labels {
		all = append(all, Label{key, value})
	}
	slices.SortFunc(all, func(a, b Label) int { return strings.Compare(a.Key, b.Key) })
	return all
}

// Has reports whether one of the labels is of a key and a value.
func (l Labels) Has(key, value string) bool { return slices.Contains(l, Label{key, value}) }

// Map returns the labels as Kubernetes has them.
func (l Labels) Map() map[string]string {
	all := make(map[string]string, len(l))
	for _, one := range l {
		all[one.Key] = one.Value
	}
	return all
}
