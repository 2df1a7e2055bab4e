package gitwire_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A repository with a working tree is written like a bare one. Only its checked-out
// branch is refused, because its files would seem changed.
func TestACheckedOutBranchIsRefused(t *testing.T) {
	t.Parallel()
	origin := gitserver.NewOrigin(t, filepath.Join(t.TempDir(), "bare"), site(1))
	work := filepath.Join(t.TempDir(), "work")
	origin.Git(t, "clone", "--quiet", origin.Dir, work)
	person := &gitserver.Origin{Dir: work}

	r := open(t, gitwire.Options{URL: work})
	_, err := r.Commit(t.Context(), edit(person.Tip("main"), "a", "1"))
	var refused *repo.RefusedError
	if !errors.As(err, &refused) || !strings.Contains(refused.Why, "checked out") {
		t.Fatalf("commit to the branch that is checked out: %v", err)
	}
	person.Git(t, "checkout", "--quiet", "-b", "other")
	id, err := r.Commit(t.Context(), edit(person.Tip("main"), "a", "1"))
	if err != nil || person.Tip("main") != id {
		t.Errorf("commit beside the branch that is checked out: %s, %v", id, err)
	}

	linked := filepath.Join(t.TempDir(), "linked")
	person.Git(t, "worktree", "add", "--quiet", linked, "main")
	if _, err := gitwire.Open(gitwire.Options{URL: linked, Branch: "main"}); err == nil || !strings.Contains(err.Error(), "linked worktree") {
		t.Errorf("open a linked worktree: %v", err)
	}
}

// A clone with --shared or --reference has its objects in another repository.
func TestObjectsOfAnotherRepository(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir(), site(2))
	shared := filepath.Join(t.TempDir(), "shared.git")
	o.Git(t, "clone", "--quiet", "--bare", "--shared", o.Dir, shared)
	r := open(t, gitwire.Options{URL: shared})
	found, err := r.Read(t.Context(), o.Tip("main"), nil, "checkpoints")
	if err != nil || len(found["checkpoints"].Files) == 0 {
		t.Fatalf("read %v, %v", found, err)
	}
	id, err := r.Commit(t.Context(), edit(o.Tip("main"), "checkpoints/prod/ns000.levels.yaml", "ours\n"))
	if clone := (&gitserver.Origin{Dir: shared}); err != nil || clone.Tip("main") != id {
		t.Errorf("commit: %s, %v", id, err)
	}
}

// A branch that does not exist is an error with the branches that do, in each version of the
// protocol and on disk.
func TestABranchThatDoesNotExist(t *testing.T) {
	t.Parallel()
	server := gitserver.Start(t)
	old := gitserver.Start(t)
	old.OnlyV0(true)
	for name, dir := range map[string]string{server.URL("site"): server.Dir("site"), old.URL("site"): old.Dir("site"), "": filepath.Join(t.TempDir(), "site")} {
		o := gitserver.NewOrigin(t, dir, nil)
		if name == "" {
			name = o.Dir
		}
		r := open(t, gitwire.Options{URL: name})
		if _, _, err := r.Heads(t.Context()); !errors.Is(err, repo.ErrNoBranch) || !strings.HasSuffix(err.Error(), "The repository is empty") {
			t.Errorf("%s: an empty repository: %v", name, err)
		}
		for n := range 12 {
			o.Push(t, fmt.Sprintf("b%02d", n), map[string]string{"a": "1"}, "begin")
		}
		o.Git(t, "pack-refs", "--all")
		o.Push(t, "b00", map[string]string{"a": "2"}, "loose and packed")
		_, _, err := r.Heads(t.Context())
		const want = `branch "main": branch does not exist. Existing branches: b00, b01, b02, b03, b04, b05, b06, b07, b08, b09 and 2 more`
		if !errors.Is(err, repo.ErrNoBranch) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestADiskSeesWhatGitDoesMeanwhile(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir(), site(5))
	r := open(t, gitwire.Options{URL: "file://" + o.Dir})
	parent := o.Tip("main")
	for n := range 5 {
		path := fmt.Sprintf("checkpoints/prod/ns%03d.levels.yaml", n)
		if _, err := r.Read(t.Context(), parent, nil, "checkpoints"); err != nil {
			t.Fatal(err)
		}
		id, err := r.Commit(t.Context(), edit(parent, path, "ours\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Show(t, "main", path); got != "ours\n" {
			t.Errorf("git shows %q", got)
		}
		parent = o.Push(t, "main", map[string]string{"rival": id}, "rival")
		o.Git(t, "gc", "--quiet", "--prune=now")
	}
	o.Check(t)
	if log := o.Log(t, "main"); len(log) != 11 {
		t.Errorf("the log has %d commits, want 11", len(log))
	}
	if left, _ := filepath.Glob(filepath.Join(o.Dir, "refs/heads/*.lock")); len(left) != 0 {
		t.Errorf("locks left behind: %v", left)
	}
}

func TestALockLeftBehindIsNamed(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir(), site(1))
	lock := filepath.Join(o.Dir, "refs/heads/main.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, gitwire.Options{URL: o.Dir}).Commit(t.Context(), edit(o.Tip("main"), "a", "1"))
	if err == nil || !strings.Contains(err.Error(), lock) {
		t.Errorf("commit to a locked branch: %v, want the lock named", err)
	}
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("another's lock was removed: %v", err)
	}
}

// git runs the hooks. gitlatch does not bypass a hook that may decline the push, and
// looks for hooks in the same place as git.
func TestAHookThatMightDeclineIsNotGoneRound(t *testing.T) {
	t.Parallel()
	elsewhere := t.TempDir()
	for _, c := range []struct {
		name, path string // of the hook, from the repository
		folder     string // core.hooksPath
		mode       os.FileMode
		refused    bool
	}{
		{"pre-receive", "hooks/pre-receive", "", 0o755, true},
		{"update", "hooks/update", "", 0o755, true},
		{"reference-transaction", "hooks/reference-transaction", "", 0o755, true},
		{"of the owner alone", "hooks/update", "", 0o700, true},
		{"in a folder of its own", "policies/update", "policies", 0o755, true},
		{"in a folder elsewhere", filepath.Join(elsewhere, "update"), elsewhere, 0o755, true},
		{"not where hooks are", "hooks/update", "policies", 0o755, false},
		{"not executable", "hooks/update", "", 0o644, false},
		{"a sample", "hooks/update.sample", "", 0o755, false},
		{"one that only hears of it", "hooks/post-receive", "", 0o755, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := gitserver.NewOrigin(t, t.TempDir(), site(1))
			clone := filepath.Join(t.TempDir(), "clone")
			o.Git(t, "clone", "--quiet", o.Dir, clone)
			if c.folder != "" {
				o.Config(t, "core.hooksPath", c.folder)
			}
			hook := c.path
			if !filepath.IsAbs(hook) {
				hook = filepath.Join(o.Dir, hook)
			}
			must(t, os.MkdirAll(filepath.Dir(hook), 0o755))
			must(t, os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), c.mode))
			tip := o.Tip("main")

			tries := 1
			r := open(t, gitwire.Options{URL: o.Dir, Pause: func(context.Context, int) error { tries++; return nil }})
			id, err := r.Commit(t.Context(), edit(tip, "a", "1"))
			var refused *repo.RefusedError
			switch {
			case !c.refused && (err != nil || o.Tip("main") != id):
				t.Errorf("commit: %s, %v", id, err)
			case c.refused && (!errors.As(err, &refused) || !strings.Contains(refused.Why, hook) || !strings.Contains(refused.Remedy(), "URL of the repository's server")):
				t.Errorf("commit: %v, want a RefusedError that names %s", err, hook)
			case c.refused && (o.Tip("main") != tip || tries != 1):
				t.Errorf("the branch moved, or %d tries were made", tries)
			}

			push := exec.CommandContext(t.Context(), "git", "-C", clone, "push", "--quiet", "origin", "main:refs/heads/probe")
			push.Env = gitserver.Environ()
			if out, err := push.CombinedOutput(); (err != nil) != c.refused {
				t.Errorf("git's own push: %v, %s", err, out)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
