package wiring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Credentials in a file or an environment variable need no settings of AWS, and errors
// name the field and not the secret.
func TestLocalCredentialsOfGitHub(t *testing.T) {
	isolated(t, "") // sets the environment, so the test is not parallel
	const app = `{"appId": 1, "installationId": 2, "privateKey": "hunter2"}`
	for _, c := range []struct{ field, content, want string }{
		{"tokenEnv", "github_pat_x", ""},
		{"tokenFile", "github_pat_x\n", ""},
		{"tokenEnv", "", "read repository.github.tokenEnv: environment variable SECRET is not set"},
		{"tokenFile", "", "read repository.github.tokenFile: FILE is empty"},
		{"tokenFile", "hunter2 hunter2", "repository.github.tokenFile: FILE: token: contains spaces"},
		{"tokenEnv", "-----BEGIN RSA PRIVATE KEY-----\nhunter2", "repository.github.tokenEnv: environment variable SECRET: contains only a private key. Write JSON with appId"},
		{"appFile", "-----BEGIN RSA PRIVATE KEY-----\nhunter2", "repository.github.appFile: FILE: contains only a private key. Write JSON with appId"},
		{"appFile", "hunter2", "repository.github.appFile: FILE: contains no JSON of a GitHub App. For a token, use tokenSecret, tokenFile or tokenEnv"},
		{"appFile", app, "repository.github.appFile: FILE: privateKey: is not PEM"},
		{"appEnv", app, "repository.github.appEnv: environment variable SECRET: privateKey: is not PEM"},
	} {
		file := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		place := file
		if strings.HasSuffix(c.field, "Env") {
			place = "SECRET"
		}
		o := opener(t, "state: {memory: {}}\nrepository: {github: {repository: team/site, "+c.field+": "+place+"}}")
		o.Getenv = func(string) string { return c.content }
		read, err := o.credentials(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		credentials, err := read(t.Context())
		want := strings.ReplaceAll(c.want, "FILE", file)
		switch {
		case want == "":
			if err != nil || credentials.Token != "github_pat_x" {
				t.Errorf("%s: token %q, error %v", c.field, credentials.Token, err)
			}
		case err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: error %v, want %q without the secret", c.field, err, want)
		}
	}
}
