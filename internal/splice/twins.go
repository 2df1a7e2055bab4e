package splice

import (
	"cmp"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// twins returns for each key of a mapping that is there more than once the line
// of another. Keys are compared as they are where YAML becomes JSON, in which
// 1, "1" and 0x1 are one.
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

// keyText returns a key as JSON has it; ok is false for a list or a mapping.
func keyText(k *yaml.Node) (text string, ok bool) {
	if k.Kind == yaml.AliasNode {
		k = k.Alias
	}
	if k.Kind != yaml.ScalarNode {
		return "", false
	}
	if k.Tag == "!!str" {
		if k.Style == 0 {
			switch strings.ToLower(k.Value) { // in YAML 1.1
			case "yes", "on":
				return "true", true
			case "no", "off":
				return "false", true
			}
		}
		return k.Value, true
	}
	var value any
	if k.Decode(&value) != nil {
		return k.Value, true
	}
	return fmt.Sprint(value), true
}
