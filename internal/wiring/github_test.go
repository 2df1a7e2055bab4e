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
		{"env", "github_pat_x", ""},
		{"file", "github_pat_x\n", ""},
		{"env", "", "read repository.credential: environment variable SECRET is not set"},
		{"file", "", "read repository.credential: FILE is empty"},
		{"file", "hunter2 hunter2", "repository.credential: FILE: token: contains spaces"},
		{"env", "-----BEGIN RSA PRIVATE KEY-----\nhunter2", "repository.credential: environment variable SECRET: contains only a private key. Write JSON with appId"},
		{"file", app, "repository.credential: FILE: privateKey: is not PEM"},
		{"env", app, "repository.credential: environment variable SECRET: privateKey: is not PEM"},
	} {
		file := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(file, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		place := file
		if c.field == "env" {
			place = "SECRET"
		}
		o := opener(t, "state: {memory: {}}\nrepository: {url: https://github.com/team/site, credential: "+c.field+":"+place+"}")
		o.Getenv = func(string) string { return c.content }
		credentials, err := o.credentials(t.Context())
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

func TestTheAPIOfAGitHubServer(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"https://github.com":         "https://api.github.com",
		"https://example.ghe.com":    "https://api.example.ghe.com",
		"https://github.example.com": "https://github.example.com/api/v3",
		"http://127.0.0.1:8080":      "http://127.0.0.1:8080/api/v3",
	} {
		if got := apiOf(server); got != want {
			t.Errorf("%s: got %s, want %s", server, got, want)
		}
	}
}
