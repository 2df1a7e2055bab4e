package config

import (
	"embed"
	"regexp"
	"strings"

	"github.com/gitlatch/gitlatch/internal/strict"
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

// APIVersion is the version of all documents.
const APIVersion = "gitlatch.dev/v1alpha1"

// The kinds of document.
const (
	KindConfig = "Config"
	KindPolicy = "Policy"
	KindFleet  = "Fleet"
)

var purpose = map[string]string{
	KindConfig: "how a site is run: the file for --config",
	KindPolicy: "how workloads are latched: the file on the branch",
	KindFleet:  "which sites a fleet has: the file that fleet of a Config names",
}

// document returns a document of a kind, given the fields of its own.
func document(kind string, fields strict.Object) strict.Document {
	return strict.Document{APIVersion: APIVersion, Kind: kind, Object: fields, Others: purpose}
}

// KindOf returns the kind that a document names; "" is none that there is.
func KindOf(data []byte) string {
	for kind := range purpose {
		if regexp.MustCompile(`(?m)^kind:\s*["']?` + kind + `["']?\s*(#.*)?$`).Match(data) {
			return kind
		}
	}
	return ""
}

// Modeline is the comment by which editors find the schema of a kind of document.
func Modeline(kind string) string {
	return "# yaml-language-server: $schema=https://" + APIVersion + "/" + strings.ToLower(kind) + ".json\n"
}
