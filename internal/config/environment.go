package config

import "fmt"

// Variable is the environment variable that holds the document of kind Config
// which a function runs by.
const Variable = "GITLATCH_CONFIG"

// FromEnvironment reads the document that Variable holds. Errors are as those of
// ParseConfig, by the name of the variable.
func FromEnvironment(getenv func(string) string) (Config, error) {
	document := getenv(Variable)
	if document == "" {
		return Config{}, fmt.Errorf("environment variable %s must contain a document of kind Config", Variable)
	}
	return ParseConfig(Variable, []byte(document))
}
