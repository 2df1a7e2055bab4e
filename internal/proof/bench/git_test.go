package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const record = "checkpoints/prod/shop/checkpoint.yaml"

// crossings measures what a crossing takes of git in a large repository, beside git
// itself and go-git.
func crossings(t *testing.T, b book) {
	crosses, clones := program(t, "bench-crossing"), program(t, "bench-gogit")
	s := gitserver.Start(t)
	o := repository(t, s, "large", scaled(200_000), 1000)
	var refs strings.Builder
	tip := o.Tip("main")
	for n := range scaled(30_000) {
		fmt.Fprintf(&refs, "create refs/pull/%d/head %s\n", n, tip)
	}
	o.GitInput(t, refs.String(), "update-ref", "--stdin")
	// As hosts keep them: each ref as a file of its own costs any push a second.
	o.Git(t, "pack-refs", "--all")
	s.Reset()
	_, _, err := openAt(t, s, "large").Heads(t.Context())
	must(t, err)
	quiet, requests := wire(s)
	b.alone("quiet_git_bytes", float64(quiet))
	b.alone("quiet_git_requests", float64(requests))

	n := 0
	var ours, theirs int64
	agreed := tip
	// Before each somebody pushes: what is read anew is the same for all.
	before := func() {
		n++
		agreed = o.Tip("main")
		o.Push(t, "main", map[string]string{"area00/team00/file0.yaml": fmt.Sprint(n)}, "work")
		s.Reset()
	}
	crossing := func() { cross(t, crosses, s.URL("large"), agreed, n); ours, requests = wire(s) }
	for _, than := range []struct {
		name  string
		times int
		work  func()
	}{
		{"git", 5, func() { byGit(t, s.URL("large"), n); theirs, _ = wire(s) }},
		{"gogit", 1, func() { byGoGit(t, clones, s.URL("large"), n); theirs, _ = wire(s) }},
	} {
		costs := turnsAfter(t, before, than.times, crossing, than.work)
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

// cross is a crossing from a cold process: see scripts/bench-crossing.
func cross(t *testing.T, binary, url, agreed string, n int) {
	t.Helper()
	run(t, binary, url, agreed, record, fmt.Sprintf("level: %d\n", n))
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
	run(t, binary, url, record, fmt.Sprintf("go-git: %d\n", n))
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// program builds one that is measured.
func program(t *testing.T, name string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, ".")
	cmd.Dir = filepath.Join("..", "..", "..", "scripts", name)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("what is measured is missing: %s: %v\n%s", cmd, err, out)
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
	crosses, clones := program(t, "bench-crossing"), program(t, "bench-gogit")
	o := repository(t, s, "small", 20, 10)
	for want, work := range map[string]func(agreed string){
		"level: 1\n":  func(agreed string) { cross(t, crosses, s.URL("small"), agreed, 1) },
		"git: 2\n":    func(string) { byGit(t, s.URL("small"), 2) },
		"go-git: 3\n": func(string) { byGoGit(t, clones, s.URL("small"), 3) },
	} {
		agreed := o.Tip("main")
		o.Push(t, "main", map[string]string{"area00/team00/file0.yaml": want}, "work")
		before, _ := wire(s)
		work(agreed)
		if got := o.Show(t, "main", record); got != want {
			t.Errorf("the record is %q, want %q", got, want)
		}
		if after, _ := wire(s); after == before {
			t.Error("no bytes were counted")
		}
	}
}
