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
	if err := os.WriteFile(deploy, s.Key, 0o600); err != nil {
		t.Fatal(err)
	}
	other := gitserver.StartSSH(t)
	environment := map[string]string{"DEPLOY": string(s.Key), "SIGN": string(gitserver.PEM(t, private)), "JUNK": "hunter2"}
	for _, c := range []struct{ name, auth, signing, want string }{
		{name: "a key in a variable", auth: "sshKeyEnv: DEPLOY, hostKeys: ['" + s.HostKeys()[0] + "']"},
		{name: "a key in a file, and commits signed", auth: "sshKeyFile: " + deploy + ", hostKeys: ['" + s.HostKeys()[0] + "']", signing: "keyEnv: SIGN"},
		{name: "another host", auth: "sshKeyEnv: DEPLOY, hostKeys: ['" + other.HostKeys()[0] + "']", want: "not pinned"},
		{name: "another key", auth: "sshKeyEnv: SIGN, hostKeys: ['" + s.HostKeys()[0] + "']", want: "rejects git with the key"},
		{name: "no key", auth: "sshKeyEnv: NONE, hostKeys: ['" + s.HostKeys()[0] + "']", want: "read repository.auth.sshKeyEnv: environment variable NONE is not set"},
		{name: "junk for a key", auth: "sshKeyEnv: JUNK, hostKeys: ['" + s.HostKeys()[0] + "']", want: "not a private key"},
		{name: "junk to sign by", auth: "sshKeyEnv: DEPLOY, hostKeys: ['" + s.HostKeys()[0] + "']", signing: "keyEnv: JUNK", want: "commit.signing: the key is not a private key"},
		{name: "no passphrase", auth: "sshKeyEnv: DEPLOY, hostKeys: ['" + s.HostKeys()[0] + "']", signing: "keyEnv: SIGN, passphraseEnv: NONE", want: "read commit.signing.passphraseEnv: environment variable NONE is not set"},
	} {
		t.Run(c.name, func(t *testing.T) {
			document := "state: {memory: {}}\nrepository: {url: '" + s.URL("shop") + "', auth: {" + c.auth + "}}\n"
			if c.signing != "" {
				document += "commit: {signing: {" + c.signing + "}}\n"
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
