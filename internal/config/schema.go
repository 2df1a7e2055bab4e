package config

import (
	"strings"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// APIVersion is the version of all documents.
const APIVersion = "gitlatch.dev/v1alpha1"

// The kinds of document.
const (
	KindConfig = "Config"
	KindPolicy = "Policy"
	KindFleet  = "Fleet"
)

var purpose = map[string]string{
	KindConfig: "the configuration of a site or of a fleet's functions, for --config",
	KindPolicy: "the policy of a site, a file on the branch",
	KindFleet:  "the list of a fleet's sites, which fleet of a Config names",
}

// document returns a document of a kind with its specific fields.
func document(kind string, fields yamldoc.Object) yamldoc.Document {
	return yamldoc.Document{APIVersion: APIVersion, Kind: kind, Object: fields, Others: purpose}
}

// read parses a document into the variables of its fields. The error is *yamldoc.Errors.
func read(name string, data []byte, d yamldoc.Document) error {
	r := yamldoc.NewReader(name)
	r.Read(data, d)
	return r.Err()
}

// ParseKind returns the kind of the document in a file. It returns an error if gitlatch
// does not support the kind.
func ParseKind(name string, data []byte) (string, error) {
	r := yamldoc.NewReader(name)
	kind := r.Kind(data, APIVersion, KindConfig, KindPolicy, KindFleet)
	if kind == "" {
		return "", r.Err()
	}
	return kind, nil
}

// Modeline returns the comment that leads editors to the schema of a kind of document.
func Modeline(kind string) string {
	return "# yaml-language-server: $schema=https://" + APIVersion + "/" + strings.ToLower(kind) + ".json\n"
}
