package repo_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// git itself decides which names are valid.
func TestBranchesAreNamedAsGitWantsIt(t *testing.T) {
	t.Parallel()
	names := []string{
		"", "main", "gitlatch/prod-eu", "a.b", "a/b.lock/c", "a.lock", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a..b",
		"@", "a@b", "a@{b", "@{u}", "-a", "a-", "a b", "a~", "a^", "a:b", "a?", "a*", "a[", `a\b`, "a\x00b", "a\tb", "a\x7f", "ü", "HEAD1",
	}
	for _, name := range names {
		want := !strings.Contains(name, "\x00") && exec.Command("git", "check-ref-format", "--branch", name).Run() == nil
		if name == "@" || strings.HasPrefix(name, "@{") {
			want = false // git reads these as names of other branches
		}
		if err := repo.CheckBranch(name); (err == nil) != want {
			t.Errorf("branch %q: %v, git takes it: %v", name, err, want)
		}
	}
	if repo.CheckBranch("refs/heads/main") == nil {
		t.Error("a name in full is taken")
	}
}
