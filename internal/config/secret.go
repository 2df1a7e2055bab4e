package config

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// A Secret is the location of a secret, never the secret itself. At most one of the fields
// is set. The zero value has no location.
type Secret struct {
	Env  string // an environment variable
	File string // a file; white space at its end is ignored
	Name string // name or ARN of a secret in AWS Secrets Manager
}

// Read returns the secret in an environment variable or a file, or "" for any other value:
// this package does not read Secrets Manager. field is the configuration field for errors.
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
			return "", fmt.Errorf("read %s: %w", field, err)
		}
		return secret, nil
	}
	return "", nil
}

// At returns the location of the secret for errors. field is the same as for Read.
func (s Secret) At(field string) string {
	switch {
	case s.Env != "":
		return field + ": environment variable " + s.Env
	case s.Name != "":
		return field + ": secret " + s.Name
	}
	return field + ": " + s.File
}

// secretForms ends the description of a secret.
const secretForms = "; use `env:NAME`, `file:PATH`, or `secret:NAME-OR-ARN` for AWS Secrets Manager"

const (
	// Upper case only: few secrets that are written here by mistake match this.
	secretShape = `^(env:[A-Z_][A-Z0-9_]*|file:.+|secret:[A-Za-z0-9/_+=.@][-A-Za-z0-9/_+=.@:]*)$`
	// tokenShape is the pattern of a token of GitHub or GitLab in place of a name.
	tokenShape = `^secret:(gh[a-z]_|github_pat_|glpat-)`
)

// secret binds the location of a secret. Its problems never show the value, which may be
// the secret itself.
func secret(into *Secret) yamldoc.Scalar {
	form := yamldoc.Text(secretShape, "env:NAME, file:PATH or secret:NAME-OR-ARN, not the secret itself").Hide()
	form.Schema["not"] = schema{"pattern": tokenShape}
	path := file(&into.File)
	return yamldoc.Scalar{Form: form, Path: &into.File, Take: func(text string) error {
		if regexp.MustCompile(tokenShape).MatchString(text) {
			return yamldoc.ErrForm
		}
		place, name, _ := strings.Cut(text, ":")
		switch place {
		case "env":
			into.Env = name
		case "secret":
			into.Name = name
		default:
			return path.Take(name)
		}
		return nil
	}}
}
