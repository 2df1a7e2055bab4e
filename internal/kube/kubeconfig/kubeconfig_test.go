package kubeconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const two = `apiVersion: v1
kind: Config
current-context: blue
clusters:
- {name: blue, cluster: {server: "https://blue.test"}}
- {name: green, cluster: {server: "https://green.test"}}
users:
- {name: me, user: {token: hunter2}}
contexts:
- {name: blue, context: {cluster: blue, user: me}}
- {name: green, context: {cluster: green, user: me}}
- {name: astray, context: {cluster: red, user: me}}
- {name: nobody, context: {cluster: blue, user: you}}
`

func TestLoad(t *testing.T) {
	// Not parallel: it sets the environment.
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("two", two)
	astray := filepath.Join(dir, "nowhere")
	for name, c := range map[string]struct {
		choice      Choice
		environment string
		host, fails string
	}{
		"the present context":    {Choice{Path: good}, "", "https://blue.test", ""},
		"a chosen context":       {Choice{Path: good, Context: "green"}, "", "https://green.test", ""},
		"from the environment":   {Choice{}, good, "https://blue.test", ""},
		"the path wins":          {Choice{Path: good}, astray, "https://blue.test", ""},
		"first of several files": {Choice{}, astray + string(filepath.ListSeparator) + good, "https://blue.test", ""},
		"no such file":           {Choice{Path: astray}, "", "", "nowhere: no such file or directory"},
		"no file at all":         {Choice{}, astray, "", "nowhere: no such file"},
		"empty":                  {Choice{Path: file("empty", "")}, "", "", "empty: the file has no context"},
		"no such context":        {Choice{Path: good, Context: "red"}, "", "", `two: no context "red"; there are: astray, blue, green, nobody`},
		"no present context":     {Choice{Path: file("none", strings.Replace(two, "current-context: blue", "", 1))}, "", "", `no context ""; there are: astray, blue, green, nobody`},
		"no such cluster":        {Choice{Path: good, Context: "astray"}, "", "", `context "astray": no cluster "red"`},
		"no such user":           {Choice{Path: good, Context: "nobody"}, "", "", `context "nobody": no user "you"`},
		"nonsense":               {Choice{Path: file("nonsense", "contexts: {")}, "", "", "nonsense: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", dir)
			t.Setenv("KUBECONFIG", c.environment)
			config, err := Load(c.choice)
			switch {
			case c.fails == "" && err != nil:
				t.Fatal(err)
			case c.fails == "" && (config.Host != c.host || config.BearerToken != "hunter2"):
				t.Errorf("host %q, want %q", config.Host, c.host)
			case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
				t.Errorf("error %v, want %q", err, c.fails)
			case err != nil && strings.Contains(err.Error(), "hunter2"):
				t.Errorf("error tells the token: %v", err)
			}
		})
	}
}
