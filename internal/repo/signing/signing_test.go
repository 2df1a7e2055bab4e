package signing_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"golang.org/x/crypto/ssh"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/signing"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const passphrase = "hunter2 and more"

var (
	born = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	when = time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC)
)

// A made key has its private half, and its public half in the form that git needs.
type made struct {
	format  signing.Format
	private []byte
	pass    string
	public  string // a line of an allowed signers file, or an armoured key
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
	return made{signing.SSH, pem.EncodeToMemory(block), pass, "robot@example.com " + string(ssh.MarshalAuthorizedKey(public))}
}

func ofPGP(t *testing.T, config packet.Config, pass string) made {
	t.Helper()
	config.Time = func() time.Time { return born }
	entity, err := openpgp.NewEntity("Robot", "", "robot@example.com", &config)
	must(t, err)
	public := armoured(t, openpgp.PublicKeyType, func(b *bytes.Buffer) error { return entity.Serialize(b) })
	if pass != "" {
		must(t, entity.EncryptPrivateKeys([]byte(pass), &config))
	}
	private := armoured(t, openpgp.PrivateKeyType, func(b *bytes.Buffer) error { return entity.SerializePrivateWithoutSigning(b, &config) })
	return made{signing.OpenPGP, []byte(private), pass, public}
}

func armoured(t *testing.T, kind string, write func(*bytes.Buffer) error) string {
	t.Helper()
	var content, text bytes.Buffer
	must(t, write(&content))
	w, err := armor.Encode(&text, kind, nil)
	must(t, err)
	_, err = w.Write(content.Bytes())
	must(t, err)
	must(t, w.Close())
	return text.String()
}

// keys are one of each kind that signs.
func keys(t *testing.T) map[string]made {
	t.Helper()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	must(t, err)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	return map[string]made{
		"ssh ed25519":                   ofSSH(t, ed, ""),
		"ssh ed25519 with a passphrase": ofSSH(t, ed, passphrase),
		"ssh ecdsa":                     ofSSH(t, ec, ""),
		"ssh rsa":                       ofSSH(t, big, ""),
		"openpgp ed25519":               ofPGP(t, packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}, ""),
		"openpgp rsa":                   ofPGP(t, packet.Config{Algorithm: packet.PubKeyAlgoRSA, RSABits: 2048}, ""),
		"openpgp with a passphrase":     ofPGP(t, packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}, passphrase),
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustOpen(t *testing.T, m made) signing.Key {
	t.Helper()
	key, err := signing.Open(m.format, m.private, []byte(m.pass))
	must(t, err)
	return key
}

// verifies skips or fails the test without the program that verifies a format for git.
func verifies(t *testing.T, program string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("needs %s, which -short leaves out: run the test without -short", program)
	}
	_, err := exec.LookPath(program)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("git verifies by %s: %v", program, err)
	default:
		t.Skipf("needs %s, which git verifies by: %v", program, err)
	}
}

// verify runs git verify-commit with the public half of the key.
func verify(t *testing.T, o *gitserver.Origin, commit string, m made) (string, error) {
	t.Helper()
	home := t.TempDir()
	must(t, os.Chmod(home, 0o700)) // gpg warns of others
	args := []string{"-C", o.Dir}
	switch m.format {
	case signing.SSH:
		allowed := filepath.Join(home, "allowed")
		must(t, os.WriteFile(allowed, []byte(m.public), 0o600))
		args = append(args, "-c", "gpg.format=ssh", "-c", "gpg.ssh.allowedSignersFile="+allowed)
	case signing.OpenPGP:
		run := exec.CommandContext(t.Context(), "gpg", "--homedir", home, "--batch", "--no-autostart", "--quiet", "--import")
		run.Stdin = strings.NewReader(m.public)
		if out, err := run.CombinedOutput(); err != nil {
			t.Fatalf("gpg --import: %v\n%s", err, out)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", append(args, "verify-commit", "--raw", commit)...)
	cmd.Env = append(gitserver.Environ(), "GNUPGHOME="+home)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

var programs = map[signing.Format]string{signing.SSH: "ssh-keygen", signing.OpenPGP: "gpg"}

// commit makes a signed commit through the repository, as a tick does.
func commit(t *testing.T, url string, parent string, key gitwire.Signer) string {
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

func TestGitVerifiesWhatIsSigned(t *testing.T) {
	t.Parallel()
	all := keys(t)
	for name, m := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verifies(t, programs[m.format])
			o := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"checkpoints/prod/site.yaml": "one\n"})
			key := mustOpen(t, m)
			id := commit(t, o.Dir, o.Tip("main"), key)
			o.Check(t)
			out, err := verify(t, o, id, m)
			if err != nil {
				t.Fatalf("git verify-commit: %v\n%s\n%s", err, out, o.Raw(t, "commit", id))
			}
			if !strings.Contains(out, key.Fingerprint()) {
				t.Errorf("git says %q, want the fingerprint %s", out, key.Fingerprint())
			}
			if made := fmt.Sprint(when.Unix()); m.format == signing.OpenPGP && !strings.Contains(out, made) {
				t.Errorf("git says %q, want the time of the commit, %s", out, made)
			}
			if got := o.Git(t, "log", "-1", "--format=%B", id); !strings.HasSuffix(got, "Gitlatch-Site: prod\n") {
				t.Errorf("the message is %q", got)
			}

			// A signature is of one commit, and by one key.
			raw := string(o.Raw(t, "commit", id))
			forged := o.GitInput(t, strings.Replace(raw, "100 -> 200", "100 -> 900", 1), "hash-object", "-t", "commit", "-w", "--stdin")
			if out, err := verify(t, o, forged, m); err == nil {
				t.Errorf("git verifies a commit that was changed: %s", out)
			}
			for _, other := range []string{"ssh ecdsa", "openpgp rsa"} {
				if stranger := all[other]; other != name && stranger.format == m.format {
					if out, err := verify(t, o, id, stranger); err == nil {
						t.Errorf("git verifies it as signed by %s: %s", other, out)
					}
				}
			}
		})
	}
}

// A process that does not know whether its commit landed makes it again, and the result
// must be the same commit.
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
	locked, pgp, lockedPGP := ofSSH(t, ed, passphrase), ofPGP(t, packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}, ""), ofPGP(t, packet.Config{Algorithm: packet.PubKeyAlgoEdDSA}, passphrase)
	for _, c := range []struct {
		name      string
		format    signing.Format
		key, pass string
		want      string
	}{
		{"nothing", signing.SSH, " \n", "", "is empty"},
		{"no key of SSH", signing.SSH, "hunter2", "", "not a private key in PEM"},
		{"an OpenPGP key as one of SSH", signing.SSH, string(pgp.private), "", "such as ssh-keygen makes"},
		{"no passphrase", signing.SSH, string(locked.private), "", "has a passphrase"},
		{"another passphrase", signing.SSH, string(locked.private), "hunter2", "not that of the key"},
		{"no OpenPGP key", signing.OpenPGP, "hunter2", "", "no OpenPGP key"},
		{"a key of SSH as an OpenPGP key", signing.OpenPGP, string(locked.private), "", "no OpenPGP key"},
		{"a public half", signing.OpenPGP, pgp.public, "", "public half"},
		{"no passphrase of OpenPGP", signing.OpenPGP, string(lockedPGP.private), "", "has a passphrase"},
		{"another passphrase of OpenPGP", signing.OpenPGP, string(lockedPGP.private), "hunter2", "not that of the key"},
		{"no format", "x509", string(pgp.private), "", "ssh or openpgp"},
	} {
		_, err := signing.Open(c.format, []byte(c.key), []byte(c.pass))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the secret: %v", c.name, err)
		}
	}

	lifetime := ofPGP(t, packet.Config{Algorithm: packet.PubKeyAlgoEdDSA, KeyLifetimeSecs: 3600}, "")
	random := ofPGP(t, packet.Config{Algorithm: packet.PubKeyAlgoECDSA, Curve: packet.CurveNistP256}, "")
	for name, c := range map[string]struct {
		key  made
		when time.Time
		want string
	}{
		"one that has expired":               {lifetime, when, "has expired"},
		"one younger than the commit":        {pgp, born.Add(-time.Hour), "younger than the commit"},
		"one whose signatures are at random": {random, when, "use ed25519 or RSA"},
	} {
		key := mustOpen(t, c.key)
		if _, err := key.Sign([]byte("tree"), c.when); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), key.Fingerprint()) {
			t.Errorf("%s: %v, want %q and the key in it", name, err, c.want)
		}
	}
}
