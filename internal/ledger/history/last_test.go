package history_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// The last version of a file is found however long ago the file was removed, with few
// reads.
func TestTheLastVersionOfARemovedFileIsFound(t *testing.T) {
	t.Parallel()
	const file = "gitlatch.yaml"
	for _, since := range []int{0, 1, 2, 3, 6, 7, 30, 100} {
		t.Run(fmt.Sprintf("%d commits ago", since), func(t *testing.T) {
			t.Parallel()
			o := gitserver.NewOrigin(t, t.TempDir()+"/site.git", map[string]string{"README.md": "hi"})
			for n := range 40 {
				o.Push(t, "main", map[string]string{file: fmt.Sprintf("version %d", n)}, "edit")
			}
			last := o.Tip("main")
			o.Push(t, "main", map[string]string{file: gitserver.Removed}, "a bad merge")
			for n := range since {
				o.Push(t, "main", map[string]string{"README.md": fmt.Sprint(n)}, "elsewhere")
			}
			r := open(t, o.Dir)
			got, err := history.Last(t.Context(), r, o.Tip("main"), file)
			if err != nil || got.Commit != last || string(got.Files[file]) != "version 39" {
				t.Errorf("got %s of %s, %v; want version 39 of %s", got.Files[file], got.Commit, err, last)
			}
			if r.reads > 14 {
				t.Errorf("%d reads", r.reads)
			}
			if text := got.Gone(file); !strings.Contains(text, file+" is gone from the branch") || !strings.Contains(text, last) {
				t.Errorf("says %q", text)
			}
		})
	}
}

// The last version is the branch's version before the merge that removed the file.
// Another branch removed an older version.
func TestTheLastVersionIsThatBeforeTheMerge(t *testing.T) {
	t.Parallel()
	const file = "gitlatch.yaml"
	o := gitserver.NewOrigin(t, t.TempDir()+"/site.git", map[string]string{file: "version 1"})
	o.Git(t, "branch", "feature", "main")
	o.Push(t, "feature", map[string]string{file: gitserver.Removed, "feature.md": "hi"}, "remove")
	o.Push(t, "feature", map[string]string{"feature.md": "hello"}, "elsewhere")
	last := o.Push(t, "main", map[string]string{file: "version 2"}, "edit")
	merge := o.Git(t, "commit-tree", "-m", "a bad merge", "-p", last, "-p", o.Tip("feature"), o.Tip("feature")+"^{tree}")
	o.Git(t, "update-ref", "refs/heads/main", merge)
	got, err := history.Last(t.Context(), open(t, o.Dir), merge, file)
	if err != nil || got.Commit != last || string(got.Files[file]) != "version 2" {
		t.Errorf("got %s of %s, %v; want version 2 of %s", got.Files[file], got.Commit, err, last)
	}
}

func TestAFileThatNeverWasHasNoLastVersion(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir()+"/site.git", map[string]string{"README.md": "hi"})
	for n := range 20 {
		o.Push(t, "main", map[string]string{"README.md": fmt.Sprint(n)}, "elsewhere")
	}
	got, err := history.Last(t.Context(), open(t, o.Dir), o.Tip("main"), "gitlatch.yaml")
	if err != nil || got.ID != "" || got.Commit != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if text := got.Gone("gitlatch.yaml"); !strings.Contains(text, "the defaults are used") {
		t.Errorf("says %q", text)
	}
}
