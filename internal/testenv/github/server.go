// Package github is a part for tests: a stand-in of GitHub, on loopback. Its git server
// is real. Its REST API stores pull requests for the same repositories, and checks each
// request and each answer against the description that GitHub publishes. It needs the
// git program.
package github

import (
	"crypto/rsa"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/openapi"
)

// Owner is the owner of the repositories.
const Owner = "octo"

// A Server is the stand-in. Its settings may change while it runs.
type Server struct {
	t        testing.TB
	git      *gitserver.Server
	http     *httptest.Server
	contract *openapi.Contract

	mu        sync.Mutex
	origins   map[string]*gitserver.Origin // by name
	pulls     []*pull                      // the oldest first
	calls     []string
	tokens    map[string]bool // whether they are still good
	narrow    map[string]bool // those that may only read contents
	minted    int
	app       App
	suspended bool
	denied    map[string]bool
	before    map[string]func()
}

// An App is one that may ask for tokens.
type App struct {
	ID, InstallationID int64
	Key                *rsa.PublicKey
}

// Start starts a server without repositories, which ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		t: t, git: gitserver.Start(t), contract: openapi.Read(t, "github"),
		origins: map[string]*gitserver.Origin{}, tokens: map[string]bool{}, narrow: map[string]bool{}, denied: map[string]bool{}, before: map[string]func(){},
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/", s.serveGit)
	for pattern, do := range operations {
		method, path, _ := strings.Cut(pattern, " ")
		routes.Handle(method+" /api/v3"+path, s.operation(pattern, do))
	}
	routes.HandleFunc("/api/v3/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s is not among the operations that are described", r.Method, r.URL.Path)
		http.NotFound(w, r)
	})
	s.http = httptest.NewServer(routes)
	t.Cleanup(s.http.Close)
	return s
}

// APIURL is the address of the REST API.
func (s *Server) APIURL() string { return s.http.URL + "/api/v3" }

// Address returns the address of a repository for a configuration.
func (s *Server) Address(name string) string {
	return "github::" + s.http.URL + "/" + Owner + "/" + name
}

// Create makes a repository. See gitserver.NewOrigin.
func (s *Server) Create(t testing.TB, name string, files map[string]string) *gitserver.Origin {
	t.Helper()
	o := s.git.Create(t, Owner+"/"+name, files)
	s.set(func() { s.origins[name] = o })
	return o
}

// Grant makes a token a good one.
func (s *Server) Grant(token string) { s.set(func() { s.tokens[token] = true }) }

// Install makes an App one that may ask for tokens.
func (s *Server) Install(a App) { s.set(func() { s.app = a }) }

// Suspend makes the App's installation suspended: it gets no tokens, and those
// it has are worth nothing.
func (s *Server) Suspend() {
	s.Expire()
	s.set(func() { s.suspended = true })
}

// Resume ends a suspension.
func (s *Server) Resume() { s.set(func() { s.suspended = false }) }

// Expire ends the time of all tokens.
func (s *Server) Expire() { s.set(func() { clear(s.tokens) }) }

// ReadOnly makes the server take no pushes with 403, as for a token that may not
// write.
func (s *Server) ReadOnly(on bool) { s.git.ReadOnly(on) }

// Deny makes an operation, such as "POST /repos/{owner}/{repo}/pulls", one that
// the credentials do not allow.
func (s *Server) Deny(pattern string) { s.set(func() { s.denied[pattern] = true }) }

// Allow makes an operation one that they allow again.
func (s *Server) Allow(pattern string) { s.set(func() { delete(s.denied, pattern) }) }

// Push is the name of a git push among the operations of Before.
const Push = "git push"

// Before runs f once, after the next call of an operation arrived and before the server
// checks its credentials and executes it.
func (s *Server) Before(pattern string, f func()) { s.set(func() { s.before[pattern] = f }) }

// Calls returns the operations called so far, and "git" for each request of git.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Minted is how many tokens were handed out.
func (s *Server) Minted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.minted
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *Server) note(call string) { s.set(func() { s.calls = append(s.calls, call) }) }

// run runs the function that Before set for an operation.
func (s *Server) run(operation string) {
	s.mu.Lock()
	before := s.before[operation]
	delete(s.before, operation)
	s.mu.Unlock()
	if before != nil {
		before()
	}
}

func (s *Server) good(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[token]
}

// serveGit asks for a token, as the password of a user by the name that GitHub
// wants.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	s.note("git")
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
		s.run(Push)
	}
	user, token, _ := r.BasicAuth()
	if user != "x-access-token" || !s.good(token) {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, "Invalid username or token. Password authentication is not supported for Git operations.")
		return
	}
	if push := strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.URL.Query().Get("service") == "git-receive-pack"; push && s.reads(token) {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, "Write access to repository not granted.")
		return
	}
	s.git.ServeHTTP(w, r)
}

func (s *Server) reads(token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.narrow[token]
}

// Merge merges an open pull request like a user; the branch stays.
func (s *Server) Merge(t testing.TB, id string, squash bool) {
	t.Helper()
	p := s.must(t, id)
	s.set(func() {
		p.look()
		p.mergedAs = p.origin.Merge(t, p.head.branch, p.base.branch, squash, p.title)
		p.open = false
	})
}

// Decline closes an open pull request unmerged like a user; the branch stays.
func (s *Server) Decline(t testing.TB, id string) {
	t.Helper()
	p := s.must(t, id)
	s.set(func() {
		p.look()
		p.open = false
	})
}

// Words returns the title, the body and the comments of a pull request.
func (s *Server) Words(t testing.TB, id string) (title, body string, comments []string) {
	t.Helper()
	p := s.must(t, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return p.title, p.body, slices.Clone(p.comments)
}

func (s *Server) must(t testing.TB, id string) *pull {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	number, _ := strconv.Atoi(id)
	p := s.pull(number)
	if p == nil {
		t.Fatalf("there is no pull request %s", id)
	}
	return p
}
