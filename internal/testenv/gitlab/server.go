// Package gitlab is a part for tests: a stand-in of a GitLab server, on loopback, with a
// path in its URL and with subgroups. Its git server is real. Its REST API stores merge
// requests for the same repositories, and checks each request and each answer against a
// description of GitLab's API. It needs the git program.
package gitlab

import (
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

// Group is the group and subgroup of the projects.
const Group = "platform/eu"

// A Server is the stand-in. Its settings may change while it runs.
type Server struct {
	t        testing.TB
	git      *gitserver.Server
	http     *httptest.Server
	contract *openapi.Contract

	mu       sync.Mutex
	origins  map[string]*gitserver.Origin // by the path of the project
	requests []*request                   // the oldest first
	calls    []string
	tokens   map[string]bool
	denied   map[string]bool
	before   map[string]func()
}

// Start starts a server without projects, which ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		t: t, git: gitserver.Start(t), contract: openapi.Read(t, "gitlab"),
		origins: map[string]*gitserver.Origin{}, tokens: map[string]bool{}, denied: map[string]bool{}, before: map[string]func(){},
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/", s.serveGit)
	for pattern, do := range operations {
		method, path, _ := strings.Cut(pattern, " ")
		routes.Handle(method+" /api/v4"+path, s.operation(pattern, do))
	}
	routes.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s is not one of the described operations", r.Method, r.URL.EscapedPath())
		http.NotFound(w, r)
	})
	s.http = httptest.NewServer(routes)
	t.Cleanup(s.http.Close)
	return s
}

// URL returns the address of the server.
func (s *Server) URL() string { return s.http.URL }

// Repository returns the address of a project's repository.
func (s *Server) Repository(name string) string { return s.URL() + "/" + Group + "/" + name + ".git" }

// Create makes a project. See gitserver.NewOrigin.
func (s *Server) Create(t testing.TB, name string, files map[string]string) *gitserver.Origin {
	t.Helper()
	o := s.git.Create(t, Group+"/"+name, files)
	s.set(func() { s.origins[Group+"/"+name] = o })
	return o
}

// Grant makes a token valid.
func (s *Server) Grant(token string) { s.set(func() { s.tokens[token] = true }) }

// Expire makes all tokens invalid.
func (s *Server) Expire() { s.set(func() { clear(s.tokens) }) }

// ReadOnly makes the server refuse pushes.
func (s *Server) ReadOnly(on bool) { s.git.ReadOnly(on) }

// Deny makes the server refuse an operation, such as "POST
// /projects/{id}/merge_requests", because of the token's scope.
func (s *Server) Deny(pattern string) { s.set(func() { s.denied[pattern] = true }) }

// Allow ends Deny.
func (s *Server) Allow(pattern string) { s.set(func() { delete(s.denied, pattern) }) }

// Before runs f once, after the next call of an operation arrived and before the server
// executes it.
func (s *Server) Before(pattern string, f func()) { s.set(func() { s.before[pattern] = f }) }

// Calls returns the operations called so far, and "git" for each request of git.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Fork opens a merge request from a branch of the same name in a fork.
func (s *Server) Fork(branch, base string) {
	s.set(func() {
		s.requests = append(s.requests, &request{
			iid: len(s.requests) + 1, source: branch, target: base, state: "opened", title: "from a fork", fork: true,
		})
	})
}

// Merge merges an open merge request like a user; the branch stays.
func (s *Server) Merge(t testing.TB, id string, squash bool) {
	t.Helper()
	m := s.must(t, id)
	s.set(func() {
		m.sha = m.origin.Tip(m.source)
		m.origin.Merge(t, m.source, m.target, squash, m.title)
		m.state = "merged"
	})
}

// Decline closes an open merge request unmerged like a user; the branch stays.
func (s *Server) Decline(t testing.TB, id string) {
	t.Helper()
	m := s.must(t, id)
	s.set(m.close)
}

// Words returns the title, the description and the comments of a merge request.
func (s *Server) Words(t testing.TB, id string) (title, body string, comments []string) {
	t.Helper()
	m := s.must(t, id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return m.title, m.description, slices.Clone(m.notes)
}

func (s *Server) must(t testing.TB, id string) *request {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	number, _ := strconv.Atoi(id)
	m := s.byNumber(number)
	if m == nil {
		t.Fatalf("there is no merge request %s", id)
	}
	return m
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// serveGit serves git to a user of any name with a token as the password.
func (s *Server) serveGit(w http.ResponseWriter, r *http.Request) {
	user, token, _ := r.BasicAuth()
	s.mu.Lock()
	s.calls = append(s.calls, "git")
	valid := user != "" && s.tokens[token]
	s.mu.Unlock()
	if !valid {
		w.Header().Set("WWW-Authenticate", `Basic realm="GitLab"`)
		http.Error(w, "HTTP Basic: Access denied.", http.StatusUnauthorized)
		return
	}
	s.git.ServeHTTP(w, r)
}
