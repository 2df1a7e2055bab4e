package bench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const record = "checkpoints/prod/shop/checkpoint.yaml"

// crossings measures what a crossing takes of git in a large repository, beside git
// itself and go-git.
func crossings(t *testing.T, b book) {
	binary := goGit(t)
	s := gitserver.Start(t)
	o := repository(t, s, "large", scaled(200_000), 1000)
	var refs strings.Builder
	for n := range scaled(30_000) {
		fmt.Fprintf(&refs, "create refs/pull/%d/head %s\n", n, o.Tip("main"))
	}
	o.GitInput(t, refs.String(), "update-ref", "--stdin")
	s.Reset()
	_, _, err := openAt(t, s, "large").Heads(t.Context())
	must(t, err)
	quiet, requests := wire(s)
	b.alone("quiet_git_bytes", float64(quiet))
	b.alone("quiet_git_requests", float64(requests))

	n := 0
	var ours, theirs int64
	crossing := func() { n++; cross(t, s, o, "large", n); ours, requests = wire(s) }
	for _, than := range []struct {
		name  string
		times int
		work  func()
	}{
		{"git", 5, func() { n++; s.Reset(); byGit(t, s.URL("large"), n); theirs, _ = wire(s) }},
		{"gogit", 1, func() { n++; s.Reset(); byGoGit(t, binary, s.URL("large"), n); theirs, _ = wire(s) }},
	} {
		costs := turns(t, than.times, crossing, than.work)
		b.beside("crossing_vs_"+than.name, ratio(costs[1].clock, costs[0].clock), seconds(costs[0].clock), seconds(costs[1].clock))
		b.beside("crossing_bytes_vs_"+than.name, float64(theirs)/float64(ours), fmt.Sprintf("%d B", ours), fmt.Sprintf("%d B", theirs))
	}
	b.alone("crossing_bytes_200k", float64(ours))
	b.alone("crossing_requests", float64(requests))
}

// repository is one of files of so many bytes that do not compress, in three levels of
// folders, and of one checkpoint.
func repository(t *testing.T, s *gitserver.Server, name string, files, bytes int) *gitserver.Origin {
	t.Helper()
	o := s.Create(t, name, nil)
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A Person <person@example.com> %d +0000\ndata 5\nbegin\n", gitserver.Epoch.Unix())
	random := rand.NewChaCha8([32]byte{})
	content := make([]byte, bytes)
	for n := range files {
		_, _ = random.Read(content) // it never fails
		fmt.Fprintf(&stream, "M 100644 inline area%02d/team%02d/file%d.yaml\ndata %d\n%s\n", n/10_000, n/100%100, n%100, bytes, content)
	}
	o.GitInput(t, stream.String(), "fast-import", "--quiet")
	o.Push(t, "main", map[string]string{
		record: "level: 0\n", "checkpoints/prod/shop/kustomization.yaml": "patches: []\n", "checkpoints/prod/site.yaml": "cluster: 5e0c1d2f\n", "gitlatch.yaml": "mode: latch\n",
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

// cross is a crossing from a cold process, after somebody else's push.
func cross(t *testing.T, s *gitserver.Server, o *gitserver.Origin, name string, n int) {
	t.Helper()
	agreed := o.Tip("main")
	o.Push(t, "main", map[string]string{"area00/team00/file0.yaml": fmt.Sprint(n)}, "work")
	s.Reset()
	r := openAt(t, s, name)
	tip, _, err := r.Heads(t.Context())
	must(t, err)
	window, err := r.Between(t.Context(), agreed, tip)
	must(t, err)
	path := repo.Within("checkpoints/prod", "site.yaml", "*/checkpoint.yaml", "*/kustomization.yaml")
	found, err := r.Read(t.Context(), tip, nil, path)
	must(t, err)
	if len(window.Commits) != 1 || len(found[path].Files) != 3 {
		t.Fatalf("a window of %d commits, %d files", len(window.Commits), len(found[path].Files))
	}
	_, err = r.Commit(t.Context(), repo.Commit{Parent: tip, Files: map[string][]byte{record: fmt.Appendf(nil, "level: %d\n", n+1)}, Message: "latch(prod): one level\n", When: time.Now()})
	must(t, err)
}

// byGit is the same by git itself, with as little as it takes.
func byGit(t *testing.T, url string, n int) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatalf("the baseline is missing: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "clone")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = gitserver.Environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	git("clone", "--quiet", "--depth=1", "--filter=blob:none", "--sparse", url, dir)
	git("-C", dir, "sparse-checkout", "set", "checkpoints/prod")
	must(t, os.WriteFile(filepath.Join(dir, record), fmt.Appendf(nil, "git: %d\n", n), 0o644))
	git("-C", dir, "commit", "--quiet", "--all", "--message=level")
	git("-C", dir, "push", "--quiet", "origin", "HEAD:main")
}

// byGoGit is the same as go-git's own documentation does it: see scripts/bench-gogit.
func byGoGit(t *testing.T, binary, url string, n int) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), binary, url, record, fmt.Sprintf("go-git: %d\n", n)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// goGit builds it.
func goGit(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bench-gogit")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	cmd.Dir = filepath.Join("..", "..", "..", "scripts", "bench-gogit")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the baseline is missing: %s: %v\n%s", cmd, err, out)
	}
	return binary
}

// Whoever works, the record is on the branch afterwards: what is compared is the same.
func TestBaselinesPushToo(t *testing.T) {
	if testing.Short() {
		t.Skip("go-git is built: run without -short")
	}
	t.Parallel()
	s := gitserver.Start(t)
	binary := goGit(t)
	o := repository(t, s, "small", 20, 10)
	for want, work := range map[string]func(){
		"level: 2\n": func() { cross(t, s, o, "small", 1) }, "git: 2\n": func() { byGit(t, s.URL("small"), 2) }, "go-git: 3\n": func() { byGoGit(t, binary, s.URL("small"), 3) },
	} {
		before, _ := wire(s)
		work()
		if got := o.Show(t, "main", record); !bytes.Equal([]byte(got), []byte(want)) {
			t.Errorf("the record is %q, want %q", got, want)
		}
		if after, _ := wire(s); after == before {
			t.Error("no bytes were counted")
		}
	}
}
