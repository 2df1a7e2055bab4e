package config

import (
	"fmt"
	"os"
	"strings"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// A Secret is the location of a secret, never the secret itself. The zero value has no
// location.
type Secret struct {
	Env  string // an environment variable
	File string // a file; white space at its end is ignored
}

// Read returns the secret, or "" for the zero value. field is the configuration field for
// errors, without its suffix Env or File.
func (s Secret) Read(field string, getenv func(string) string) (string, error) {
	switch {
	case s.Env != "":
		if secret := strings.TrimSpace(getenv(s.Env)); secret != "" {
			return secret, nil
		}
		return "", fmt.Errorf("read %s is not set", s.At(field))
	case s.File != "":
		content, err := os.ReadFile(s.File)
		secret := strings.TrimSpace(string(content))
		if err == nil && secret == "" {
			err = fmt.Errorf("%s is empty", s.File)
		}
		if err != nil {
			return "", fmt.Errorf("read %sFile: %w", field, err)
		}
		return secret, nil
	}
	return "", nil
}

// At returns the location of the secret for errors. field is the same as for Read.
func (s Secret) At(field string) string {
	if s.Env != "" {
		return field + "Env: environment variable " + s.Env
	}
	return field + "File: " + s.File
}

func webhookFields(s *Secret) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Optional("urlEnv", "environment variable that contains the URL of the webhook", yamldoc.Into(&s.Env, variable)),
		yamldoc.Optional("urlFile", "path of the file that contains the URL of the webhook", file(&s.File)),
	).With(yamldoc.OneOf("urlEnv", "urlFile"))
}
