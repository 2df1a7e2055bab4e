package tick_test

import (
	"fmt"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/publish"
)

// TestRequestsOfATickInANewProcess counts the requests of ticks to a git server. Each
// tick is a separate process that has only the saved state.
func TestRequestsOfATickInANewProcess(t *testing.T) {
	t.Parallel()
	server := gitserver.Start(t)
	origin := server.Create(t, "site", map[string]string{"gitlatch.yaml": latching, "checkpoints/other/site.yaml": "another site\n"})
	w := newWorld(nil)
	// next runs one tick after a user's commit to a path, or without a commit if it is "".
	next := func(path string) (requests int, commit *publish.Commit) {
		t.Helper()
		if path != "" {
			origin.Push(t, "main", map[string]string{path: fmt.Sprint(w.Now)}, "work")
		}
		r, err := gitwire.Open(gitwire.Options{URL: server.URL("site"), Branch: "main"})
		if err != nil {
			t.Fatal(err)
		}
		server.Reset()
		report, err := w.Tick(func(t *tick.Tick) { t.Repository = r })
		if err != nil {
			t.Fatal(err)
		}
		w.Now = w.Now.Add(period)
		return len(server.Requests()), report.Commit
	}

	w.scale("shop/web", 87)
	next("")
	if _, commit := next(""); commit == nil {
		t.Fatal("the second tick makes no commit")
	}
	need := int32(87)
	const user, neighbour = "src/main.go", "checkpoints/other/site.yaml"
	for _, c := range []struct {
		name  string
		path  string // of a user's commit before the tick
		level bool   // the tick changes the level
		want  int
	}{
		{"nothing happened", "", false, 1},
		{"a level change", "", true, 4},
		{"a user pushed, once after gitlatch did", user, false, 4},
		{"a user pushed", user, false, 2},
		{"a user pushed, and a level change", user, true, 4},
		{"a user pushed, once after gitlatch did", user, false, 4},
		{"another site pushed", neighbour, false, 3},
		{"another site pushed, and a level change", neighbour, true, 5},
	} {
		if c.level {
			need *= 2
			w.scale("shop/web", need)
			next("") // the first of the two samples that a raise needs
		}
		requests, commit := next(c.path)
		if requests != c.want || c.level != (commit != nil) {
			t.Errorf("%s: %d requests, want %d; commit %v", c.name, requests, c.want, commit != nil)
		}
	}
}
