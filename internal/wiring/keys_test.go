//go:build aws

package wiring

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"os"
	"path/filepath"
	"slices"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/repo/signing"
	"github.com/gitlatch/gitlatch/internal/testenv/gitlab"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
)

// vaults starts a Secrets Manager with secrets, and sets the environment for the SDK. It
// counts the requests.
func vaults(t *testing.T, secrets map[string]string) *atomic.Int32 {
	t.Helper()
	server := moto.Start(t)
	client := secretsmanager.NewFromConfig(server.Config())
	for name, text := range secrets {
		if _, err := client.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name, SecretString: aws.String(text)}); err != nil {
			t.Fatal(err)
		}
	}
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	count := new(atomic.Int32)
	proxy := httputil.NewSingleHostReverseProxy(at)
	counting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(counting.Close)
	isolated(t, moto.Region)
	t.Setenv("AWS_ENDPOINT_URL", counting.URL)
	return count
}

// The branch requires signatures: git itself verifies each commit before the server
// accepts it. An unsigned commit shows that the server checks.
func TestKeysInSecretsLogInAndSign(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Fatalf("git verifies signatures with ssh-keygen: %v", err)
	}
	plain := gitserver.Start(t)
	plain.RequireAuth("x-access-token", "token-1")
	named := gitserver.Start(t)
	named.RequireAuth("x-token-auth", "token-2")
	overSSH := gitserver.StartSSH(t)
	host := gitlab.Start(t)
	host.Grant("token-3")
	private, key := gitserver.NewKey(t)
	signer := gitserver.Public(key)
	_, key = gitserver.NewKey(t)
	stranger := gitserver.Public(key)
	signs, err := signing.Open(private, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := gitserver.StartSSH(t)
	vaults(t, map[string]string{
		"token": "token-1\n", "user": "x-token-auth:token-2", "gitlab": "token-3", "signing": string(private),
		"key":      "git.example.com " + overSSH.HostKeys()[0] + "\n" + string(overSSH.Key),
		"alone":    string(overSSH.Key),
		"stranger": "git.example.com " + other.HostKeys()[0] + "\n" + string(overSSH.Key),
		"junk":     "hunter2",
	})
	for _, c := range []struct {
		name, url, secret, sign string
		origin                  *gitserver.Origin
		allowed                 string // the branch requires a signature of this key; "" requires none
		want                    string
	}{
		{"a token", plain.URL("a"), "token", "", plain.Create(t, "a", map[string]string{"a": "1"}), "", ""},
		{"a token, and a signature", plain.URL("b"), "token", "signing", plain.Create(t, "b", map[string]string{"a": "1"}), signer, ""},
		{"no signature", plain.URL("c"), "token", "", plain.Create(t, "c", map[string]string{"a": "1"}), signer, "is not signed by an allowed key"},
		{"another signature", plain.URL("d"), "token", "signing", plain.Create(t, "d", map[string]string{"a": "1"}), stranger, "is not signed by an allowed key"},
		{"a user and a token", named.URL("a"), "user", "signing", named.Create(t, "a", map[string]string{"a": "1"}), signer, ""},
		{"a project on GitLab", host.Repository("a"), "gitlab", "signing", host.Create(t, "a", map[string]string{"a": "1"}), signer, ""},
		{"a key, and a signature", overSSH.URL("a"), "key", "signing", overSSH.Create(t, "a", map[string]string{"a": "1"}), signer, ""},
		{"no host key", overSSH.URL("b"), "alone", "", overSSH.Create(t, "b", map[string]string{"a": "1"}), "",
			"no key is pinned for 127.0.0.1, and gitlatch trusts no unknown host. Print its keys with \"ssh-keyscan 127.0.0.1\", compare them with the published keys, and add them to the credential of the repository, before the private key"},
		{"an unknown host key", overSSH.URL("c"), "stranger", "", overSSH.Create(t, "c", map[string]string{"a": "1"}), "",
			"which is not pinned. Either the host changed its key, or someone intercepts the connection. gitlatch sent nothing. Compare the key with the published keys. If it is one of them, add it to the credential of the repository, before the private key: " + overSSH.HostKeys()[0]},
		{"a token over SSH", overSSH.URL("d"), "token", "", overSSH.Create(t, "d", map[string]string{"a": "1"}), "",
			"repository.credential: secret token: contains a token, and repository.url is an ssh URL. Store the private key and the lines of ssh-keyscan, or use the https URL"},
		{"a key over HTTP", plain.URL("e"), "key", "", plain.Create(t, "e", map[string]string{"a": "1"}), "", "secret key: contains a private key, and repository.url is not an ssh URL"},
		{"no such secret", plain.URL("f"), "gone", "", plain.Create(t, "f", map[string]string{"a": "1"}), "", "repository.credential: secret gone: create the secret, or correct its name and region"},
		{"another token", plain.URL("g"), "junk", "", plain.Create(t, "g", map[string]string{"a": "1"}), "", "401"},
		{"a signing key that is not a key", plain.URL("h"), "token", "junk", plain.Create(t, "h", map[string]string{"a": "1"}), "", "commit.signingKey: secret junk: the key is not a private key in PEM"},
	} {
		t.Run(c.name, func(t *testing.T) {
			document := "state: {memory: {}}\nrepository: {url: '" + c.url + "', credential: secret:" + c.secret + "}\n"
			if c.sign != "" {
				document += "commit: {signingKey: secret:" + c.sign + "}\n"
			}
			if c.allowed != "" {
				c.origin.RequireSignatures(t, c.allowed)
			}
			tip := c.origin.Tip("main")
			id, err := oneCommit(t, opener(t, document), func(string) string { return "" }, tip)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "PRIVATE") {
					t.Errorf("error %v, want %q in it and no secret", err, c.want)
				}
				if c.origin.Tip("main") != tip {
					t.Error("the branch moved")
				}
				return
			}
			if err != nil || c.origin.Tip("main") != id {
				t.Fatalf("commit %q, %v", id, err)
			}
			if c.sign == "" {
				return
			}
			c.origin.Git(t, "verify-commit", id)
			if shown := c.origin.Git(t, "log", "-1", "--format=%G? %GF", "--show-signature", id); !strings.Contains(shown, "G "+signs.Fingerprint()) {
				t.Errorf("git log shows %q", shown)
			}
		})
	}
}

// The members of a fleet read the secrets once, and again after a failed login.
func TestMembersShareTheSecrets(t *testing.T) {
	s := gitserver.Start(t)
	o := s.Create(t, "fleet", map[string]string{"a": "1"})
	count := vaults(t, map[string]string{"token": "token-1"})
	s.RequireAuth("x-access-token", "token-1")
	fleet := opener(t, "fleet: fleet.yaml\nstate: {memory: {}}\nrepository: {url: '"+s.URL("fleet")+"', credential: secret:token}")
	heads := func(of *Opener) {
		t.Helper()
		r, _, err := of.Repository(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if tip, _, err := r.Heads(t.Context()); err != nil || tip != o.Tip("main") {
			t.Errorf("tip %q, error %v", tip, err)
		}
	}
	heads(fleet)
	heads(fleet.Of(config.Member{Site: "prod-eu"}))
	heads(fleet.Of(config.Member{Site: "prod-us"}))
	if n := count.Load(); n != 1 {
		t.Errorf("%d requests to Secrets Manager, want 1", n)
	}
	fleet.Forget()
	heads(fleet.Of(config.Member{Site: "prod-us"}))
	if n := count.Load(); n != 2 {
		t.Errorf("%d requests to Secrets Manager after a failed login, want 2", n)
	}
}

// A secret that is corrected is used by the next request of the same repository.
func TestASecretIsReadAgainAfterAnError(t *testing.T) {
	s := gitserver.Start(t)
	o := s.Create(t, "shop", map[string]string{"a": "1"})
	s.RequireAuth("x-access-token", "token-1")
	vaults(t, map[string]string{"token": "{}"})
	of := opener(t, "state: {memory: {}}\nrepository: {url: '"+s.URL("shop")+"', credential: secret:token}")
	r, _, err := of.Repository(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Heads(t.Context()); err == nil || !strings.Contains(err.Error(), "secret token: contains JSON") {
		t.Errorf("error %v", err)
	}
	own, err := of.In(t.Context(), "region", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := secretsmanager.NewFromConfig(own).PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: aws.String("token"), SecretString: aws.String("token-1")}); err != nil {
		t.Fatal(err)
	}
	if tip, _, err := r.Heads(t.Context()); err != nil || tip != o.Tip("main") {
		t.Errorf("tip %q, error %v", tip, err)
	}
}

func TestGitLabOpensMergeRequestsWithTheToken(t *testing.T) {
	s := gitlab.Start(t)
	s.Create(t, "shop", map[string]string{"a": "1"})
	s.Grant("glpat-1")
	vaults(t, map[string]string{"git": "glpat-1"})
	for name, c := range map[string]struct{ auth, want string }{
		"a secret":         {"credential: secret:git", ""},
		"a variable":       {"credential: env:TOKEN", ""},
		"another variable": {"credential: env:OTHER", "GitLab answers 401"},
	} {
		t.Run(name, func(t *testing.T) {
			o := opener(t, "state: {memory: {}}\nrepository: {url: 'gitlab::"+s.Repository("shop")+"', mode: proposal, "+c.auth+"}")
			o.Getenv = func(name string) string { return map[string]string{"TOKEN": "glpat-1", "OTHER": "glpat-2"}[name] }
			_, p, err := o.Repository(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Find(t.Context(), "gitlatch/prod-eu")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// GitHub's secret is read before the first request, from the address in AWS's own
// variables.
func TestGitHubIsLoggedInToWithASecret(t *testing.T) {
	server := moto.Start(t)
	isolated(t, moto.Region)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	vault := secretsmanager.NewFromConfig(server.Config())
	if _, err := vault.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("gitlatch/token"), SecretString: aws.String("github_pat_x")}); err != nil {
		t.Fatal(err)
	}
	var shown []string
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, token, _ := r.BasicAuth()
		shown = append(shown, token)
		http.NotFound(w, r)
	}))
	defer host.Close()
	document := "state: {memory: {}}\nrepository: {url: 'github::" + host.URL + "/team/site', credential: secret:gitlatch/token}"
	r, proposals, err := opener(t, document).Repository(t.Context())
	if err != nil || proposals == nil || len(shown) > 0 {
		t.Fatalf("proposals %v, requests %v, error %v", proposals, shown, err)
	}
	if _, _, err := r.Heads(t.Context()); err == nil || len(slices.Compact(shown)) != 1 || shown[0] != "github_pat_x" {
		t.Errorf("requests with %q, error %v", shown, err)
	}
	r, _, err = opener(t, strings.Replace(document, "/token}", "/other}", 1)).Repository(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Heads(t.Context()); err == nil || !strings.Contains(err.Error(), "repository.credential: secret gitlatch/other: create the secret") {
		t.Errorf("error %v", err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := opener(t, strings.Replace(document, "repository: {", "repository: {caFile: "+ca+", ", 1)).Repository(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "repository.caFile: "+ca+" contains no PEM certificate") {
		t.Errorf("error %v", err)
	}
}

// A webhook may be in Secrets Manager, as any other secret.
func TestAWebhookInASecretIsReadForAnAlert(t *testing.T) {
	sent := 0
	hooks := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }))
	defer hooks.Close()
	vaults(t, map[string]string{"hook": hooks.URL + "/hunter2\n"}) // sets the environment, so the test is not parallel
	for name, want := range map[string]string{"hook": "", "gone": "alerts.webhook: secret gone: create the secret"} {
		o := opener(t, "state: {memory: {}}\nrepository: {url: 'https://git.example.com/site.git'}\nalerts: {webhook: secret:"+name+"}")
		alerts, err := o.Alerts(t.Context())
		if err != nil {
			t.Fatalf("%s: opening the alerts reads the secret: %v", name, err)
		}
		if err := alerts.Send(t.Context(), alert.Notice{Text: "a"}); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
	if sent != 1 {
		t.Errorf("%d alerts arrived", sent)
	}
}
