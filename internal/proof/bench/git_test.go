//go:build long

package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const record = "checkpoints/prod/shop.levels.yaml"

// crossings measures the git work of a level change in a large repository, at 200 refs and
// at 30,000.
func crossings(t *testing.T, b book) {
	s := gitserver.Start(t)
	o := repository(t, s, "large", scaled(200_000), 1000)
	refs := 1 // main
	for _, at := range []struct {
		name string
		refs int
	}{{"200", 200}, {"30k", 30_000}} {
		refs = addRefs(t, o, refs, scaled(at.refs))
		bytes, requests := crossing(t, s, o, "large", at.name)
		b.alone("crossing_bytes_"+at.name, float64(bytes))
		b.alone("crossing_requests_"+at.name, float64(requests))
	}
	s.Reset()
	_, _, err := openAt(t, s, "large").Heads(t.Context())
	must(t, err)
	quiet, requests := wire(s)
	b.alone("quiet_git_bytes", float64(quiet))
	b.alone("quiet_git_requests", float64(requests))
}

// crossing does the git work of a level change like a tick in a new process, after a user's
// push to another file. It reads the tip, the commits since the agreed one and the checkpoint
// files of a site, and pushes one commit. The state of an earlier tick has the tree of the
// sites.
func crossing(t *testing.T, s *gitserver.Server, o *gitserver.Origin, name, level string) (bytes int64, requests int) {
	t.Helper()
	agreed, sites := o.Tip("main"), o.Raw(t, "tree", "main:checkpoints")
	o.Push(t, "main", map[string]string{"area00/team00/file0.yaml": level}, "work")
	s.Reset()
	r := openAt(t, s, name)
	r.Recall(sites)
	tip, _, err := r.Heads(t.Context())
	must(t, err)
	window, err := r.Between(t.Context(), agreed, tip)
	must(t, err)
	site := repo.Within("checkpoints/prod", "site.yaml", "*.levels.yaml")
	found, err := r.Read(t.Context(), tip, nil, site)
	must(t, err)
	if !window.Descends || len(window.Commits) == 0 || len(found[site].Files) == 0 {
		t.Fatalf("a window of %d commits, %d checkpoint files: the change has nothing to read", len(window.Commits), len(found[site].Files))
	}
	// A commit is younger than its parent, even in a test: with a clock that goes back
	// and forth, the next window costs the server a walk through the full history.
	when := window.Commits[0].When.Add(time.Second)
	_, err = r.Commit(t.Context(), repo.Commit{Parent: tip, Files: map[string][]byte{record: []byte("level: " + level + "\n")}, Message: "latch(prod): one level\n", When: when})
	must(t, err)
	return wire(s)
}

// addRefs adds refs of pull requests up to the given number of refs.
func addRefs(t *testing.T, o *gitserver.Origin, from, to int) int {
	t.Helper()
	var refs strings.Builder
	tip := o.Tip("main")
	for n := from; n < to; n++ {
		fmt.Fprintf(&refs, "create refs/pull/%d/head %s\n", n, tip)
	}
	o.GitInput(t, refs.String(), "update-ref", "--stdin")
	// Hosts pack refs. With a separate file for each ref, any push takes a second.
	o.Git(t, "pack-refs", "--all")
	return max(from, to)
}

// repository creates a repository with files of incompressible bytes, in three levels
// of folders, and with one checkpoint file.
func repository(t *testing.T, s *gitserver.Server, name string, files, bytes int) *gitserver.Origin {
	t.Helper()
	o := s.Create(t, name, nil)
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A Person <person@example.com> %d +0000\ndata 5\nbegin\n", gitserver.Epoch.Unix())
	random := rand.NewChaCha8([32]byte{})
	content := make([]byte, bytes)
	for n := range files {
		_, _ = random.Read(content) // it never returns an error
		fmt.Fprintf(&stream, "M 100644 inline area%02d/team%02d/file%d.yaml\ndata %d\n%s\n", n/10_000, n/100%100, n%100, bytes, content)
	}
	o.GitInput(t, stream.String(), "fast-import", "--quiet")
	o.Push(t, "main", map[string]string{
		record: "level: 0\n", "checkpoints/prod/site.yaml": "cluster: 5e0c1d2f\n", "gitlatch.yaml": "mode: latch\n",
	}, "checkpoints")
	return o
}

func openAt(t *testing.T, s *gitserver.Server, name string) *gitwire.Repository {
	t.Helper()
	r, err := gitwire.Open(gitwire.Options{URL: s.URL(name), Branch: "main"})
	must(t, err)
	return r
}

func wire(s *gitserver.Server) (bytes int64, requests int) {
	for _, r := range s.Requests() {
		bytes, requests = bytes+r.In+r.Out, requests+1
	}
	return bytes, requests
}

// The measured work is that of a level change: afterwards the branch has the new level, on
// the user's commit.
func TestTheMeasuredLevelChangeIsPushed(t *testing.T) {
	t.Parallel()
	s := gitserver.Start(t)
	o := repository(t, s, "small", 20, 10)
	bytes, requests := crossing(t, s, o, "small", "7")
	if got := o.Show(t, "main", record); got != "level: 7\n" || o.Show(t, "main^", "area00/team00/file0.yaml") != "7" {
		t.Errorf("the checkpoint file is %q, want level 7 on the user's commit", got)
	}
	if bytes == 0 || requests != 4 {
		t.Errorf("counted %d bytes in %d requests, want 4 requests", bytes, requests)
	}
}
