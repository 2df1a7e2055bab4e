package github_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"sync"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/github"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/repotest"
	standin "github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

func TestContract(t *testing.T) {
	t.Parallel()
	repotest.Run(t, func(t *testing.T, files map[string]string) repotest.Fixture {
		s, o := shop(t, files)
		return repotest.Fixture{
			Origin: o,
			Open: func(t *testing.T) repo.Repository {
				r, _ := open(t, s, app)
				return r
			},
			Refuse: func(t *testing.T, words string) { o.Decline(t, words) },
		}
	})
}

func TestProposals(t *testing.T) {
	t.Parallel()
	repotest.RunProposals(t, func(t *testing.T, files map[string]string) repotest.Host {
		s, o := shop(t, files)
		r, p := open(t, s, app)
		return repotest.Host{
			Repository: r,
			Proposals:  p,
			Push: func(t testing.TB, branch string, files map[string]string) {
				o.Push(t, base(branch), files, "by a person")
			},
			Show:    func(t testing.TB, branch, path string) string { return o.Show(t, base(branch), path) },
			Merge:   s.Merge,
			Decline: s.Decline,
			Words:   s.Words,
		}
	})
}

func base(branch string) string {
	if branch == "" {
		return "main"
	}
	return branch
}

// key is shared by all tests, because generating a key takes a while.
var key = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func pemOf(k *rsa.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})
}

func app(s *standin.Server) github.Credentials {
	s.Install(standin.App{ID: 7, InstallationID: 70, Key: &key().PublicKey})
	return github.Credentials{App: github.App{ID: 7, InstallationID: 70, PrivateKey: pemOf(key())}}
}

func token(s *standin.Server) github.Credentials {
	s.Grant("github_pat_1")
	return github.Credentials{Token: "github_pat_1"}
}

// known returns a function that returns the credentials.
func known(c github.Credentials) func(context.Context) (github.Credentials, error) {
	return func(context.Context) (github.Credentials, error) { return c, nil }
}

// atOnce returns git options for the base main, without a delay between pushes.
func atOnce(t *testing.T) gitwire.Options {
	return gitwire.Options{Branch: "main", TempDir: t.TempDir(), Pause: func(ctx context.Context, _ int) error { return ctx.Err() }}
}

func shop(t *testing.T, files map[string]string) (*standin.Server, *gitserver.Origin) {
	s := standin.Start(t)
	return s, s.Create(t, "shop", files)
}

func open(t *testing.T, s *standin.Server, as func(*standin.Server) github.Credentials) (*gitwire.Repository, *github.Proposals) {
	t.Helper()
	r, p, err := github.Open(github.Options{
		Repository: standin.Owner + "/shop", APIURL: s.APIURL(), Secret: known(as(s)), Git: atOnce(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, p
}
