package repotest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

func commitChanges(t *testing.T, setup Setup) {
	const gone = gitserver.Removed
	before := map[string]string{
		"README.md": "hello\n", "a/b/c/one": "1", "a/b/two": "2", "a.txt": "sorts before a/", "a0": "sorts after a/", "z/last": "z",
	}
	f := setup(t, before)
	r, base := f.Open(t), f.Origin.Tip("main")
	for n, c := range []struct {
		name  string
		files map[string]string
	}{
		{"a file at the root", map[string]string{"README.md": "bye\n"}},
		{"a nested file", map[string]string{"a/b/c/one": "11"}},
		{"a new nested path", map[string]string{"checkpoints/site/shop.levels.yaml": "new", "checkpoints/site/site.yaml": "new"}},
		{"a new directory that sorts between", map[string]string{"a-/x": "1", "a/x": "1", "a1": "1", "a.d/x": "1"}},
		{"a new directory beside a file that begins like it", map[string]string{"README/x": "1"}},
		{"an empty file", map[string]string{"a/empty": ""}},
		{"two files with one content", map[string]string{"m/1": "same", "m/2": "same"}},
		{"a removed file", map[string]string{"a/b/two": gone}},
		{"a directory emptied with its parents", map[string]string{"z/last": gone}},
		{"a deep directory emptied", map[string]string{"a/b/c/one": gone}},
		{"removed beside added", map[string]string{"a/b/c/one": gone, "a/b/c/two": "2", "z/last": gone}},
		{"a file in place of a directory's name", map[string]string{"a/b/two": gone, "a/b/two/x": "1"}},
		{"missing files removed", map[string]string{"absent": gone, "a/absent": gone, "no/such/dir": gone, "README.md/x": gone, "a/new": "1"}},
		{"everything removed", map[string]string{"README.md": gone, "a/b/c/one": gone, "a/b/two": gone, "a.txt": gone, "a0": gone, "z/last": gone}},
	} {
		f.Origin.ForcePush(t, "main", base)
		id, err := r.Commit(within(t), change(base, c.files))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if tip := f.Origin.Tip("main"); tip != id {
			t.Fatalf("%s: the branch is at %s, the commit is %s", c.name, tip, id)
		}
		if got := f.Origin.Git(t, "rev-parse", "main^@"); got != base {
			t.Errorf("%s: parents are %q, want %s", c.name, got, base)
		}
		// git makes the same tree from the same files.
		want := maps.Clone(before)
		maps.Copy(want, c.files)
		maps.DeleteFunc(want, func(_, content string) bool { return content == gone })
		twin := f.Origin.Push(t, fmt.Sprintf("twin/%d", n), want, "twin")
		if f.Origin.Git(t, "rev-parse", "main^{tree}") != f.Origin.Git(t, "rev-parse", twin+"^{tree}") {
			t.Errorf("%s: tree is %v\nwant    %v", c.name, f.Origin.Tree(t, "main"), f.Origin.Tree(t, twin))
		}
	}
	f.Origin.Check(t)
}

func commitKeepsModes(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"dir/plain": "1"})
	f.Origin.Commit(t, gitserver.Change{Branch: "main", Message: "run", Entries: []gitserver.Entry{
		{Path: "dir/run", Mode: "100755", Content: "1"},
		{Path: "dir/other", Mode: "100755", Content: "1"},
	}})
	mustCommit(t, f.Open(t), change(f.Origin.Tip("main"), map[string]string{"dir/run": "2", "dir/plain": "2", "dir/new": "2"}))
	held := f.Origin.Tree(t, "main")
	for path, mode := range map[string]string{"dir/run": "100755", "dir/other": "100755", "dir/plain": "100644", "dir/new": "100644"} {
		if !strings.HasPrefix(held[path], mode+" ") {
			t.Errorf("%s is %q, want mode %s", path, held[path], mode)
		}
	}
}

// Trees from old programs have modes that git no longer writes. Parts of a tree that a
// commit does not change must keep their hash, so these modes must not be rewritten. A
// server that makes the commits writes trees in its own form, so this does not apply to
// it.
func commitKeepsOddTrees(t *testing.T, setup Setup) {
	f := odd(t, setup)
	if f.ServerCommits {
		return
	}
	blob := f.Origin.GitInput(t, "group writable\n", "hash-object", "-w", "--stdin")
	line := func(mode, name, id string) string {
		var raw [20]byte
		for i := range raw {
			fmt.Sscanf(id[2*i:2*i+2], "%02x", &raw[i])
		}
		return mode + " " + name + "\x00" + string(raw[:])
	}
	hash := func(tree string) string {
		return f.Origin.GitInput(t, tree, "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
	}
	inner := hash(line("100664", "old", blob) + line("100755", "run", blob))
	root := hash(line("040000", "ancient", inner) + line("100664", "group", blob) +
		line("120000", "linked", f.Origin.Git(t, "rev-parse", "main:linked")) +
		line("160000", "module", f.Origin.Tip("main")) +
		line("40000", "plain", f.Origin.Git(t, "rev-parse", "main:plain")))
	parent := f.Origin.Git(t, "commit-tree", "-m", "ancient", root)
	f.Origin.ForcePush(t, "main", parent)

	mustCommit(t, f.Open(t), change(parent, map[string]string{"plain/file": "2", "ancient/run": "changed"}))
	got := f.Origin.Tree(t, "main")
	for path, mode := range map[string]string{"ancient/run": "100755", "plain/file": "100644", "linked": "120000", "module": "160000"} {
		if !strings.HasPrefix(got[path], mode+" ") {
			t.Errorf("%s is %q, want mode %s", path, got[path], mode)
		}
	}
	// ls-tree normalises modes: only the raw bytes show them.
	raw := string(f.Origin.Raw(t, "tree", "main^{tree}"))
	for _, want := range []string{"040000 ancient\x00", line("100664", "group", blob)} {
		if !strings.Contains(raw, want) {
			t.Errorf("the root tree lost %q", want)
		}
	}
	if raw := string(f.Origin.Raw(t, "tree", "main:ancient")); !strings.HasPrefix(raw, line("100664", "old", blob)) {
		t.Errorf("the tree next to a changed file was rewritten: %q", raw)
	}
}

func commitUnsafe(t *testing.T, setup Setup) {
	f := odd(t, setup)
	r := f.Open(t)
	tip := mustTip(t, r)
	for path, want := range map[string]repo.UnsafeError{
		"linked":         {Path: "linked", Why: "is a symlink"},
		"linked/file":    {Path: "linked", Why: "is a symlink"},
		"nested/linked":  {Path: "nested/linked", Why: "is a symlink"},
		"module":         {Path: "module", Why: "is a submodule"},
		"module/file":    {Path: "module", Why: "is a submodule"},
		"plain":          {Path: "plain", Why: "is a directory"},
		"plain/file/sub": {Path: "plain/file", Why: "is a file, but must be a directory"},
	} {
		var unsafe *repo.UnsafeError
		if id, err := r.Commit(within(t), change(tip, map[string]string{path: "x", "beside": "y"})); !errors.As(err, &unsafe) || *unsafe != want {
			t.Errorf("commit %s: %q, %v; want %v", path, id, err, &want)
		}
	}
	for _, path := range []string{"", "/a", "../a", ".git/hooks/pre-commit", "a/.GIT/x"} {
		if id, err := r.Commit(within(t), change(tip, map[string]string{path: "x"})); err == nil {
			t.Errorf("path %q was committed as %s", path, id)
		}
	}
	if f.Origin.Tip("main") != tip {
		t.Error("the branch moved all the same")
	}
}

func commitHeader(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	c := change(f.Origin.Tip("main"), map[string]string{"a": "2"})
	id := mustCommit(t, f.Open(t), c)
	if got := f.Origin.Git(t, "log", "-1", "--format=%at %ct", id); !f.ServerCommits && got != fmt.Sprintf("%d %d", c.When.Unix(), c.When.Unix()) {
		t.Errorf("times are %s, want %d twice", got, c.When.Unix())
	}
	if got := f.Origin.Git(t, "log", "-1", "--format=%B", id); got != c.Message {
		t.Errorf("message is %q, want %q", got, c.Message)
	}
	log, _, err := f.Open(t).History(within(t), id, "", 1)
	if err != nil || len(log) != 1 {
		t.Fatalf("history is %v, %v", log, err)
	}
	if log[0].Message != c.Message || !f.ServerCommits && !log[0].When.Equal(c.When) || log[0].Author == "" {
		t.Errorf("history reads %+v", log[0])
	}
}

// A process that does not know whether its commit reached the branch makes it again.
func commitTwice(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	c := change(f.Origin.Tip("main"), map[string]string{"a": "2", "b/c": "3"})
	first := mustCommit(t, f.Open(t), c)
	if again := mustCommit(t, f.Open(t), c); again != first {
		t.Errorf("made again it is %s, was %s", again, first)
	}
	f.Origin.Push(t, "main", map[string]string{"a": "rival"}, "rival on top")
	if again := mustCommit(t, f.Open(t), c); again != first {
		t.Errorf("made again below a rival's it is %s, was %s", again, first)
	}
	if log := f.Origin.Log(t, "main"); !slices.Equal(log, []string{"rival on top", "latch(site): one level", "begin"}) {
		t.Errorf("log is %q", log)
	}
}

func commitStale(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1", "b": "1"})
	r := f.Open(t)
	stale := mustTip(t, r)
	mustRead(t, r, stale, nil, "a")
	rival := f.Origin.Push(t, "main", map[string]string{"b": "rival"}, "rival")

	if id, err := r.Commit(within(t), change(stale, map[string]string{"a": "2"})); !errors.Is(err, repo.ErrMoved) {
		t.Fatalf("on a stale parent: %q, %v; want ErrMoved", id, err)
	}
	if tip := f.Origin.Tip("main"); tip != rival {
		t.Fatalf("the rival's commit is no longer the tip: %s", tip)
	}
	mustCommit(t, r, change(mustTip(t, r), map[string]string{"a": "2"}))
	if a, b := f.Origin.Show(t, "main", "a"), f.Origin.Show(t, "main", "b"); a != "2" || b != "rival" {
		t.Errorf("after a second try a is %q and b %q, want both changes", a, b)
	}
}

func commitGone(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	r := f.Open(t)
	parent := mustTip(t, r)
	mustRead(t, r, parent, nil, "a")
	f.Origin.ForcePush(t, "main", "")
	if id, err := r.Commit(within(t), change(parent, map[string]string{"a": "2"})); !errors.Is(err, repo.ErrMoved) {
		t.Errorf("on a branch that is gone: %q, %v; want ErrMoved", id, err)
	}
	if tip := f.Origin.Tip("main"); tip != "" {
		t.Errorf("the branch is back, at %s", tip)
	}
}

func commitRefused(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	r := f.Open(t)
	tip := mustTip(t, r)
	f.Refuse(t, "main takes changes by pull request only")
	var refused *repo.RefusedError
	id, err := r.Commit(within(t), change(tip, map[string]string{"a": "2"}))
	if !errors.As(err, &refused) {
		t.Fatalf("refused by the server: %q, %v; want a RefusedError", id, err)
	}
	if refused.Why == "" || strings.Contains(refused.Why, "\n") {
		t.Errorf("the reason is %q, want one line", refused.Why)
	}
	if f.Origin.Tip("main") != tip {
		t.Error("the branch moved all the same")
	}
}

func readOwn(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"dir/a": "1", "dir/b": "1"})
	r := f.Open(t)
	parent := mustTip(t, r)
	for n := range 3 {
		want := fmt.Sprint(n)
		parent = mustCommit(t, r, change(parent, map[string]string{"dir/a": want, "new/" + want: want}))
		if got := mustRead(t, r, parent, nil, "dir")["dir"]; string(got.Files["dir/a"]) != want || string(got.Files["dir/b"]) != "1" {
			t.Errorf("after commit %d it reads %q", n, got.Files)
		}
	}
}

// Each of the racers writes a separate file and a shared counter, and starts again
// whenever another one moved the branch.
func racers(t *testing.T, setup Setup) {
	const writers = 4
	f := setup(t, map[string]string{"count": ""})
	var all sync.WaitGroup
	for n := range writers {
		r := f.Open(t)
		all.Go(func() {
			for range 20 * writers {
				switch err := once(within(t), r, fmt.Sprintf("writers/%02d", n)); {
				case errors.Is(err, repo.ErrMoved):
					continue
				case err != nil:
					t.Errorf("writer %d: %v", n, err)
				}
				return
			}
			t.Errorf("writer %d never landed", n)
		})
	}
	all.Wait()
	if log := f.Origin.Log(t, "main"); len(log) != writers+1 {
		t.Errorf("%d commits landed, want %d", len(log)-1, writers)
	}
	if got := f.Origin.Show(t, "main", "count"); len(got) != writers {
		t.Errorf("the counter holds %d marks, want %d", len(got), writers)
	}
	if got := f.Origin.Tree(t, "main"); len(got) != writers+1 {
		t.Errorf("the tree holds %d files, want %d", len(got), writers+1)
	}
	f.Origin.Check(t)
}

func once(ctx context.Context, r repo.Repository, path string) error {
	tip, _, err := r.Heads(ctx)
	if err != nil {
		return err
	}
	found, err := r.Read(ctx, tip, nil, "count")
	if err != nil {
		return err
	}
	count := string(found["count"].Files["count"])
	_, err = r.Commit(ctx, change(tip, map[string]string{"count": count + "x", path: "mine"}))
	return err
}
