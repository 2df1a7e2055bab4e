//go:build long

package gitwire_test

import (
	"testing"

	"strings"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/repotest"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// One request reads a directory, unless its content is too large: then requests read
// only the files that are needed.
func TestADirectoryWithMoreThanFitsIsWalked(t *testing.T) {
	t.Parallel()
	files := site(3)
	files["checkpoints/prod/film"] = noise(33 << 20)
	s, o := shop(t, files)
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	path := repo.Within("checkpoints/prod", "site.yaml", "*.levels.yaml")
	found, err := r.Read(t.Context(), o.Tip("main"), nil, path)
	if err != nil || len(found[path].Files) != 4 {
		t.Fatalf("read %d files, want 4: %v", len(found[path].Files), err)
	}
}

func TestAFileTooLargeForMemoryIsRefused(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"checkpoints/prod/site.yaml": "site\n", "large": noise(33 << 20)})
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	if _, err := r.Read(t.Context(), o.Tip("main"), nil, "checkpoints", "large"); err == nil || !strings.Contains(err.Error(), "large is larger than 4 MiB") {
		t.Errorf("read of 33 MiB: %v", err)
	}
	if _, err := r.Read(t.Context(), o.Tip("main"), nil, "checkpoints"); err != nil {
		t.Errorf("read beside it: %v", err)
	}
}

func TestContractOverHTTPWithoutFilter(t *testing.T) {
	t.Parallel()
	repotest.Run(t, served(func(_ *gitserver.Server, t *testing.T, o *gitserver.Origin) {
		gitserver.WithoutFilter(t, o)
	}))
}

func TestContractOverHTTPVersion0(t *testing.T) {
	t.Parallel()
	repotest.Run(t, served(func(s *gitserver.Server, _ *testing.T, _ *gitserver.Origin) { s.OnlyV0(true) }))
}

// Version 0 over SSH serves only the tips of branches, unless the configuration of the
// server allows more. Most hosts allow more.
func TestContractOverSSHVersion0(t *testing.T) {
	t.Parallel()
	repotest.Run(t, overSSH(func(s *gitserver.SSH, t *testing.T, o *gitserver.Origin) {
		s.OnlyV0(true)
		o.Config(t, "uploadpack.allowAnySHA1InWant", "true")
	}))
}

func TestContractOverSSHVersion0WithoutFilter(t *testing.T) {
	t.Parallel()
	repotest.Run(t, overSSH(func(s *gitserver.SSH, t *testing.T, o *gitserver.Origin) {
		s.OnlyV0(true)
		o.Config(t, "uploadpack.allowAnySHA1InWant", "true")
		gitserver.WithoutFilter(t, o)
	}))
}
