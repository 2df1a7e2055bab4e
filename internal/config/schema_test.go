package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

func TestTheSchemasAreThoseOfTheTables(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{KindConfig, KindPolicy, KindFleet} {
		want, err := generateSchema(kind)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(schemaFile(kind), want, 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got := schemaIn(t, kind); !bytes.Equal(got, want) {
			t.Errorf("the schema of %s is not that of its fields: run go test ./internal/config -update and read the diff", kind)
		}
	}
}

// schemaFile is the file with the JSON schema of a kind of document, for editors.
func schemaFile(kind string) string { return "schema/" + strings.ToLower(kind) + ".json" }

func schemaIn(t *testing.T, kind string) []byte {
	t.Helper()
	data, err := os.ReadFile(schemaFile(kind))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// generateSchema generates the schema of a kind from its table of fields.
func generateSchema(kind string) ([]byte, error) {
	c := start()
	s := schemaOf(map[string]yamldoc.Document{
		KindConfig: configDocument(&c),
		KindFleet:  fleetDocument(new([]*Member)),
		KindPolicy: document(KindPolicy, newPolicyDocument(5*time.Minute).fields()),
	}[kind].Whole())
	if kind == KindPolicy { // a policy takes the omitted fields from its preset
		undefault(s["properties"].(schema)["policies"])
		undefault(s["properties"].(schema)["default"])
	}
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["$id"] = "https://gitlatch.dev/v1alpha1/" + strings.ToLower(kind) + ".json"
	s["title"] = "gitlatch " + kind
	s["description"] = purpose[kind]
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(s)
	return text.Bytes(), err
}

// undefault removes all defaults from a schema of fields.
func undefault(v any) {
	s, _ := v.(schema)
	delete(s, "default")
	for _, inner := range s {
		undefault(inner)
	}
}

// schemaOf returns the schema of a value.
func schemaOf(v yamldoc.Value) schema {
	switch v := v.(type) {
	case yamldoc.Object:
		return schemaOfObject(v)
	case yamldoc.List:
		s := schema{"type": "array", "items": schemaOf(v.Item())}
		if v.None != "" {
			s["minItems"] = 1
		}
		if s = ruled(s, v.Rules); v.Or.Take != nil {
			return schema{"oneOf": []any{v.Or.Form.Schema, s}}
		}
		return s
	case yamldoc.Map:
		one, _ := v.Entry("")
		return ruled(schema{"type": "object", "minProperties": 1, "additionalProperties": schemaOf(one)}, v.Rules)
	case yamldoc.Scalar:
		s := maps.Clone(v.Schema)
		var holds any
		if v.Holds != "" && yaml.Unmarshal([]byte(v.Holds), &holds) == nil {
			s["default"] = holds
		}
		return s
	}
	panic("a value without a schema")
}

func schemaOfObject(o yamldoc.Object) schema {
	properties := schema{}
	var required []string
	for _, f := range o.Fields {
		s := schemaOf(f.Value)
		s["description"] = f.Doc
		properties[f.Name] = s
		if f.Required {
			required = append(required, f.Name)
		}
	}
	s := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		s["required"] = required
	}
	return ruled(s, o.Rules)
}

// ruled adds the schemas of the rules to a schema.
func ruled(s schema, rules []yamldoc.Rule) schema {
	var all []any
	for _, rule := range rules {
		if rule.Schema != nil {
			all = append(all, rule.Schema)
		}
	}
	if all != nil {
		s["allOf"] = all
	}
	return s
}

// The loader refuses every document that a schema refuses. The opposite is also true,
// except if a fixture states why the schema cannot refuse it.
func TestSchemaAndLoaderJudgeAlike(t *testing.T) {
	t.Parallel()
	compiled := map[string]*jsonschema.Schema{KindConfig: compile(t, KindConfig), KindPolicy: compile(t, KindPolicy), KindFleet: compile(t, KindFleet)}
	for _, f := range fixtures(t, "good") {
		if err := validate(t, compiled[f.kind], f.data); err != nil {
			t.Errorf("%s: the loader takes it, the schema does not: %v", f, err)
		}
	}
	for _, f := range fixtures(t, "bad") {
		err := validate(t, compiled[f.kind], f.data)
		switch {
		case err == nil && f.schema == "":
			t.Errorf("%s: the schema takes it: make it refuse, or say in the fixture why it cannot", f)
		case err != nil && f.schema != "":
			t.Errorf("%s: the fixture says that the schema cannot tell, and it can", f)
		}
	}
}

func compile(t *testing.T, kind string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemaIn(t, kind)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(schemaFile(kind), doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(schemaFile(kind))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate returns a schema's error about the first document in data, as an editor
// shows it. Data that is not a document, or has no form in JSON, passes.
func validate(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	text, ok := asJSON(data)
	if !ok {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(value)
}

func asJSON(data []byte) (text []byte, ok bool) {
	var node yaml.Node
	var doc any
	err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&node)
	switch {
	case errors.Is(err, io.EOF): // empty is null
	case err != nil, loosen(&node).Decode(&doc) != nil:
		return nil, false
	}
	text, err = json.Marshal(doc)
	return text, err == nil
}

// loosen drops the earlier of two equal keys, as editors do.
func loosen(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		last := map[string]int{}
		for i := 0; i < len(n.Content); i += 2 {
			last[n.Content[i].Value] = i
		}
		var kept []*yaml.Node
		for i := 0; i < len(n.Content); i += 2 {
			if last[n.Content[i].Value] == i {
				kept = append(kept, n.Content[i:i+2]...)
			}
		}
		n.Content = kept
	}
	for _, child := range n.Content {
		loosen(child)
	}
	return n
}

// A document with every field of the schema, each with a value of the wrong type, causes
// one problem for each field: the loader supports all fields, and no problem hides
// another.
func TestTheLoaderKnowsEachFieldOfTheSchema(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{KindConfig, KindPolicy} {
		var s map[string]any
		if err := json.Unmarshal(schemaIn(t, kind), &s); err != nil {
			t.Fatal(err)
		}
		var leaves []string
		doc := wrong(s, "", &leaves).(map[string]any)
		doc["apiVersion"], doc["kind"] = APIVersion, kind
		text, err := yaml.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		found := problemsOf(kind, text)
		for _, p := range found {
			if strings.Contains(p.Text, "unknown field") {
				t.Errorf("the schema of %s has a field that the loader does not know: %s", kind, p.Path)
			}
		}
		for _, leaf := range leaves {
			if leaf == "apiVersion" || leaf == "kind" {
				continue
			}
			if !slices.ContainsFunc(found, func(p yamldoc.Problem) bool { return p.Path == leaf || strings.HasPrefix(p.Path, leaf+"[") }) {
				t.Errorf("%s %s: a wrong type draws no problem", kind, leaf)
			}
		}
		if len(leaves) < 15 {
			t.Errorf("the schema of %s has only the fields %v", kind, leaves)
		}
	}
}

func wrong(s map[string]any, path string, leaves *[]string) any {
	if properties, ok := s["properties"].(map[string]any); ok && len(properties) > 0 {
		doc := map[string]any{}
		for name, property := range properties {
			doc[name] = wrong(property.(map[string]any), yamldoc.Child(path, name), leaves)
		}
		return doc
	}
	if items, ok := s["items"].(map[string]any); ok && items["type"] == "object" {
		return []any{wrong(items, yamldoc.Index(path, 0), leaves)}
	}
	if s["deprecated"] == nil { // otherwise the loader ignores its value
		*leaves = append(*leaves, path)
	}
	return []any{map[string]any{"wrong": []any{}}}
}

func problemsOf(kind string, data []byte) []yamldoc.Problem {
	var err error
	if kind == KindConfig {
		_, err = ParseConfig("config.yaml", data)
	} else {
		_, err = ParsePolicy("gitlatch.yaml", data, 5*time.Minute)
	}
	var all *yamldoc.Errors
	errors.As(err, &all)
	if all == nil {
		return nil
	}
	return all.Problems
}
