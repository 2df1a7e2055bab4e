package repotest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

func between(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "0"})
	ids := []string{f.Origin.Tip("main")}
	for n := 1; n < 5; n++ {
		ids = append(ids, f.Origin.Push(t, "main", map[string]string{"a": fmt.Sprint(n)}, fmt.Sprintf("number %d\n\nwith a body\n", n)))
	}
	f.Origin.ForcePush(t, "side", ids[1])
	side := f.Origin.Push(t, "side", map[string]string{"side": "1"}, "on the side")
	absent := strings.Repeat("1", 40)
	reversed := slices.Clone(ids)
	slices.Reverse(reversed)
	for _, c := range []struct {
		name      string
		base, tip string
		want      []string
		descends  bool
	}{
		{"nothing", ids[4], ids[4], nil, true},
		{"one commit", ids[3], ids[4], reversed[:1], true},
		{"all but the first", ids[0], ids[4], reversed[:4], true},
		{"an older tip", ids[2], ids[1], nil, false},
		{"a tip that is not the branch's", ids[1], ids[3], reversed[1:3], true},
		{"a branch beside", ids[4], side, []string{side}, false},
		{"a base that is not there", absent, ids[4], reversed, false},
	} {
		got, err := f.Open(t).Between(within(t), c.base, c.tip)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !slices.Equal(logIDs(got.Commits), c.want) || got.Descends != c.descends || got.Cut {
			t.Errorf("%s: %v, descends %v, cut %v; want %v, %v", c.name, logIDs(got.Commits), got.Descends, got.Cut, c.want, c.descends)
		}
	}
	r := f.Open(t)
	for range 2 { // the second run uses the cache of the first
		mustRead(t, r, ids[4], nil, "a")
		mustRead(t, r, ids[0], nil, "a")
		got, err := r.Between(within(t), ids[3], ids[4])
		want := repo.LogEntry{ID: ids[4], Parents: ids[3:4], Author: "A Person <person@example.com>", Committer: "A Person <person@example.com>", When: gitserver.Epoch.Add(4 * 60e9), Message: "number 4\n\nwith a body\n"}
		if err != nil || len(got.Commits) != 1 || fmt.Sprint(got.Commits[0]) != fmt.Sprint(want) {
			t.Errorf("entry is %+v, %v; want %+v", got.Commits, err, want)
		}
	}
	if got, err := f.Open(t).Between(within(t), ids[0], absent); err == nil {
		t.Errorf("a tip that is not there gives %v", got)
	}
	for _, bad := range [][2]string{{"", ids[0]}, {ids[0], "main"}} {
		if got, err := f.Open(t).Between(within(t), bad[0], bad[1]); err == nil {
			t.Errorf("between %q and %q is %v", bad[0], bad[1], got)
		}
	}
}

// The commits of a merged branch are new if the base does not descend from them. If the
// base was merged into a branch, the branch descends from the base.
func betweenMerges(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "0"})
	first := f.Origin.Tip("main")
	f.Origin.ForcePush(t, "side", first)
	side := f.Origin.Push(t, "side", map[string]string{"side": "1"}, "on the side")
	main := f.Origin.Push(t, "main", map[string]string{"a": "1"}, "on main")
	merge := f.Origin.Commit(t, gitserver.Change{Branch: "main", Message: "merge", Merge: []string{side}})
	more := f.Origin.Push(t, "side", map[string]string{"side": "2"}, "more on the side")
	ahead := f.Origin.Commit(t, gitserver.Change{Branch: "side", Message: "main into side", Merge: []string{merge}})
	for _, c := range []struct {
		name      string
		base, tip string
		want      []string
	}{
		{"a merge of a branch that started before the base", main, merge, []string{merge, side}},
		{"a merge into the side, pushed as the base", merge, ahead, []string{ahead, more}},
		{"two merges", first, ahead, []string{ahead, more, merge, main, side}},
	} {
		got, err := f.Open(t).Between(within(t), c.base, c.tip)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		ids := logIDs(got.Commits)
		if !got.Descends || !sameSet(ids, c.want) || !parentsAfter(got.Commits) {
			t.Errorf("%s: %v, descends %v; want %v, each before its parents", c.name, ids, got.Descends, c.want)
		}
	}
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func parentsAfter(commits []repo.LogEntry) bool {
	seen := map[string]bool{}
	for _, c := range commits {
		if seen[c.ID] || slices.ContainsFunc(c.Parents, func(p string) bool { return seen[p] }) {
			return false
		}
		seen[c.ID] = true
	}
	return true
}

func betweenLong(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"a": "0"})
	first := f.Origin.Tip("main")
	var stream strings.Builder
	for n := range 220 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A Person <person@example.com> %d +0000\ndata 2\nhi\n", gitserver.Epoch.Unix()+int64(n))
		if n == 0 {
			fmt.Fprintf(&stream, "from %s\n", first)
		}
	}
	f.Origin.GitInput(t, stream.String(), "fast-import", "--quiet")
	r := f.Open(t)
	got, err := r.Between(within(t), first, mustTip(t, r))
	if err != nil || len(got.Commits) != 220 || !got.Descends || got.Cut {
		t.Errorf("%d commits, descends %v, cut %v, %v; want 220, true", len(got.Commits), got.Descends, got.Cut, err)
	}
}
