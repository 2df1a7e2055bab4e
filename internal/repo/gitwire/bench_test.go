package gitwire_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// BenchmarkTreeWalk is a cold tick with a level change, in a repository of 10,000
// files: the tip, a checkpoint file, a commit. wire-B/op is its traffic in bytes, and
// clone/op the ratio of git's own traffic for a clone of depth 1 to it.
func BenchmarkTreeWalk(b *testing.B) {
	s := gitserver.Start(b)
	o := s.Create(b, "large", nil)
	o.GitInput(b, largeRepository(10_000), "fast-import", "--quiet")

	s.Reset()
	clone := exec.Command("git", "clone", "--quiet", "--bare", "--depth=1", s.URL("large"), filepath.Join(b.TempDir(), "clone"))
	clone.Env = gitserver.Environ()
	clone.Stderr = os.Stderr
	if err := clone.Run(); err != nil {
		b.Fatal(err)
	}
	cloned := traffic(s)

	s.Reset()
	for n := 0; b.Loop(); n++ {
		r := open(b, gitwire.Options{URL: s.URL("large")})
		tip, _, err := r.Heads(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		const path = "dir042/file7.yaml"
		if _, err := r.Read(b.Context(), tip, nil, path); err != nil {
			b.Fatal(err)
		}
		if _, err := r.Commit(b.Context(), edit(tip, path, fmt.Sprintf("level: %d\n", n))); err != nil {
			b.Fatal(err)
		}
	}
	walked := float64(traffic(s)) / float64(b.N)
	b.ReportMetric(walked, "wire-B/op")
	b.ReportMetric(float64(cloned)/walked, "clone/op")
}

// largeRepository returns a stream for fast-import: directories of 100 files of 1 KiB.
func largeRepository(files int) string {
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A Person <person@example.com> %d +0000\ndata 5\nbegin\n", gitserver.Epoch.Unix())
	content := noise(1024 * files)
	for n := range files {
		fmt.Fprintf(&stream, "M 100644 inline dir%03d/file%d.yaml\ndata 1024\n%s\n", n/100, n%100, content[1024*n:1024*(n+1)])
	}
	return stream.String()
}

func traffic(s *gitserver.Server) (bytes int64) {
	for _, r := range s.Requests() {
		bytes += r.In + r.Out
	}
	return bytes
}

// BenchmarkDisk measures a tick on a repository on disk. A demo runs hundreds of them.
func BenchmarkDisk(b *testing.B) {
	o := gitserver.NewOrigin(b, b.TempDir(), site(20))
	r := open(b, gitwire.Options{URL: o.Dir})
	for n := 0; b.Loop(); n++ {
		tip, _, err := r.Heads(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := r.Commit(b.Context(), edit(tip, "checkpoints/prod/ns003.levels.yaml", fmt.Sprint(n))); err != nil {
			b.Fatal(err)
		}
	}
}
