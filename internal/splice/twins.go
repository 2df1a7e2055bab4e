package splice

import (
	"cmp"

	"go.yaml.in/yaml/v3"
)

// twins returns the line of an equal key for each key that a mapping has more than once.
// It compares keys by their text, so that 1 and "1" are equal, as after a conversion to
// JSON.
func twins(mapping *yaml.Node) map[*yaml.Node]int {
	first := make(map[string]*yaml.Node, len(mapping.Content)/2)
	var twin map[*yaml.Node]int
	for i := 0; i < len(mapping.Content); i += 2 {
		k := mapping.Content[i]
		says, ok := keyText(k)
		if !ok {
			continue
		}
		other, again := first[says]
		if !again {
			first[says] = k
			continue
		}
		if twin == nil {
			twin = map[*yaml.Node]int{}
		}
		twin[k] = other.Line
		twin[other] = cmp.Or(twin[other], k.Line)
	}
	return twin
}

// keyText returns the text of a key; ok is false for a list or a mapping.
func keyText(k *yaml.Node) (text string, ok bool) {
	if k.Kind == yaml.AliasNode {
		k = k.Alias
	}
	return k.Value, k.Kind == yaml.ScalarNode
}
