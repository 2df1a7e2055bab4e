package config

import (
	"bytes"
	"embed"
	"encoding/json"
	"strings"
	"time"
)

//go:embed schema/*.json
var schemas embed.FS

// Schema returns the JSON schema of a kind of document, for editors; nil for a
// kind that there is not.
func Schema(kind string) []byte {
	text, err := schemas.ReadFile(schemaFile(kind))
	if err != nil {
		return nil
	}
	return text
}

func schemaFile(kind string) string { return "schema/" + strings.ToLower(kind) + ".json" }

// generateSchema makes the schema of a kind from its table of fields.
func generateSchema(kind string) ([]byte, error) {
	var fields []field
	var rules []rule
	switch kind {
	case KindConfig:
		c := start()
		fields, rules = configFields(&c), configRules()
	case KindFleet:
		fields = fleetFields(new([]*Member))
	case KindPolicy:
		fields = newPolicyDocument(5*time.Minute, nil).fields()
	}
	s := document(kind, fields, rules...).schema()
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
