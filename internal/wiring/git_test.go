package wiring

import (
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// The repository uses the configured keys and hosts: the key for the login, the trusted
// host, and the signing key.
func TestARepositoryOverSSHIsOpenedAsConfigured(t *testing.T) {
	t.Parallel()
	s := gitserver.StartSSH(t)
	o := s.Create(t, "shop", map[string]string{"a": "1"})
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	deploy := filepath.Join(t.TempDir(), "deploy")
	other := gitserver.StartSSH(t)
	if err := os.WriteFile(deploy, []byte(s.HostKeys()[0]+"\n"+string(s.Key)), 0o600); err != nil {
		t.Fatal(err)
	}
	signs := string(gitserver.PEM(t, private))
	environment := map[string]string{"DEPLOY": s.HostKeys()[0] + "\n" + string(s.Key), "SIGN": signs, "JUNK": "hunter2 hunter2", "TOKEN": "hunter2",
		"OTHERHOST": other.HostKeys()[0] + "\n" + string(s.Key), "OTHERKEY": s.HostKeys()[0] + "\n" + signs}
	for _, c := range []struct{ name, credential, signing, want string }{
		{name: "a key in a variable", credential: "credential: env:DEPLOY"},
		{name: "a key in a file, and commits signed", credential: "credential: file:" + deploy, signing: "signingKey: env:SIGN"},
		{name: "another host", credential: "credential: env:OTHERHOST", want: "not pinned"},
		{name: "another key", credential: "credential: env:OTHERKEY", want: "rejects git with the key"},
		{name: "no key", credential: "credential: env:NONE", want: "read repository.credential: environment variable NONE is not set"},
		{name: "junk for a key", credential: "credential: env:JUNK", want: "repository.credential: environment variable JUNK: is not a token, user:token or a private key"},
		{name: "a token for a key", credential: "credential: env:TOKEN", want: "repository.credential: environment variable TOKEN: contains a token, and repository.url is an ssh URL"},
		{name: "junk to sign by", credential: "credential: env:DEPLOY", signing: "signingKey: env:JUNK", want: "commit.signingKey: the key is not a private key"},
		{name: "no passphrase", credential: "credential: env:DEPLOY", signing: "signingKey: env:SIGN, signingPassphrase: env:NONE", want: "read commit.signingPassphrase: environment variable NONE is not set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			document := "state: {memory: {}}\nrepository: {url: '" + s.URL("shop") + "', " + c.credential + "}\n"
			if c.signing != "" {
				document += "commit: {" + c.signing + "}\n"
			}
			opened := opener(t, document)
			id, err := oneCommit(t, opened, func(name string) string { return environment[name] }, o.Tip("main"))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "PRIVATE") {
					t.Errorf("error %v, want %q in it and no secret", err, c.want)
				}
				return
			}
			if err != nil || o.Tip("main") != id {
				t.Fatalf("commit %q, %v", id, err)
			}
			if raw := string(o.Raw(t, "commit", id)); strings.Contains(raw, "gpgsig -----BEGIN SSH SIGNATURE-----") != (c.signing != "") {
				t.Errorf("the commit is\n%s", raw)
			}
		})
	}
}

func oneCommit(t *testing.T, o *Opener, getenv func(string) string, parent string) (string, error) {
	t.Helper()
	o.Getenv = getenv
	r, _, err := o.Repository(t.Context())
	if err != nil {
		return "", err
	}
	return r.Commit(t.Context(), repo.Commit{
		Parent: parent, Files: map[string][]byte{"a": []byte(parent)}, Message: "latch(prod-eu): a level\n",
		When: time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC),
	})
}
