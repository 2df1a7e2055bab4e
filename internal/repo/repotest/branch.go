package repotest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

const proposed = "gitlatch/site"

// on makes a change for the proposed branch.
func on(expect string, c repo.Commit) repo.Commit {
	c.Branch, c.Expect = proposed, expect
	return c
}

func branchMade(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1", "b": "1"})
	r, base := f.Open(t), f.Origin.Tip("main")
	id := mustCommit(t, r, on("", change(base, map[string]string{"a": "2"})))
	if got := f.Origin.Tip(proposed); got != id {
		t.Fatalf("the branch is at %q, the commit is %s", got, id)
	}
	if got := f.Origin.Tip("main"); got != base {
		t.Errorf("the base moved to %s", got)
	}
	if got := f.Origin.Git(t, "rev-parse", proposed+"^@"); got != base {
		t.Errorf("parents are %q, want the base", got)
	}
	if a, b := f.Origin.Show(t, proposed, "a"), f.Origin.Show(t, proposed, "b"); a != "2" || b != "1" {
		t.Errorf("a is %q and b %q, want 2 and 1", a, b)
	}
	if read := mustRead(t, f.Open(t), id, nil, "a")["a"]; string(read.Files["a"]) != "2" {
		t.Errorf("the branch reads %q", read.Files)
	}
	f.Origin.Check(t)
}

// A proposal is rebuilt on a moved base, which is not a fast-forward.
func branchRebuilt(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1", "b": "1"})
	r := f.Open(t)
	first := mustCommit(t, r, on("", change(mustTip(t, r), map[string]string{"a": "2"})))
	moved := f.Origin.Push(t, "main", map[string]string{"b": "rival"}, "rival")

	again := mustCommit(t, r, on(first, change(moved, map[string]string{"a": "3"})))
	if got := f.Origin.Tip(proposed); got != again {
		t.Fatalf("the branch is at %s, want %s", got, again)
	}
	if log := f.Origin.Log(t, proposed); !slices.Equal(log, []string{"latch(site): one level", "rival", "begin"}) {
		t.Errorf("log is %q", log)
	}
	files := slices.Sorted(maps.Keys(f.Origin.Tree(t, proposed)))
	if a, b := f.Origin.Show(t, proposed, "a"), f.Origin.Show(t, proposed, "b"); a != "3" || b != "rival" || len(files) != 2 {
		t.Errorf("a is %q and b %q among %q, want 3 and rival", a, b, files)
	}
	if f.Origin.Tip("main") != moved {
		t.Error("the base moved")
	}
}

func branchMoved(t *testing.T, setup Setup) {
	for name, prepare := range map[string]func(t *testing.T, f Fixture) (expect string){
		"is there already": func(t *testing.T, f Fixture) string {
			f.Origin.Push(t, proposed, map[string]string{"a": "taken"}, "taken")
			return ""
		},
		"was taken over": func(t *testing.T, f Fixture) string {
			r := f.Open(t)
			ours := mustCommit(t, r, on("", change(mustTip(t, r), map[string]string{"a": "2"})))
			f.Origin.Push(t, proposed, map[string]string{"a": "taken"}, "taken")
			return ours
		},
		"was force-pushed": func(t *testing.T, f Fixture) string {
			r := f.Open(t)
			ours := mustCommit(t, r, on("", change(mustTip(t, r), map[string]string{"a": "2"})))
			f.Origin.ForcePush(t, proposed, f.Origin.Tip("main"))
			return ours
		},
		"is gone": func(t *testing.T, f Fixture) string {
			r := f.Open(t)
			ours := mustCommit(t, r, on("", change(mustTip(t, r), map[string]string{"a": "2"})))
			f.Origin.ForcePush(t, proposed, "")
			return ours
		},
	} {
		f := setup(t, map[string]string{"a": "1"})
		expect := prepare(t, f)
		held := f.Origin.Tip(proposed)
		id, err := f.Open(t).Commit(within(t), on(expect, change(f.Origin.Tip("main"), map[string]string{"a": "3"})))
		if !errors.Is(err, repo.ErrMoved) {
			t.Errorf("a branch that %s: %q, %v; want ErrMoved", name, id, err)
		}
		if got := f.Origin.Tip(proposed); got != held {
			t.Errorf("a branch that %s went from %q to %q", name, held, got)
		}
	}
}

func branchTwice(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	base := f.Origin.Tip("main")
	c := on("", change(base, map[string]string{"a": "2"}))
	first := mustCommit(t, f.Open(t), c)
	if again := mustCommit(t, f.Open(t), c); again != first {
		t.Errorf("made again it is %s, was %s", again, first)
	}
	moved := f.Origin.Push(t, "main", map[string]string{"b": "rival"}, "rival")
	c = on(first, change(moved, map[string]string{"a": "2"}))
	second := mustCommit(t, f.Open(t), c)
	if again := mustCommit(t, f.Open(t), c); again != second || f.Origin.Tip(proposed) != second {
		t.Errorf("rebuilt again it is %s, was %s", again, second)
	}
	if log := f.Origin.Log(t, proposed); len(log) != 3 {
		t.Errorf("log is %q", log)
	}
}

func branchUnnamed(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	base := f.Origin.Tip("main")
	for _, name := range []string{"main", "refs/heads/x", "a..b", "with space", strings.Repeat("x", 5) + ".lock"} {
		c := change(base, map[string]string{"a": "2"})
		c.Branch = name
		if id, err := f.Open(t).Commit(within(t), c); err == nil {
			t.Errorf("branch %q was moved to %s", name, id)
		}
	}
	if refs := f.Origin.Git(t, "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" || f.Origin.Tip("main") != base {
		t.Errorf("refs are %q, the base at %s", refs, f.Origin.Tip("main"))
	}
}
