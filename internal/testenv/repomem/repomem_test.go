package repomem_test

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/repotest"
	"github.com/gitlatch/gitlatch/internal/testenv/codecommitmem"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
)

func TestProposals(t *testing.T) {
	t.Parallel()
	repotest.RunProposals(t, func(t *testing.T, files map[string]string) repotest.Host {
		r := repomem.New(files)
		return host(r, r, r)
	})
}

// The adapter of CodeCommit over a repository in memory passes the suite of every adapter.
func TestProposalsOfCodeCommit(t *testing.T) {
	t.Parallel()
	repotest.RunProposals(t, func(t *testing.T, files map[string]string) repotest.Host {
		r := repomem.New(files)
		s := &codecommitmem.Service{
			Memory: r, Now: time.Now,
			Write: func(write func() error) error { return write() },
			Read:  func() error { return nil },
		}
		process := s.Adapter()
		h := host(r, process, process)
		h.Reopened = true
		return h
	})
}

// host returns the host of a repository in memory, as an adapter sees it.
func host(r *repomem.Repository, repository repo.Repository, proposals repo.Proposals) repotest.Host {
	at := time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)
	return repotest.Host{
		Repository: repository,
		Proposals:  proposals,
		Push: func(t testing.TB, branch string, files map[string]string) {
			change := map[string][]byte{}
			for path, content := range files {
				change[path] = []byte(content)
			}
			r.Push(branch, "by a person", at, change)
		},
		Show: func(t testing.TB, branch, path string) string { return r.FilesAt(branch)[path] },
		Merge: func(t testing.TB, id string, squash bool) {
			by := repomem.MergeCommit
			if squash {
				by = repomem.Squash
			}
			if _, err := r.Merge(id, by, at); err != nil {
				t.Fatal(err)
			}
		},
		Decline: func(t testing.TB, id string) { r.Decline(id) },
		Words:   func(t testing.TB, id string) (string, string, []string) { return r.Words(id) },
	}
}

// A merge combines the changes of each side to a file, and fails if both changed the
// same lines: an older proposal does not remove a user's new line.
func TestMergeTakesWhatEachSideChanged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ was, base, proposed, want string }{
		"a line each":          {"a 1\nb 1\nc 1\n", "a 1\nb 1\nc 2\n", "a 2\nb 1\nc 1\n", "a 2\nb 1\nc 2\n"},
		"a new line":           {"a 1\nb 1\n", "a 1\nb 1\nc 1\n", "a 2\nb 1\n", "a 2\nb 1\nc 1\n"},
		"a line is gone":       {"a 1\nb 1\nc 1\n", "b 1\nc 1\n", "a 1\nb 1\nc 2\n", "b 1\nc 2\n"},
		"the same on both":     {"a 1\n", "a 2\n", "a 2\n", "a 2\n"},
		"the proposal's alone": {"a 1\n", "a 1\n", "a 2\n", "a 2\n"},
		"the same line":        {"a 1\n", "a 2\n", "a 3\n", ""},
		"neighbours":           {"a 1\nb 1\n", "a 2\nb 1\n", "a 1\nb 2\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, at := repomem.New(map[string]string{"f": c.was}), time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)
			parted, _, err := r.Heads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Commit(t.Context(), repo.Commit{Branch: "ours", Parent: parted, Files: map[string][]byte{"f": []byte(c.proposed)}, When: at}); err != nil {
				t.Fatal(err)
			}
			p, err := r.Ensure(t.Context(), repo.Draft{Branch: "ours"})
			if err != nil {
				t.Fatal(err)
			}
			r.Edit("by hand", at, map[string][]byte{"f": []byte(c.base)})
			_, err = r.Merge(p.ID, repomem.Squash, at)
			switch got := r.Files()["f"]; {
			case c.want == "" && err == nil:
				t.Errorf("merged without a conflict: %q", got)
			case c.want != "" && (err != nil || got != c.want):
				t.Errorf("got %q, want %q (%v)", got, c.want, err)
			}
		})
	}
}
