package history_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var (
	web    = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	record = checkpoint.RecordPath("prod", "shop")
)

// levels returns a checkpoint file with a level of web, and of another workload.
func levels(web1, other int32) map[string]string {
	r := checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{}}
	for name, level := range map[string]int32{"web": web1, "other": other} {
		if level > 0 {
			r.Entries[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}] = checkpoint.Entry{Replicas: level}
		}
	}
	return map[string]string{record: string(r.Format())}
}

// counted counts the reads and their depth.
type counted struct {
	repo.Repository
	deepest, reads int
}

func (c *counted) History(ctx context.Context, commit, until string, limit int) ([]repo.LogEntry, bool, error) {
	c.deepest = max(c.deepest, limit)
	return c.Repository.History(ctx, commit, until, limit)
}

func (c *counted) Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]repo.Object, error) {
	c.reads++
	return c.Repository.Read(ctx, commit, known, paths...)
}

func open(t *testing.T, dir string) *counted {
	t.Helper()
	r, err := gitwire.Open(gitwire.Options{URL: dir, Branch: "main"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return &counted{Repository: r}
}

// of returns the history of web, with one line per change.
func of(t *testing.T, r *counted, tip string, q history.Query) (history.Log, string) {
	t.Helper()
	q.Site, q.ID = "prod", web
	if q.Commits == 0 {
		q.Commits = 1000
	}
	log, err := history.Of(t.Context(), r, tip, q)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	level := func(e checkpoint.Entry) string {
		if e.IsZero() {
			return "-"
		}
		return fmt.Sprint(e.Replicas)
	}
	for _, c := range log.Changes {
		line := fmt.Sprintf("%s: %s -> %s", c.Subject, level(c.From), level(c.To))
		if c.Ours {
			line += ", ours"
		}
		if c.Reason != "" {
			line += ", " + c.Reason
		}
		if c.Broken != nil {
			line += ", broken"
		}
		lines = append(lines, line)
	}
	return log, strings.Join(lines, "\n")
}

func told(to int) string {
	return fmt.Sprintf("latch(prod): web\n\nshop/deployment/web 1 -> %d: it grew to %d\n\nGitlatch-Site: prod\n", to, to)
}

func TestAHistoryIsWhatTheBranchSaw(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir()+"/site.git", map[string]string{"README.md": "hi"})
	o.Push(t, "main", levels(100, 5), told(100))
	o.Push(t, "main", map[string]string{"README.md": "elsewhere"}, "elsewhere")
	base := o.Push(t, "main", levels(100, 50), "another workload")
	o.ForcePush(t, "side", base)
	side := o.Push(t, "side", levels(200, 50), told(200))
	o.Push(t, "main", map[string]string{"README.md": "meanwhile"}, "meanwhile")
	o.Commit(t, gitserver.Change{Branch: "main", Message: "Merge pull request #7", Merge: []string{side},
		Entries: []gitserver.Entry{{Path: record, Content: levels(200, 50)[record]}}})
	o.Push(t, "main", map[string]string{record: "<<<<<<< HEAD\n"}, "a conflict")
	o.Push(t, "main", levels(500, 50), "by hand")
	o.Push(t, "main", levels(0, 50), "opt out")
	o.Push(t, "main", levels(200, 50), "and back\n\nin again")

	want := strings.Join([]string{
		"and back: - -> 200",
		"opt out: 500 -> -",
		"by hand: - -> 500", // among the readable commits
		"a conflict: 200 -> -, broken",
		"Merge pull request #7: 100 -> 200, it grew to 200",
		"latch(prod): web: - -> 100, ours, it grew to 100",
	}, "\n")
	r := open(t, o.Dir)
	log, got := of(t, r, o.Tip("main"), history.Query{})
	if got != want || log.Cut || log.Looked != 10 {
		t.Errorf("cut %v, looked at %d\n%s\nwant\n%s", log.Cut, log.Looked, got, want)
	}
	if !log.Changes[2].WasBroken || log.Changes[1].WasBroken {
		t.Errorf("what could not be read before: %+v", log.Changes)
	}
	if got := log.Changes[0]; got.Author != "A Person <person@example.com>" || got.Commit != o.Tip("main") || got.At.IsZero() {
		t.Errorf("%+v", got)
	}
}

func TestAHistoryEndsWhereItIsEnough(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir()+"/site.git", levels(1, 1))
	for n := range 100 {
		o.Push(t, "main", map[string]string{"README.md": fmt.Sprint(n)}, "elsewhere")
		if n%25 == 0 {
			o.Push(t, "main", levels(int32(n+2), 1), fmt.Sprintf("to %d", n+2))
		}
	}
	tip := o.Tip("main") // 105 commits; 5 change web
	for _, c := range []struct {
		name    string
		query   history.Query
		changes int
		cut     bool
		reads   int // maximum number of reads
	}{
		{"all of it", history.Query{}, 5, false, 105},
		{"two changes", history.Query{Changes: 2}, 2, false, 55},
		{"as many as there are", history.Query{Changes: 5}, 5, false, 105},
		{"of the last minutes", history.Query{Since: gitserver.Epoch.Add(75 * time.Minute)}, 1, false, 32},
		{"as far as it may", history.Query{Commits: 60}, 2, true, 61},
		{"no further than the tip", history.Query{Commits: 1}, 0, true, 1},
	} {
		r := open(t, o.Dir)
		log, got := of(t, r, tip, c.query)
		if len(log.Changes) != c.changes || log.Cut != c.cut || r.reads > c.reads {
			t.Errorf("%s: %d changes, cut %v, %d reads; want %d, %v, %d\n%s", c.name, len(log.Changes), log.Cut, r.reads, c.changes, c.cut, c.reads, got)
		}
		if c.query.Commits > 0 && r.deepest > c.query.Commits {
			t.Errorf("%s: %d commits were asked for", c.name, r.deepest)
		}
	}
}

// A shallow clone ends at its boundary, and receives no request for the missing
// commits.
func TestAShallowCloneIsCut(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir()+"/site.git", levels(1, 1))
	for n := range 10 {
		o.Push(t, "main", levels(int32(n+2), 1), fmt.Sprintf("to %d", n+2))
	}
	dir := t.TempDir() + "/shallow.git"
	o.Git(t, "clone", "--quiet", "--bare", "--depth=4", "file://"+o.Dir, dir)
	log, got := of(t, open(t, dir), o.Tip("main"), history.Query{})
	if want := "to 11: 10 -> 11\nto 10: 9 -> 10\nto 9: 8 -> 9"; got != want || !log.Cut {
		t.Errorf("cut %v\n%s\nwant\n%s", log.Cut, got, want)
	}
}

func TestNothingIsAHistoryToo(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir()+"/site.git", map[string]string{"README.md": "hi"})
	if log, got := of(t, open(t, o.Dir), o.Tip("main"), history.Query{}); got != "" || log.Cut || log.Looked != 1 {
		t.Errorf("%+v", log)
	}
}
