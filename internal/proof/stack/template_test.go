package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const root = "../../.."

// A template is a CloudFormation template with expanded short forms: !Ref x is {"Ref":
// "x"}.
type template struct {
	name string
	tree map[string]any
}

func read(t *testing.T, path string) template {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, path, string(text))
}

func parse(t *testing.T, name, text string) template {
	t.Helper()
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	v, err := writtenOut(document.Content[0])
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	tree, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%s: is no mapping", name)
	}
	return template{name, tree}
}

func writtenOut(n *yaml.Node) (any, error) {
	var v any
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if _, twice := m[key]; twice {
				return nil, fmt.Errorf("line %d: %s stands twice", n.Content[i].Line, key)
			}
			value, err := writtenOut(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			m[key] = value
		}
		v = m
	case yaml.SequenceNode:
		list := []any{}
		for _, item := range n.Content {
			value, err := writtenOut(item)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		v = list
	case yaml.ScalarNode:
		if function(n.Tag) != "" {
			v = n.Value
		} else if err := n.Decode(&v); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.Line, err)
		}
	default:
		return nil, fmt.Errorf("line %d: CloudFormation knows no aliases", n.Line)
	}
	name := function(n.Tag)
	if attribute, ok := v.(string); ok && name == "Fn::GetAtt" {
		resource, name, _ := strings.Cut(attribute, ".")
		v = []any{resource, name}
	}
	if name != "" {
		return map[string]any{name: v}, nil
	}
	return v, nil
}

// function returns the long name of a short form's tag, or "" if it is another tag.
func function(tag string) string {
	name, short := strings.CutPrefix(tag, "!")
	switch {
	case !short || strings.HasPrefix(name, "!"):
		return ""
	case name == "Ref" || name == "Condition":
		return name
	}
	return "Fn::" + name
}

// section returns a mapping at the top of the template, such as Resources.
func (t template) section(name string) map[string]any {
	section, _ := t.tree[name].(map[string]any)
	return section
}

// at follows keys and indices into a tree; it returns nil for a missing value.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

// list returns a value as a list. A value that is not a list becomes its only item.
func list(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}
