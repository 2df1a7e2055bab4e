package gitwire

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const bigFile = 1 << 20

// big returns a file with unique content.
func big(n int) []byte { return bytes.Repeat([]byte{byte(rand.IntN(256)), byte(n)}, bigFile/2) }

func openBig(t *testing.T) (*gitserver.Origin, *Repository) {
	t.Helper()
	origin := gitserver.NewOrigin(t, filepath.Join(t.TempDir(), "site.git"), map[string]string{"README.md": "site"})
	r, err := Open(Options{URL: origin.Dir, Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return origin, r
}

// A process that makes one commit after the other, and sees no other commits, caches the
// content of the last commit: its changed and its unchanged files.
func TestCommitsOfOnesOwnAreForgotten(t *testing.T) {
	t.Parallel()
	origin, r := openBig(t)
	tip, other := origin.Tip("main"), map[string][]byte{"checkpoints/prod/other.yaml": big(255)}
	commit := func(n int, files map[string][]byte) {
		t.Helper()
		var err error
		if tip, err = r.Commit(t.Context(), repo.Commit{Parent: tip, Files: files, Message: "big", When: time.Unix(int64(n)+1, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	commit(0, other)
	for n := range 8 {
		commit(n+1, map[string][]byte{"checkpoints/prod/big.yaml": big(n)})
		if size := r.objects.Size; size < 2*bigFile || size > 2*bigFile+bigFile/2 {
			t.Fatalf("%d commits of %d bytes each, beside as much that stays: %d bytes are kept", n+1, bigFile, size)
		}
	}
}

// The objects of a proposal stay in memory for the next one, like the objects of other
// users' commits. They are dropped when they are large.
func TestCommitsBesideTheBaseAndOthersAreForgotten(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*gitserver.Origin, *Repository, int, string) (string, error){
		"proposals": func(o *gitserver.Origin, r *Repository, n int, head string) (string, error) {
			return r.Commit(t.Context(), repo.Commit{Branch: "gitlatch/prod", Expect: head, Parent: o.Tip("main"), Message: "big", When: time.Unix(int64(n)+1, 0),
				Files: map[string][]byte{"checkpoints/prod/big.yaml": big(n)}})
		},
		"others": func(o *gitserver.Origin, r *Repository, n int, _ string) (string, error) {
			o.Push(t, "main", map[string]string{"checkpoints/prod/big.yaml": string(big(n))}, "big")
			_, err := r.Read(t.Context(), o.Tip("main"), nil, "checkpoints/prod")
			return "", err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			origin, r := openBig(t)
			head := ""
			for n := range 2 * pack.KeepBytes / bigFile {
				var err error
				if head, err = do(origin, r, n, head); err != nil {
					t.Fatal(err)
				}
				if r.objects.Size > pack.KeepBytes+2*bigFile {
					t.Fatalf("%d times %d bytes: %d bytes are kept", n+1, bigFile, r.objects.Size)
				}
			}
		})
	}
}
