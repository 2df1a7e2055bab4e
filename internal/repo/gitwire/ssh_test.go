package gitwire_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

func shopOverSSH(t testing.TB, files map[string]string) (*gitserver.SSH, *gitserver.Origin) {
	s := gitserver.StartSSH(t)
	return s, s.Create(t, "shop", files)
}

// A connection costs more than a few trees. A cold read takes one connection for the
// commit and its trees and one for the files, at any depth.
func TestWhatATickAsksOverSSHIsFewConnections(t *testing.T) {
	t.Parallel()
	s, o := shopOverSSH(t, site(100))
	r := open(t, known(s))
	const (
		fetch = "v2 git-upload-pack '/shop.git'"
		push  = "v0 git-receive-pack '/shop.git'"
	)
	asked := func(what string, want ...string) {
		t.Helper()
		if got := s.Asked(); !slices.Equal(got, want) {
			t.Errorf("%s asked %q, want %q", what, got, want)
		}
		s.Reset()
	}
	tip, _, err := r.Heads(t.Context())
	if err != nil || tip != o.Tip("main") {
		t.Fatalf("tip is %s, %v", tip, err)
	}
	asked("a look", fetch)
	found, err := r.Read(t.Context(), tip, nil, "checkpoints/prod", "gitlatch.yaml")
	if err != nil || len(found["checkpoints/prod"].Files) != 101 {
		t.Fatalf("read %d files, %v", len(found["checkpoints/prod"].Files), err)
	}
	asked("a cold read", fetch, fetch)
	id, err := r.Commit(t.Context(), edit(tip, "checkpoints/prod/ns042.levels.yaml", "changed\n"))
	if err != nil || id != o.Tip("main") {
		t.Fatalf("commit %s, %v", id, err)
	}
	asked("a commit", push)
}

func TestOnlyAPinnedHostIsSpokenTo(t *testing.T) {
	t.Parallel()
	other := gitserver.StartSSH(t)
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	for _, c := range []struct {
		name    string
		prepare func(*testing.T, *gitserver.SSH, *gitwire.Options)
		want    []string // in the error; nil for a success
	}{
		{name: "the pinned key"},
		{name: "one of two pinned keys", prepare: func(_ *testing.T, _ *gitserver.SSH, o *gitwire.Options) {
			o.SSH.HostKeys = append(other.HostKeys(), o.SSH.HostKeys...)
		}},
		{name: "a pinned key with a comment", prepare: func(_ *testing.T, _ *gitserver.SSH, o *gitwire.Options) {
			o.SSH.HostKeys[0] += " of the git server"
		}},
		{name: "another key", prepare: func(_ *testing.T, _ *gitserver.SSH, o *gitwire.Options) {
			o.SSH.HostKeys = other.HostKeys()
		}, want: []string{"has the host key ssh-ed25519 SHA256:", "not pinned", "someone intercepts the connection"}},
		{name: "a host that changed its key", prepare: func(t *testing.T, s *gitserver.SSH, _ *gitwire.Options) {
			s.Rekey(t)
		}, want: []string{"not pinned"}},
		{name: "a host without a key of the pinned kind", prepare: func(t *testing.T, s *gitserver.SSH, _ *gitwire.Options) {
			s.Rekey(t, ec)
		}, want: []string{"no common algorithm", "pinned host keys are of ssh-ed25519", "ecdsa-sha2-nistp256"}},
		{name: "a host with keys of several kinds, one of them pinned", prepare: func(t *testing.T, s *gitserver.SSH, o *gitwire.Options) {
			s.Rekey(t, ec, big)
			o.SSH.HostKeys = s.HostKeys()[1:]
		}},
		{name: "a key of RSA", prepare: func(t *testing.T, s *gitserver.SSH, o *gitwire.Options) {
			s.Rekey(t, big)
			o.SSH.HostKeys = s.HostKeys()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, o := shopOverSSH(t, site(1))
			options := known(s)
			if c.prepare != nil {
				c.prepare(t, s, &options)
			}
			tip, _, err := open(t, options).Heads(t.Context())
			if c.want == nil && (err != nil || tip != o.Tip("main")) {
				t.Fatalf("tip is %q, %v", tip, err)
			}
			if c.want == nil {
				return
			}
			says(t, err, c.want...)
			if asked := s.Asked(); len(asked) != 0 {
				t.Errorf("the host was asked %q all the same", asked)
			}
			if _, err := open(t, options).Commit(t.Context(), edit(o.Tip("main"), "a", "1")); err == nil || len(s.Asked()) != 0 {
				t.Errorf("commit: %v, and the host was asked %q", err, s.Asked())
			}
		})
	}
}

func says(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %q, want %q in it", err, part)
		}
	}
}

func TestADeployKeyLogsIn(t *testing.T) {
	t.Parallel()
	ec, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	must(t, err)
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	for name, key := range map[string]crypto.Signer{"ecdsa": ec, "rsa": big} {
		s, o := shopOverSSH(t, site(1))
		public, err := ssh.NewPublicKey(key.Public())
		must(t, err)
		s.LetIn(public)
		options := known(s)
		options.SSH.Key = []byte(strings.TrimSpace(string(gitserver.PEM(t, key))))
		if tip, _, err := open(t, options).Heads(t.Context()); err != nil || tip != o.Tip("main") {
			t.Errorf("%s: tip is %q, %v", name, tip, err)
		}
	}

	s, _ := shopOverSSH(t, site(1))
	wrong := known(s)
	var signer ssh.Signer
	wrong.SSH.Key, signer = gitserver.NewKey(t)
	_, _, err = open(t, wrong).Heads(t.Context())
	says(t, err, "rejects git", ssh.FingerprintSHA256(signer.PublicKey()), "deploy key of the repository")
	showsNothingOf(t, err, wrong.SSH.Key)
}

// showsNothingOf fails the test if an error contains a line of a key.
func showsNothingOf(t *testing.T, err error, key []byte) {
	t.Helper()
	for line := range strings.Lines(string(key)) {
		line = strings.TrimSpace(line)
		if raw, wrong := base64.StdEncoding.DecodeString(line); wrong == nil && len(raw) > 8 && strings.Contains(err.Error(), line) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
	if strings.Contains(err.Error(), "PRIVATE") {
		t.Errorf("the error shows the key: %v", err)
	}
}

func TestWhatIsWrongOverSSHIsSaid(t *testing.T) {
	t.Parallel()
	s, o := shopOverSSH(t, site(1))
	absent := known(s)
	absent.URL = s.URL("absent")
	_, _, err := open(t, absent).Heads(t.Context())
	says(t, err, "absent.git", "does not appear to be a git repository")
	if asked := s.Asked(); len(asked) != 1 {
		t.Errorf("a repository that is not there was asked for %d times", len(asked))
	}

	closed := known(s)
	closed.URL = "ssh://git@127.0.0.1:1/shop.git"
	_, _, err = open(t, closed).Heads(t.Context())
	says(t, err, "connection refused")

	o.Decline(t, "main is protected")
	_, err = open(t, known(s)).Commit(t.Context(), edit(o.Tip("main"), "a", "1"))
	var refused *repo.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Why, "main is protected") {
		t.Errorf("commit: %v", err)
	}
}

// A push that reached the branch before the connection broke is found on the branch.
func TestALostReplyOverSSHIsNoSecondCommit(t *testing.T) {
	t.Parallel()
	s, o := shopOverSSH(t, site(1))
	var pushes atomic.Int32
	s.Before(func(service string) bool { return service != "git-receive-pack" || pushes.Add(1) > 1 })
	id, err := open(t, known(s)).Commit(t.Context(), edit(o.Tip("main"), "checkpoints/prod/site.yaml", "changed\n"))
	if err != nil || id != o.Tip("main") || pushes.Load() != 1 {
		t.Errorf("commit %q, %v, %d pushes; the tip is %s", id, err, pushes.Load(), o.Tip("main"))
	}
	if log := o.Log(t, "main"); len(log) != 2 {
		t.Errorf("log is %q", log)
	}
}

func TestAServerOfSSHThatHangsIsLeft(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]gitserver.Stage{"at once": gitserver.AtOnce, "after the login": gitserver.AfterLogin, "in the answer": gitserver.InTheAnswer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, o := shopOverSSH(t, site(1))
			s.Hang(at)
			r := open(t, known(s))
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if _, _, err := r.Heads(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("look: %v, want the deadline", err)
			}
			ctx, cancel = context.WithCancel(t.Context())
			cancel()
			if _, err := r.Commit(ctx, edit(o.Tip("main"), "a", "1")); !errors.Is(err, context.Canceled) {
				t.Errorf("commit: %v, want the end", err)
			}
		})
	}
}

func TestOptionsOfSSHAreCheckedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	key, signer := gitserver.NewKey(t)
	host := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
	block, err := ssh.MarshalPrivateKeyWithPassphrase(mustRaw(t, key), "", []byte("hunter2"))
	must(t, err)
	locked := pem.EncodeToMemory(block)
	for _, c := range []struct {
		name, url string
		ssh       wire.SSH
		want      []string
	}{
		{"no host key", "git@h:r.git", wire.SSH{Key: key}, []string{"no key is pinned for h", "trusts no unknown host", "ssh-keyscan h", "compare"}},
		{"a host key that is none", "git@h:r.git", wire.SSH{Key: key, HostKeys: []string{host, "ssh-ed25519 AAAA"}}, []string{"number 2"}},
		{"no key", "ssh://git@h/r.git", wire.SSH{HostKeys: []string{host}}, []string{"deploy key: no key is set"}},
		{"a key that is none", "ssh://git@h/r.git", wire.SSH{Key: []byte("hunter2"), HostKeys: []string{host}}, []string{"not a private key in PEM"}},
		{"a key with a passphrase", "ssh://git@h/r.git", wire.SSH{Key: locked, HostKeys: []string{host}}, []string{"has a passphrase"}},
		{"no user", "ssh://h/r.git", wire.SSH{Key: key, HostKeys: []string{host}}, []string{"must contain the user"}},
		{"a password", "ssh://git:hunter2@h/r.git", wire.SSH{Key: key, HostKeys: []string{host}}, []string{"must not contain a password"}},
		{"no path", "ssh://git@h", wire.SSH{Key: key, HostKeys: []string{host}}, []string{"path of a repository"}},
		{"an option for a path", "git@h:--upload-pack=x", wire.SSH{Key: key, HostKeys: []string{host}}, []string{"path of a repository"}},
		{"all at once", "ssh://git@h/r.git", wire.SSH{}, []string{"deploy key", "host keys"}},
	} {
		_, err := gitwire.Open(gitwire.Options{URL: c.url, Branch: "main", SSH: c.ssh})
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		says(t, err, c.want...)
		showsNothingOf(t, err, key)
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the secret: %v", c.name, err)
		}
	}
}

func mustRaw(t *testing.T, key []byte) crypto.PrivateKey {
	t.Helper()
	raw, err := ssh.ParseRawPrivateKey(key)
	must(t, err)
	return raw
}
