package config

import "fmt"

// Variable is the environment variable with the document of kind Config of a function.
const Variable = "GITLATCH_CONFIG"

// FromEnvironment parses the document in Variable. Its errors are the errors of
// ParseConfig, with the name of the variable.
func FromEnvironment(getenv func(string) string) (Config, error) {
	document := getenv(Variable)
	if document == "" {
		return Config{}, fmt.Errorf("environment variable %s must contain a document of kind Config", Variable)
	}
	return ParseConfig(Variable, []byte(document))
}
