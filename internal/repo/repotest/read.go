package repotest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

func tip(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	f.Origin.Push(t, "main-2", map[string]string{"a": "not this branch"}, "begin")
	r := f.Open(t)
	if got, want := mustTip(t, r), f.Origin.Tip("main"); got != want {
		t.Errorf("tip is %s, want %s", got, want)
	}
	want := f.Origin.Push(t, "main", map[string]string{"a": "2"}, "rival")
	if got := mustTip(t, r); got != want {
		t.Errorf("tip after a rival's push is %s, want %s", got, want)
	}
	f.Origin.Git(t, "pack-refs", "--all")
	if got := mustTip(t, r); got != want {
		t.Errorf("tip of a packed ref is %s, want %s", got, want)
	}
}

func tipOfNoBranch(t *testing.T, setup Setup) {
	f := setup(t, nil)
	if tip, _, err := f.Open(t).Heads(within(t)); !errors.Is(err, repo.ErrNoBranch) || !strings.Contains(err.Error(), `"main"`) {
		t.Errorf("in an empty repository: %q, %v; want ErrNoBranch that names the branch", tip, err)
	}
	f.Origin.Push(t, "main/nested", map[string]string{"a": "1"}, "begin")
	if tip, _, err := f.Open(t).Heads(within(t)); !errors.Is(err, repo.ErrNoBranch) {
		t.Errorf("beside another branch: %q, %v; want ErrNoBranch", tip, err)
	}
}

func otherHeads(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	base := f.Origin.Tip("main")
	one := f.Origin.Push(t, "gitlatch/one", map[string]string{"a": "2"}, "one")
	two := f.Origin.Push(t, "gitlatch/two", map[string]string{"a": "3"}, "two")
	f.Origin.Push(t, "gitlatch/one-more", map[string]string{"a": "4"}, "begins like one")
	r := f.Open(t)
	got, others, err := r.Heads(within(t), "gitlatch/two", "absent", "gitlatch/one", "gitlatch")
	if err != nil || got != base || !slices.Equal(others, []string{two, "", one, ""}) {
		t.Errorf("heads are %s, %q, %v; want %s, then two, \"\", one, \"\"", got, others, err, base)
	}
	f.Origin.Git(t, "pack-refs", "--all")
	f.Origin.ForcePush(t, "gitlatch/two", "")
	if _, others, err = r.Heads(within(t), "gitlatch/one", "gitlatch/two"); err != nil || !slices.Equal(others, []string{one, ""}) {
		t.Errorf("after one was removed: %q, %v", others, err)
	}
	for _, name := range []string{"", "refs/heads/gitlatch/one", "a..b", "with space"} {
		if _, others, err := r.Heads(within(t), name); err == nil {
			t.Errorf("branch %q is at %q", name, others)
		}
	}
}

func readPaths(t *testing.T, setup Setup) {
	binary := "\x00\xff\r\nno newline at the end"
	f := setup(t, map[string]string{
		"gitlatch.yaml":             "kind: Policy\n",
		"checkpoints/a/site.yaml":   "a",
		"checkpoints/a/shop/x.yaml": "x",
		"checkpoints/a/shop/y.yaml": "x", // the same blob twice
		"checkpoints/b/binary":      binary,
		"checkpoints/b/empty":       "",
		"zoo/deep/deeper/deepest/f": "deep",
	})
	r := f.Open(t)
	paths := map[string]map[string]string{
		"gitlatch.yaml":        {"gitlatch.yaml": "kind: Policy\n"},
		"checkpoints/a":        {"checkpoints/a/site.yaml": "a", "checkpoints/a/shop/x.yaml": "x", "checkpoints/a/shop/y.yaml": "x"},
		"checkpoints/a/shop":   {"checkpoints/a/shop/x.yaml": "x", "checkpoints/a/shop/y.yaml": "x"},
		"checkpoints/b":        {"checkpoints/b/binary": binary, "checkpoints/b/empty": ""},
		"zoo":                  {"zoo/deep/deeper/deepest/f": "deep"},
		"checkpoints/c":        nil,
		"absent":               nil,
		"gitlatch.yaml/absent": nil,
		"absent/further":       nil,
	}
	found := mustRead(t, r, mustTip(t, r), nil, slices.Collect(maps.Keys(paths))...)
	for path, want := range paths {
		got := found[path]
		id := ""
		if want != nil {
			id = f.Origin.Git(t, "rev-parse", "main:"+path)
		}
		if got.ID != id {
			t.Errorf("%s has id %q, want %q", path, got.ID, id)
		}
		if len(got.Files) != len(want) {
			t.Errorf("%s holds %d files, want %d", path, len(got.Files), len(want))
		}
		for file, content := range want {
			if string(got.Files[file]) != content {
				t.Errorf("%s: %s is %q, want %q", path, file, got.Files[file], content)
			}
		}
	}
}

func readKnown(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"dir/a": "1", "file": "2", "other": "3"})
	r := f.Open(t)
	tip := mustTip(t, r)
	first := mustRead(t, r, tip, nil, "dir", "file", "other")
	known := map[string]string{"dir": first["dir"].ID, "file": first["file"].ID, "other": strings.Repeat("0", 40)}

	again := mustRead(t, f.Open(t), tip, known, "dir", "file", "other")
	for path, object := range again {
		if object.ID != first[path].ID {
			t.Errorf("%s has id %s, had %s", path, object.ID, first[path].ID)
		}
		if skipped := object.Files == nil; skipped != (path != "other") {
			t.Errorf("%s: content left out is %v", path, skipped)
		}
	}
	moved := f.Origin.Push(t, "main", map[string]string{"dir/b": "4"}, "rival")
	if got := mustRead(t, r, moved, known, "dir")["dir"]; string(got.Files["dir/b"]) != "4" || got.ID == known["dir"] {
		t.Errorf("a directory that changed reads %v", got)
	}
}

func readOlder(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"dir/a": "old"})
	older := f.Origin.Tip("main")
	newer := f.Origin.Push(t, "main", map[string]string{"dir/a": "new"}, "rival")
	r := f.Open(t)
	for commit, want := range map[string]string{older: "old", newer: "new"} {
		if got := mustRead(t, r, commit, nil, "dir/a")["dir/a"]; string(got.Files["dir/a"]) != want {
			t.Errorf("at %s: %q, want %q", commit, got.Files["dir/a"], want)
		}
	}
}

const lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"

// odd returns a repository with one entry of each kind that must not be followed.
func odd(t *testing.T, setup Setup) Fixture {
	f := setup(t, map[string]string{"plain/file": "1", "lfs/pointer": lfs, "lfs/file": "2", "nested/file": "3"})
	f.Origin.Commit(t, gitserver.Change{Branch: "main", Message: "odd", Entries: []gitserver.Entry{
		{Path: "linked", Mode: "120000", Content: "plain"},
		{Path: "nested/linked", Mode: "120000", Content: "../plain/file"},
		{Path: "module", Mode: "160000", Content: f.Origin.Tip("main")},
	}})
	return f
}

func readUnsafe(t *testing.T, setup Setup) {
	f := odd(t, setup)
	r := f.Open(t)
	tip := mustTip(t, r)
	for path, want := range map[string]repo.UnsafeError{
		"linked":          {Path: "linked", Why: "is a symlink"},
		"linked/file":     {Path: "linked", Why: "is a symlink"},
		"nested/linked":   {Path: "nested/linked", Why: "is a symlink"},
		"module":          {Path: "module", Why: "is a submodule"},
		"module/anything": {Path: "module", Why: "is a submodule"},
		"lfs/pointer":     {Path: "lfs/pointer", Why: "is a Git LFS pointer"},
	} {
		var unsafe *repo.UnsafeError
		if _, err := r.Read(within(t), tip, nil, "plain", path); !errors.As(err, &unsafe) || *unsafe != want {
			t.Errorf("read %s: %v, want %v", path, err, &want)
		}
	}
	mustRead(t, r, tip, nil, "plain", "nested/absent")

	// The files next to them can be read.
	for path, want := range map[string]string{"nested": "nested/linked is a symlink", "lfs": "lfs/pointer is a Git LFS pointer"} {
		o := mustRead(t, r, tip, nil, path)[path]
		var unsafe []string
		for at, why := range o.Unsafe {
			unsafe = append(unsafe, at+" "+why)
		}
		if len(o.Files) != 1 || len(unsafe) != 1 || unsafe[0] != want {
			t.Errorf("read %s: files %q, unsafe %q; want one file, and %s", path, o.Files, unsafe, want)
		}
	}
}

func readBadArguments(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	r := f.Open(t)
	tip := mustTip(t, r)
	for _, path := range []string{"", "/a", "a/", "a//b", "../a", "./a", ".git/config"} {
		if found, err := r.Read(within(t), tip, nil, path); err == nil {
			t.Errorf("path %q reads %v", path, found)
		}
	}
	for _, commit := range []string{"", "main", tip[:12], strings.Repeat("1", 40)} {
		if found, err := r.Read(within(t), commit, nil, "a"); err == nil {
			t.Errorf("commit %q reads %v", commit, found)
		}
	}
}

func history(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "0"})
	ids := []string{f.Origin.Tip("main")}
	for n := 1; n < 5; n++ {
		ids = append(ids, f.Origin.Push(t, "main", map[string]string{"a": fmt.Sprint(n)}, fmt.Sprintf("number %d\n\nwith a body\n", n)))
	}
	slices.Reverse(ids)
	absent := strings.Repeat("1", 40)
	for _, c := range []struct {
		name  string
		until string
		limit int
		want  int // entries, from the tip
		whole bool
	}{
		{"all, with room", "", 10, 5, true},
		{"all, just so", "", 5, 5, true},
		{"up to a limit", "", 3, 3, false},
		{"until a commit, itself included", ids[2], 10, 3, false},
		{"until the tip", ids[0], 10, 1, false},
		{"until the first commit", ids[4], 10, 5, true},
		{"until one that is not there", absent, 10, 5, true},
		{"a limit before until", ids[4], 2, 2, false},
	} {
		log, whole, err := f.Open(t).History(within(t), ids[0], c.until, c.limit)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := logIDs(log); !slices.Equal(got, ids[:c.want]) || whole != c.whole {
			t.Errorf("%s: got %d entries, complete %v; want %d, %v", c.name, len(got), whole, c.want, c.whole)
		}
	}
	log, _, err := f.Open(t).History(within(t), ids[0], "", 1)
	if err != nil {
		t.Fatal(err)
	}
	want := repo.LogEntry{ID: ids[0], Author: "A Person <person@example.com>", When: gitserver.Epoch.Add(4 * 60e9), Message: "number 4\n\nwith a body\n"}
	if got := log[0]; got.ID != want.ID || got.Author != want.Author || got.Committer != want.Author || !got.When.Equal(want.When) || got.Message != want.Message {
		t.Errorf("entry is %+v, want %+v", got, want)
	}
	if log, _, err := f.Open(t).History(within(t), absent, "", 10); err == nil {
		t.Errorf("history of a commit that is not there is %v", log)
	}
}

// The history includes the commits of merged branches.
func historyThroughMerges(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "0"})
	base := f.Origin.Tip("main")
	f.Origin.ForcePush(t, "side", base)
	side := f.Origin.Push(t, "side", map[string]string{"side": "1"}, "on the side")
	main := f.Origin.Push(t, "main", map[string]string{"a": "1"}, "on main")
	merge := f.Origin.Commit(t, gitserver.Change{Branch: "main", Message: "merge", Merge: []string{side}})

	log, whole, err := f.Open(t).History(within(t), merge, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	if got := logIDs(log); !whole || !slices.Equal(got, []string{merge, main, side, base}) {
		t.Errorf("history of a merge is %v, complete %v; want merge, main, side, base", got, whole)
	}
	for i, want := range [][]string{{main, side}, {base}, {base}, nil} {
		if i < len(log) && !slices.Equal(log[i].Parents, want) {
			t.Errorf("parents of %s are %v, want %v", log[i].ID, log[i].Parents, want)
		}
	}
	if log, _, err = f.Open(t).History(within(t), merge, side, 10); err != nil || !slices.Contains(logIDs(log), side) {
		t.Errorf("until the merged commit: %v, %v", logIDs(log), err)
	}
}

func historyLong(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "0"})
	first := f.Origin.Tip("main")
	var stream strings.Builder
	for n := range 200 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A Person <person@example.com> %d +0000\ndata 2\nhi\n", gitserver.Epoch.Unix()+int64(n))
		if n == 0 {
			fmt.Fprintf(&stream, "from %s\n", first)
		}
	}
	f.Origin.GitInput(t, stream.String(), "fast-import", "--quiet")
	r := f.Open(t)
	tip := mustTip(t, r)
	for _, c := range []struct {
		until       string
		limit, want int
		whole       bool
	}{
		{"", 33, 33, false},
		{first, 1000, 201, true},
		{"", 200, 200, false},
		{"", 201, 201, true},
	} {
		log, whole, err := r.History(within(t), tip, c.until, c.limit)
		if err != nil || len(log) != c.want || whole != c.whole {
			t.Errorf("limit %d: %d entries, complete %v, %v; want %d, %v", c.limit, len(log), whole, err, c.want, c.whole)
		}
	}
}

func logIDs(log []repo.LogEntry) []string {
	var ids []string
	for _, e := range log {
		ids = append(ids, e.ID)
	}
	return ids
}

func deadline(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "1"})
	r := f.Open(t)
	tip := mustTip(t, r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.Heads(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("tip after the deadline: %v", err)
	}
	if _, err := r.Read(ctx, tip, nil, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("read after the deadline: %v", err)
	}
	if _, _, err := r.History(ctx, tip, "", 10); !errors.Is(err, context.Canceled) {
		t.Errorf("history after the deadline: %v", err)
	}
	if _, err := r.Commit(ctx, change(tip, map[string]string{"a": "2"})); !errors.Is(err, context.Canceled) {
		t.Errorf("commit after the deadline: %v", err)
	}
	if f.Origin.Tip("main") != tip {
		t.Error("the branch moved all the same")
	}
}
