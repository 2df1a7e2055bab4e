package gitwire

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A process that makes one commit after the other, and sees none of others, keeps no
// more of them in memory than it is to.
func TestCommitsOfOnesOwnAreForgotten(t *testing.T) {
	t.Parallel()
	const file = 1 << 20
	origin := gitserver.NewOrigin(t, filepath.Join(t.TempDir(), "site.git"), map[string]string{"README.md": "site"})
	r, err := Open(Options{URL: origin.Dir, Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ctx := context.Background()
	tip, _, err := r.Heads(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 * keepBytes / file {
		text := bytes.Repeat([]byte{byte(rand.IntN(256)), byte(n)}, file/2)
		if tip, err = r.Commit(ctx, repo.Commit{Parent: tip, Files: map[string][]byte{"checkpoints/prod/big.yaml": text}, Message: "big", When: time.Unix(int64(n)+1, 0)}); err != nil {
			t.Fatal(err)
		}
		if r.objects.size > keepBytes+2*file {
			t.Fatalf("%d commits of %d bytes each: %d bytes are kept", n+1, file, r.objects.size)
		}
	}
}
