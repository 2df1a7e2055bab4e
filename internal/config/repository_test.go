package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

func TestSecretsAreReadFromWhereTheyAreSaidToBe(t *testing.T) {
	t.Parallel()
	held := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(held, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	blank := filepath.Join(t.TempDir(), "blank")
	if err := os.WriteFile(blank, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string { return map[string]string{"TOKEN": "from-env\n"}[name] }
	for name, c := range map[string]struct {
		at        Secret
		want, err string
	}{
		"nothing":               {},
		"a variable":            {at: Secret{Env: "TOKEN"}, want: "from-env"},
		"a file":                {at: Secret{File: held}, want: "from-file"},
		"a variable not set":    {at: Secret{Env: "NONE"}, err: "read repository.credential: environment variable NONE is not set"},
		"a file that is absent": {at: Secret{File: held + "x"}, err: "read repository.credential: open "},
		"a file that is empty":  {at: Secret{File: blank}, err: "is empty"},
	} {
		got, err := c.at.Read("repository.credential", getenv)
		if got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: got %q, error %v, want %q, %q", name, got, err, c.want, c.err)
		}
	}
}

// Paths in a Config do not depend on the folder in which a command runs.
func TestPathsAreFromTheFolderOfTheConfig(t *testing.T) {
	t.Parallel()
	const document = `apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod
cluster: {kubeconfig: kube/config}
state: {bolt: %[1]sprod.db}
repository: {url: %[2]s}
drills: drills
alerts: {webhook: file:hook}
`
	for name, c := range map[string]struct{ state, url, wantState, wantURL string }{
		"beside it":  {"", "fleet.git", "/etc/gitlatch/prod.db", "/etc/gitlatch/fleet.git"},
		"above it":   {"../", "../fleet.git", "/etc/prod.db", "/etc/fleet.git"},
		"absolute":   {"/var/", "/srv/fleet.git", "/var/prod.db", "/srv/fleet.git"},
		"a URL":      {"", "https://git.example.com/fleet.git", "/etc/gitlatch/prod.db", "https://git.example.com/fleet.git"},
		"over SSH":   {"", "git@git.example.com:fleet.git, credential: file:key", "/etc/gitlatch/prod.db", "git@git.example.com:fleet.git"},
		"a file URL": {"", "file:///srv/fleet.git", "/etc/gitlatch/prod.db", "file:///srv/fleet.git"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseConfig("/etc/gitlatch/prod.yaml", fmt.Appendf(nil, document, c.state, c.url))
			if err != nil {
				t.Fatal(err)
			}
			if got.State.Bolt != c.wantState || got.Repository.URL != c.wantURL {
				t.Errorf("got %s and %s, want %s and %s", got.State.Bolt, got.Repository.URL, c.wantState, c.wantURL)
			}
			if got.Cluster.Kubeconfig != "/etc/gitlatch/kube/config" || got.Drills.Dir != "/etc/gitlatch/drills" || got.Alerts.Webhook.File != "/etc/gitlatch/hook" {
				t.Errorf("got %+v", got)
			}
		})
	}
	for _, name := range []string{Variable, "prod.yaml"} {
		if got, err := ParseConfig(name, fmt.Appendf(nil, document, "", "fleet.git")); err != nil || got.State.Bolt != "prod.db" {
			t.Errorf("%s: got %s, error %v", name, got.State.Bolt, err)
		}
	}
}

func TestTheDefaultNeedsOnlyARepository(t *testing.T) {
	t.Setenv("HOME", "/home/ops")
	t.Setenv("XDG_CACHE_HOME", "/home/ops/.cache")
	c, err := Default("/srv/git/site.git")
	if err != nil {
		t.Fatal(err)
	}
	if c.Site != "local" || c.Repository.Branch != "main" || !strings.HasPrefix(filepath.Base(c.State.Bolt), "site-") || c.Period == 0 {
		t.Errorf("got %+v", c)
	}
	states := map[string]bool{}
	for _, url := range []string{"/srv/git/site.git", "/srv/other/site.git", "https://git.example.com/site.git", "site.git"} {
		c, err := Default(url)
		if err != nil {
			t.Fatal(err)
		}
		states[c.State.Bolt] = true
	}
	working, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Default(filepath.Join(working, "site.git")); err != nil || !states[c.State.Bolt] || len(states) != 4 {
		t.Errorf("%d state files of 4 repositories, and another one, %s, for the absolute path: %v", len(states), c.State.Bolt, err)
	}
	for _, bad := range []string{"", "git@example.com:site.git", "https://a:b@example.com/site.git"} {
		if _, err := Default(bad); err == nil {
			t.Errorf("Default(%q) is taken", bad)
		}
	}
}

func TestASiteIsWhatWorkloadCallsALabel(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "prod-eu", "1a", "-a", "a-", "A", "a.b", "a_b", "", strings.Repeat("a", 63), strings.Repeat("a", 64), "a\n"} {
		c := start()
		yamldoc.NewReader("f").Read([]byte("kind: Config\nsite: "+strconv.Quote(name)), configDocument(&c))
		if (c.Site != "") != workload.ValidLabel(name) {
			t.Errorf("site %q: read as %q, and workload.ValidLabel says %v", name, c.Site, workload.ValidLabel(name))
		}
	}
}

// A policy may match the kinds that it lists, in any order of its fields. A policy that
// matches an unlisted kind is refused, and the error names the field for kinds.
func TestAPolicyMatchesTheKindsOfItsSite(t *testing.T) {
	t.Parallel()
	source := []byte("apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\npolicies:\n- {name: workers, match: {kinds: [worker, deployment]}}\n")
	kinds := []byte("kinds:\n- {apiVersion: example.com/v1, kind: Worker, resource: workers}\n")
	set, err := ParsePolicy("gitlatch.yaml", slices.Concat(source, kinds), 5*time.Minute)
	if err != nil || !slices.Equal(set.Rules[0].Match.Kinds, []workload.Kind{"worker", workload.Deployment}) {
		t.Errorf("%+v, %v", set.Rules, err)
	}
	_, err = ParsePolicy("gitlatch.yaml", source, 5*time.Minute)
	if want := `gitlatch.yaml:4: policies[0].match.kinds[0]: must be one of daemonset, deployment, rollout, statefulset, or one that kinds of the policy names, got "worker"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
