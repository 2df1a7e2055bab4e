package signing_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/signing"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const passphrase = "hunter2 and more"

var when = time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)

// A made key has its private key, and its public key in the form that git needs.
type made struct {
	private []byte
	pass    string
	public  string // a line of an allowed signers file
}

func ofSSH(t *testing.T, key crypto.Signer, pass string) made {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if pass != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(pass))
	}
	must(t, err)
	public, err := ssh.NewPublicKey(key.Public())
	must(t, err)
	return made{pem.EncodeToMemory(block), pass, "robot@example.com " + string(ssh.MarshalAuthorizedKey(public))}
}

// keys returns one key of each kind that can sign.
func keys(t *testing.T) map[string]made {
	t.Helper()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	return map[string]made{
		"ed25519":                   ofSSH(t, ed, ""),
		"ed25519 with a passphrase": ofSSH(t, ed, passphrase),
		"ecdsa":                     ofSSH(t, ec, ""),
		"rsa":                       ofSSH(t, big, ""),
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t *testing.T, m made) *signing.Key {
	t.Helper()
	key, err := signing.Open(m.private, []byte(m.pass))
	must(t, err)
	return key
}

// verify runs git verify-commit with the public key.
func verify(t *testing.T, o *gitserver.Origin, commit string, m made) (string, error) {
	t.Helper()
	allowed := filepath.Join(t.TempDir(), "allowed")
	must(t, os.WriteFile(allowed, []byte(m.public), 0o600))
	cmd := exec.CommandContext(t.Context(), "git", "-C", o.Dir, "-c", "gpg.format=ssh", "-c", "gpg.ssh.allowedSignersFile="+allowed, "verify-commit", "--raw", commit)
	cmd.Env = gitserver.Environ()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// commit makes a signed commit through the repository, as a tick does.
func commit(t *testing.T, url string, parent string, key *signing.Key) string {
	t.Helper()
	r, err := gitwire.Open(gitwire.Options{URL: url, Branch: "main", Signer: key, TempDir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	id, err := r.Commit(t.Context(), repo.Commit{
		Parent:  parent,
		Files:   map[string][]byte{"checkpoints/prod/site.yaml": []byte("two\n")},
		Message: "latch(prod): shop/web 100 -> 200\n\nBecause.\n\nGitlatch-Site: prod\n",
		When:    when,
	})
	must(t, err)
	return id
}

// A process that does not know whether its commit reached the branch makes it again. The
// result must be the same commit.
func TestACommitIsSignedAlike(t *testing.T) {
	t.Parallel()
	for name, m := range keys(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"checkpoints/prod/site.yaml": "one\n"})
			parent := o.Tip("main")
			first := commit(t, o.Dir, parent, mustOpen(t, m))
			if again := commit(t, o.Dir, parent, mustOpen(t, m)); again != first || len(o.Log(t, "main")) != 2 {
				t.Errorf("made again it is %s, was %s", again, first)
			}
			if raw := string(o.Raw(t, "commit", first)); strings.Count(raw, "\ngpgsig -----BEGIN ") != 1 {
				t.Errorf("the commit is\n%s", raw)
			}
		})
	}
}

func TestAKeyThatCannotSignIsRefused(t *testing.T) {
	t.Parallel()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	locked := ofSSH(t, ed, passphrase)
	for _, c := range []struct{ name, key, pass, want string }{
		{"nothing", " \n", "", "is empty"},
		{"no key", "hunter2", "", "not a private key in PEM"},
		{"an OpenPGP key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nhunter2\n-----END PGP PRIVATE KEY BLOCK-----\n", "", "ssh-keygen"},
		{"no passphrase", string(locked.private), "", "has a passphrase"},
		{"another passphrase", string(locked.private), "hunter2", "does not match the key"},
	} {
		_, err := signing.Open([]byte(c.key), []byte(c.pass))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the secret: %v", c.name, err)
		}
	}
}
