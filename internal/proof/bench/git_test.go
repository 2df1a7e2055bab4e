//go:build long

package bench

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const record = "checkpoints/prod/shop.levels.yaml"

// pairs is the number of pairs of runs in the comparison with go-git. git is slow
// enough that a quarter of the pairs shows the difference.
const pairs = 20

// crossings compares the git work of a level change in a large repository with the same
// work by go-git and by git, at 200 refs and at 30,000.
func crossings(t *testing.T, b book) {
	programs := programs{ours: program(t, "bench-crossing"), gogit: program(t, "bench-gogit")}
	s := gitserver.Start(t)
	o := repository(t, s, "large", scaled(200_000), 1000)
	refs := 1 // main
	for _, at := range []struct {
		name string
		refs int
	}{{"200", 200}, {"30k", 30_000}} {
		refs = addRefs(t, o, refs, scaled(at.refs))
		crossingsAt(t, b, at.name, programs, s, o)
	}
	s.Reset()
	_, _, err := openAt(t, s, "large").Heads(t.Context())
	must(t, err)
	quiet, requests := wire(s)
	b.alone("quiet_git_bytes", float64(quiet))
	b.alone("quiet_git_requests", float64(requests))
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

// crossingsAt measures level changes at one number of refs.
func crossingsAt(t *testing.T, b book, refs string, by programs, s *gitserver.Server, o *gitserver.Origin) {
	var at start
	n := 0
	// A user pushes before each run, so that each has the same to read.
	before := func() {
		n++
		at = begin(t, s, o, "large", fmt.Sprint(n))
		s.Reset()
	}
	var ours, theirs int64
	var requests int
	crossing := func() {
		by.cross(t, at, n)
		ours, requests = wire(s)
	}
	for _, than := range []struct {
		name  string
		times int
		work  func()
	}{
		{"partial_gogit", pairs, func() { by.goGit(t, at, n) }},
		{"git_plumbing", pairs / 4, func() { gitPlumbing(t, at, n) }},
		{"git_sparse", pairs / 4, func() { gitSparse(t, at, n) }},
	} {
		work := func() {
			than.work()
			theirs, _ = wire(s)
		}
		times := max(1, int(float64(than.times)*min(1, 5**size)))
		c := inPairs(t, before, times, crossing, work)
		b.beside("crossing_time_vs_"+than.name+"_"+refs, c.ratio, seconds(c.ours), seconds(c.theirs))
		b.beside("crossing_bytes_vs_"+than.name+"_"+refs, float64(theirs)/float64(ours), fmt.Sprintf("%d B", ours), fmt.Sprintf("%d B", theirs))
	}
	b.alone("crossing_bytes_"+refs, float64(ours))
	b.alone("crossing_requests_"+refs, float64(requests))
}

// A start is the input of a level change: the repository's URL, and from the state of
// an earlier tick the agreed tip and the tree of the sites.
type start struct{ url, agreed, sites string }

// begin returns the present start, and then has a user push to another file.
func begin(t *testing.T, s *gitserver.Server, o *gitserver.Origin, name, content string) start {
	t.Helper()
	at := start{s.URL(name), o.Tip("main"), hex.EncodeToString(o.Raw(t, "tree", "main:checkpoints"))}
	o.Push(t, "main", map[string]string{"area00/team00/file0.yaml": content}, "work")
	return at
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

// programs are the paths of the two measured programs: see scripts/bench-crossing and
// scripts/bench-gogit.
type programs struct{ ours, gogit string }

func (p programs) cross(t *testing.T, at start, n int) {
	t.Helper()
	run(t, p.ours, at.url, at.agreed, at.sites, record, fmt.Sprintf("level: %d\n", n))
}

func (p programs) goGit(t *testing.T, at start, n int) {
	t.Helper()
	run(t, p.gogit, at.url, at.agreed, record, fmt.Sprintf("go-git: %d\n", n))
}

// gitIn runs git in a folder with a standard input, and returns its output.
func gitIn(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, strings.NewReader(input), gitserver.Environ()
	var words strings.Builder
	cmd.Stderr = &words
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, words.String())
	}
	return strings.TrimSpace(string(out))
}

// gitSparse is a level change by git with a partial clone and a sparse checkout. A Lambda has
// no disk from one run to the next, so each run clones.
func gitSparse(t *testing.T, at start, n int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git := func(args ...string) { gitIn(t, dir, "", args...) }
	gitIn(t, "", "", "clone", "--quiet", "--depth=1", "--no-tags", "--branch=main", "--filter=blob:none", "--sparse", "--no-checkout", at.url, dir)
	git("sparse-checkout", "set", "--cone", "--sparse-index", "checkpoints/prod")
	git("checkout", "--quiet", "main")
	must(t, os.WriteFile(filepath.Join(dir, record), fmt.Appendf(nil, "sparse: %d\n", n), 0o644))
	git("commit", "--quiet", "--all", "--message=level")
	git("push", "--quiet", "origin", "HEAD:main")
}

// gitPlumbing is a level change by git without a work tree, as an experienced user
// scripts it to save bytes. It makes a bare partial clone with the root tree, gets the
// checkpoint files in two fetches, and builds new trees with mktree. A sparse checkout
// reads all trees of the repository, and this script reads only the required ones. A
// clone has no agreed commit, so it does not fetch a window of commits.
func gitPlumbing(t *testing.T, at start, n int) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	git := func(input string, args ...string) string { return gitIn(t, dir, input, args...) }
	gitIn(t, "", "", "clone", "--quiet", "--bare", "--depth=1", "--no-tags", "--branch=main", "--filter=tree:1", at.url, dir)
	tip := git("", "rev-parse", "main")
	var blobs strings.Builder
	for line := range strings.Lines(git("", "ls-tree", "-r", "main:checkpoints/prod")) {
		fmt.Fprintln(&blobs, strings.Fields(line)[2])
	}
	// Git fetches the missing objects of a checkout in the same way.
	git(blobs.String(), "-c", "fetch.negotiationAlgorithm=noop", "fetch", "origin", "--quiet", "--no-tags", "--no-write-fetch-head",
		"--recurse-submodules=no", "--filter=blob:none", "--stdin")
	git(blobs.String(), "cat-file", "--batch")
	id, folder := git(fmt.Sprintf("plumbing: %d\n", n), "hash-object", "-w", "--stdin"), record
	for folder != "." {
		name := path.Base(folder)
		folder = path.Dir(folder)
		var tree strings.Builder
		for line := range strings.Lines(git("", "ls-tree", "main:"+strings.TrimPrefix(folder, "."))) {
			entry, held, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			if held == name {
				entry = strings.Join(append(strings.Fields(entry)[:2], id), " ")
			}
			fmt.Fprintf(&tree, "%s\t%s\n", entry, held)
		}
		id = git(tree.String(), "mktree", "--missing")
	}
	commit := git("", "commit-tree", id, "-p", tip, "-m", "level")
	git("", "push", "--quiet", "--force-with-lease=main:"+tip, "origin", commit+":refs/heads/main")
}

func run(t *testing.T, program string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// program builds a measured program.
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

// All compared programs do the same work: afterwards the branch has the new content,
// and the user's commit below it.
func TestBaselinesPushToo(t *testing.T) {
	t.Parallel()
	s := gitserver.Start(t)
	by := programs{ours: program(t, "bench-crossing"), gogit: program(t, "bench-gogit")}
	o := repository(t, s, "small", 20, 10)
	for want, work := range map[string]func(at start){
		"level: 1\n":    func(at start) { by.cross(t, at, 1) },
		"go-git: 2\n":   func(at start) { by.goGit(t, at, 2) },
		"plumbing: 3\n": func(at start) { gitPlumbing(t, at, 3) },
		"sparse: 4\n":   func(at start) { gitSparse(t, at, 4) },
	} {
		at := begin(t, s, o, "small", want)
		users := o.Tip("main")
		s.Reset()
		work(at)
		if got := o.Show(t, "main", record); got != want || o.Git(t, "rev-parse", "main^") != users {
			t.Errorf("the checkpoint file is %q, want %q on the user's commit", got, want)
		}
		if tree := o.Git(t, "diff", "--name-only", users, "main"); tree != record {
			t.Errorf("%q: changed %q", want, tree)
		}
		if bytes, _ := wire(s); bytes == 0 {
			t.Error("no bytes were counted")
		}
	}
}
