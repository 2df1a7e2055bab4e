package gitwire_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
	"github.com/gitlatch/gitlatch/internal/repo/repotest"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

func TestContractOverHTTP(t *testing.T) {
	t.Parallel()
	repotest.Run(t, served(func(*gitserver.Server, *testing.T, *gitserver.Origin) {}))
}

func TestContractOverHTTPVersion0WithoutFilter(t *testing.T) {
	t.Parallel()
	repotest.Run(t, served(func(s *gitserver.Server, t *testing.T, o *gitserver.Origin) {
		s.OnlyV0(true)
		gitserver.WithoutFilter(t, o)
	}))
}

func TestContractOverSSH(t *testing.T) {
	t.Parallel()
	repotest.Run(t, overSSH(func(*gitserver.SSH, *testing.T, *gitserver.Origin) {}))
}

func TestContractOnDisk(t *testing.T) {
	t.Parallel()
	repotest.Run(t, func(t *testing.T, files map[string]string) repotest.Fixture {
		o := gitserver.NewOrigin(t, t.TempDir(), files)
		return repotest.Fixture{
			Origin: o,
			Open:   func(t *testing.T) repo.Repository { return open(t, gitwire.Options{URL: o.Dir}) },
			Refuse: func(t *testing.T, _ string) {
				// A repository on disk runs no hooks; git's lock prevents the push.
				if err := os.WriteFile(filepath.Join(o.Dir, "refs/heads/main.lock"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}

// served returns a fixture of the suite with a separate server.
func served(prepare func(*gitserver.Server, *testing.T, *gitserver.Origin)) repotest.Setup {
	return func(t *testing.T, files map[string]string) repotest.Fixture {
		s := gitserver.Start(t)
		o := s.Create(t, "shop", files)
		prepare(s, t, o)
		return repotest.Fixture{
			Origin: o,
			Open:   func(t *testing.T) repo.Repository { return open(t, gitwire.Options{URL: s.URL("shop")}) },
			Refuse: func(t *testing.T, words string) { o.Decline(t, words) },
		}
	}
}

// overSSH is like served, with an SSH server.
func overSSH(prepare func(*gitserver.SSH, *testing.T, *gitserver.Origin)) repotest.Setup {
	return func(t *testing.T, files map[string]string) repotest.Fixture {
		s := gitserver.StartSSH(t)
		o := s.Create(t, "shop", files)
		prepare(s, t, o)
		return repotest.Fixture{
			Origin: o,
			Open:   func(t *testing.T) repo.Repository { return open(t, known(s)) },
			Refuse: func(t *testing.T, words string) { o.Decline(t, words) },
		}
	}
}

// known returns the options for a server's repository shop.
func known(s *gitserver.SSH) gitwire.Options {
	return gitwire.Options{URL: s.URL("shop"), SSH: wire.SSH{Key: s.Key, HostKeys: s.HostKeys()}}
}

// open opens the branch main, with no wait between tries.
func open(t testing.TB, o gitwire.Options) *gitwire.Repository {
	t.Helper()
	o.Branch = "main"
	o.TempDir = t.TempDir()
	if o.Pause == nil {
		o.Pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	}
	r, err := gitwire.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}
