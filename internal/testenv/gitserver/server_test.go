package gitserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The client in this test is the git program itself, which shows that git accepts the
// server that later tests use.
func TestGitClonesAndPushesThroughTheServer(t *testing.T) {
	t.Parallel()
	s := Start(t)
	o := s.Create(t, "shop", map[string]string{"a/b": "one\n"})
	clone := filepath.Join(t.TempDir(), "clone")

	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Env = Environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("clone", "--quiet", s.URL("shop"), clone)
	big := strings.Repeat("a line that does not compress away 0123456789\n", 100_000)
	if err := os.WriteFile(filepath.Join(clone, "big"), []byte(big), 0o644); err != nil {
		t.Fatal(err)
	}
	git("-C", clone, "add", "big")
	git("-C", clone, "commit", "--quiet", "-m", "big")
	git("-C", clone, "-c", "http.postBuffer=1000", "push", "--quiet")

	if got := o.Show(t, "main", "big"); got != big {
		t.Errorf("pushed %d bytes, the origin holds %d", len(big), len(got))
	}
	var pushes int
	for _, r := range s.Requests() {
		if r.Service() == "git-receive-pack" && r.Status == 200 {
			pushes++
		}
	}
	if pushes == 0 {
		t.Errorf("no push among %v", s.Requests())
	}
}

func TestAnOriginIsHandledAsAPersonWould(t *testing.T) {
	t.Parallel()
	o := NewOrigin(t, t.TempDir(), map[string]string{"a": "1", "dir/b": "2"})
	first := o.Tip("main")
	second := o.Push(t, "main", map[string]string{"a": Removed, "dir/c": "3"}, "second")

	if got := strings.Join(o.Log(t, "main"), ","); got != "second,begin" {
		t.Errorf("log is %s", got)
	}
	if tree := o.Tree(t, "main"); len(tree) != 2 || tree["a"] != "" {
		t.Errorf("tree is %v", tree)
	}
	o.ForcePush(t, "main", first)
	if o.Tip("main") != first || o.Show(t, second, "dir/c") != "3" {
		t.Error("force-push did not move the branch, or lost the commit")
	}
	o.ForcePush(t, "main", "")
	if o.Tip("main") != "" {
		t.Error("the branch is still there")
	}
}

// A branch has the same tip and files if git packs its ref.
func TestABranchIsReadLooseAndPacked(t *testing.T) {
	t.Parallel()
	o := NewOrigin(t, t.TempDir(), map[string]string{"a.txt": "one\n", "b/c.txt": ""})
	o.Push(t, "topic/x", map[string]string{"a.txt": "two\n"}, "change")
	for _, packed := range []bool{false, true} {
		if packed {
			o.Git(t, "pack-refs", "--all")
		}
		for _, branch := range []string{"main", "topic/x"} {
			if got, want := o.Tip(branch), o.Git(t, "rev-parse", "refs/heads/"+branch); got != want {
				t.Errorf("packed %v: tip %q, want %q", packed, got, want)
			}
		}
		if got := o.Tip("absent"); got != "" {
			t.Errorf("packed %v: an absent branch has the tip %q", packed, got)
		}
	}
	if got := o.Files(t, "main"); len(got) != 2 || got["a.txt"] != "one\n" || got["b/c.txt"] != "" {
		t.Errorf("files %q", got)
	}
}
