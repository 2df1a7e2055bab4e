package faults

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// TestGit covers faults of the git server. Cluster, state and topic are fakes, so the
// table needs only Go and git.
func TestGit(t *testing.T) {
	t.Parallel()
	run(t, gitRows(), func(t *testing.T, site string) *world { return newWorld(t, site, "state: {memory: {}}\n") })
}

// reads reports whether a request reads the branch, fetches whether it transfers
// objects, and pushes whether it moves the branch.
func reads(r *http.Request) bool { return bytes.Contains(read(r), []byte("command=ls-refs")) }

func fetches(r *http.Request) bool { return bytes.Contains(read(r), []byte("command=fetch")) }

func pushes(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/git-receive-pack") }

func every(*http.Request) bool { return true }

// git applies a fault to the git server, for the requests that which selects.
func git(which func(*http.Request) bool, do fault) func(*testing.T, *world) {
	return func(_ *testing.T, w *world) { w.fails("", on(which, do)) }
}

// fetching is a fault of git after a user's push, so that the tick must fetch.
func fetching(do fault) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		w.origin.Push(t, "main", map[string]string{"gitlatch.yaml": w.origin.Show(t, "main", "gitlatch.yaml") + "# edited\n"}, "by hand")
		w.fails("", on(fetches, do))
	}
}

// works is git without a fault.
func works(_ *testing.T, w *world) { w.git.Intercept(nil) }

// begun applies first to the first request that which selects, and do to every request
// after it.
func begun(which func(*http.Request) bool, first fault, do fault) fault {
	started := false
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		switch {
		case started:
			do(w, r, next)
		case which(r):
			started = true
			first(w, r, next)
		default:
			next.ServeHTTP(w, r)
		}
	}
}

const (
	blocked = "publishing-blocked raised"
	free    = "publishing-blocked resolved"
	surged  = "surge raised"
)

func gitRows() []row {
	return []row{
		{name: "reset before it answers", begins: git(every, cut), ends: works, says: "reconcile with git: read the branch of GIT: the connection was cut before the answer: EOF"},
		{name: "silent", begins: git(every, stalled), ends: works, says: "reconcile with git: read the branch of GIT: context deadline exceeded"},
		{name: "slow", begins: git(every, slow), ends: works},
		{name: "down", begins: git(every, status(503, "closed for repairs")), ends: works, says: "reconcile with git: read the branch of GIT: the server answers 503 Service Unavailable: closed for repairs"},
		{name: "moved", ends: works, says: "reconcile with git: read the branch of GIT: the server redirects to https://git.example.com/new.git. Use this URL", begins: git(every, func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			http.Redirect(w, r, "https://me:"+gitToken+"@git.example.com/new.git/git-upload-pack", http.StatusMovedPermanently)
		})},
		{name: "not git", begins: git(every, status(200, "please log in")), ends: works, says: "reconcile with git: read the branch of GIT: the server answers \"text/plain\", which is not git's protocol. Check the URL of the repository"},

		{name: "a listing cut half-way", begins: git(reads, half(cut)), ends: works, says: "reconcile with git: read the branch of GIT: the answer was cut short: unexpected EOF"},
		{name: "a pack cut half-way", begins: fetching(half(cut)), ends: works, says: "reconcile with git: read the new commits of GIT: the answer was cut short: unexpected EOF"},
		{name: "a pack that ends half-way", begins: fetching(half(ended)), ends: works, says: "reconcile with git: read the new commits of GIT: the answer was cut short: unexpected EOF"},
		{name: "a pack stalled half-way", begins: fetching(half(stalled)), ends: works, says: "reconcile with git: read the new commits of GIT: context deadline exceeded"},
		{name: "filter off", begins: fetchingWithoutFilter, says: ""},
		{name: "many refs", begins: manyRefs(false), ends: fewRefs},
		{name: "many refs without version 2", begins: manyRefs(true), ends: fewRefs},

		{name: "reset after the pack was taken", begins: git(pushes, lost), ends: works},
		{name: "gone after the pack was taken", begins: git(every, begun(pushes, lost, cut)), ends: works, says: "publish: commit to GIT: push may or may not have landed: the connection was cut before the answer: EOF"},
		{name: "silent after the pack was taken", ends: works, says: "publish: commit to GIT: push may or may not have landed: context deadline exceeded",
			begins: git(pushes, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				next.ServeHTTP(&kept{header: http.Header{}}, r)
				stalled(w, r, next)
			})},
		{name: "silent before the pack is taken", begins: git(pushes, stalled), ends: works, says: "publish: commit to GIT: push may or may not have landed: context deadline exceeded"},
		{name: "a report cut half-way", begins: git(pushes, half(cut)), ends: works},
		{name: "pushes answered by 500", begins: git(pushes, status(500, "out of disk")), ends: works, says: "publish: commit to GIT: push was refused: the server answers 500 Internal Server Error: out of disk; the levels in git do not change until the branch accepts a push", alerts: []string{blocked, surged, free}},
		{name: "a hook declines", begins: func(t *testing.T, w *world) { w.origin.Decline(t, "main is protected: open a pull request") },
			ends: func(t *testing.T, w *world) { w.origin.Decline(t, "") }, says: "publish: commit to GIT: push was refused: pre-receive hook declined: main is protected: open a pull request; the levels in git do not change until the branch accepts a push", alerts: []string{blocked, surged, free}},

		{name: "credentials expired", begins: func(_ *testing.T, w *world) { w.git.RequireAuth("x-access-token", "another") }, ends: renewed, says: "reconcile with git: read the branch of GIT: the server answers 401 Unauthorized, the credentials are missing or wrong: credentials are needed"},
		{name: "credentials expire between read and push", ends: renewed, says: "publish: commit to GIT: push may or may not have landed: the server answers 401 Unauthorized, the credentials are missing or wrong: credentials are needed",
			begins: func(_ *testing.T, w *world) {
				w.git.Intercept(func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
					if pushes(r) {
						w.git.RequireAuth("x-access-token", "another")
						rw.Header().Set("WWW-Authenticate", `Basic realm="git"`)
						status(401, "credentials are needed")(rw, r, next)
						return
					}
					next.ServeHTTP(rw, r)
				})
			}},

		{name: "a proxy that repeats what it was sent", begins: git(every, echoedWithAuth), ends: works, says: "reconcile with git: read the branch of GIT: the server answers 502 Bad Gateway: Authorization: Basic (hidden) X-Shown: x-access-token:(hidden)"},
		{name: "a proxy that repeats a push", begins: git(pushes, echoedWithAuth), ends: works, says: "publish: commit to GIT: push was refused: the server answers 502 Bad Gateway: Authorization: Basic (hidden) X-Shown: x-access-token:(hidden); the levels in git do not change until the branch accepts a push", alerts: []string{blocked, surged, free}},
	}
}

// echoedWithAuth is echoed with the credentials that the server removes before it calls
// an interceptor: see gitserver.Server.
func echoedWithAuth(w http.ResponseWriter, r *http.Request, next http.Handler) {
	shown := &http.Request{Header: http.Header{"X-Shown": {"x-access-token:" + gitToken}}}
	shown.SetBasicAuth("x-access-token", gitToken)
	echoed(w, shown, next)
}

func renewed(t *testing.T, w *world) {
	works(t, w)
	w.git.RequireAuth("x-access-token", gitToken)
}

func fetchingWithoutFilter(t *testing.T, w *world) {
	gitserver.WithoutFilter(t, w.origin)
	fetching(func(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) })(t, w)
}

func manyRefs(v0 bool) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		tip := w.origin.Tip("main")
		var packed strings.Builder
		packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
		for i := range 100_000 {
			fmt.Fprintf(&packed, "%s refs/tags/v%06d\n", tip, i)
		}
		if err := os.WriteFile(filepath.Join(w.origin.Dir, "packed-refs"), []byte(packed.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		w.git.OnlyV0(v0)
	}
}

// fewRefs makes git's own checks of the rest quick.
func fewRefs(t *testing.T, w *world) {
	if err := os.Remove(filepath.Join(w.origin.Dir, "packed-refs")); err != nil {
		t.Fatal(err)
	}
	w.git.OnlyV0(false)
}
