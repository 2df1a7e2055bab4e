package mem_test

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo/mem"
	"github.com/gitlatch/gitlatch/internal/repo/repotest"
)

func TestProposals(t *testing.T) {
	t.Parallel()
	repotest.RunProposals(t, func(t *testing.T, files map[string]string) repotest.Host {
		r := mem.New(files)
		at := time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC)
		return repotest.Host{
			Repository: r,
			Proposals:  r,
			Push: func(t testing.TB, branch string, files map[string]string) {
				change := map[string][]byte{}
				for path, content := range files {
					change[path] = []byte(content)
				}
				r.Push(branch, "by a person", at, change)
			},
			Show:    func(t testing.TB, branch, path string) string { return r.FilesAt(branch)[path] },
			Merge:   func(t testing.TB, id string, squash bool) { r.Merge(id, squash, at) },
			Decline: func(t testing.TB, id string) { r.Decline(id) },
			Words:   func(t testing.TB, id string) (string, string, []string) { return r.Words(id) },
		}
	})
}
