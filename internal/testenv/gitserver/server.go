// Package gitserver is a part for tests: a real git server over smart HTTP, on loopback
// with separate repositories, and the origins behind it, which a test changes like a
// user or a rival. It needs the git program.
package gitserver

import (
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A Server serves origins by `git http-backend` until the test ends. The knobs
// may be turned while it runs.
type Server struct {
	root    string
	backend http.Handler
	http    *httptest.Server

	mu        sync.Mutex
	requests  []Request
	user      string
	password  string
	readOnly  bool
	onlyV0    bool
	intercept Interceptor
}

// A Request is one that the server answered.
type Request struct {
	Method   string
	Path     string // with the repository's name in front: "/shop.git/git-upload-pack"
	Query    string
	Protocol string // the Git-Protocol header
	Status   int
	In, Out  int64 // bytes of the bodies
}

// Service returns the path below the repository: "info/refs", "git-upload-pack"
// (a listing of refs or a fetch) or "git-receive-pack" (a push).
func (r Request) Service() string {
	_, service, _ := strings.Cut(strings.TrimPrefix(r.Path, "/"), "/")
	return service
}

// An Interceptor is called for each request between client and git, after the check of
// the credentials. It must call next or answer the request.
type Interceptor func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Start starts a server without repositories. Its origins allow filters, as
// most hosts do; see WithoutFilter.
func Start(t testing.TB) *Server {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatalf("the git server needs git: %v", err)
	}
	s := &Server{root: t.TempDir()}
	s.backend = &cgi.Handler{
		Path:   git,
		Args:   []string{"http-backend"},
		Dir:    s.root,
		Stderr: io.Discard,
		Env: append(Environ(),
			"GIT_PROJECT_ROOT="+s.root,
			"GIT_HTTP_EXPORT_ALL=1",
			"REMOTE_USER=gitlatch", // git accepts pushes from any named user
		),
	}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

// URL returns the address of a repository.
func (s *Server) URL(repo string) string { return s.http.URL + "/" + repo + ".git" }

// Dir returns the folder of a repository on disk.
func (s *Server) Dir(repo string) string { return filepath.Join(s.root, repo+".git") }

// Create makes a repository to serve. See NewOrigin.
func (s *Server) Create(t testing.TB, repo string, files map[string]string) *Origin {
	t.Helper()
	o := NewOrigin(t, s.Dir(repo), files)
	o.Config(t, "uploadpack.allowFilter", "true")
	return o
}

// WithoutFilter makes an origin a server that knows no partial clone.
func WithoutFilter(t testing.TB, o *Origin) {
	t.Helper()
	o.Config(t, "uploadpack.allowFilter", "false")
}

// RequireAuth makes the server require credentials. It answers 401 to missing or wrong
// ones.
func (s *Server) RequireAuth(user, password string) {
	s.set(func() { s.user, s.password = user, password })
}

// ReadOnly makes the server forbid pushes with 403, as for a read-only token.
func (s *Server) ReadOnly(on bool) { s.set(func() { s.readOnly = on }) }

// OnlyV0 makes the server one that never heard of protocol version 2.
func (s *Server) OnlyV0(on bool) { s.set(func() { s.onlyV0 = on }) }

// Intercept puts an interceptor in front of git; nil takes it away.
func (s *Server) Intercept(i Interceptor) { s.set(func() { s.intercept = i }) }

// BeforePush runs f once, after a push was sent and before git sees it.
func (s *Server) BeforePush(f func()) {
	var once sync.Once
	s.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isPush(r) {
			once.Do(f)
		}
		next.ServeHTTP(w, r)
	})
}

// DropReplies lets the next n pushes land, and cuts the connection before the client
// gets an answer. It calls then, if not nil, before the cut.
func (s *Server) DropReplies(n int, then func()) {
	var dropped atomic.Int32
	s.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !isPush(r) || int(dropped.Add(1)) > n {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), r)
		if then != nil {
			then()
		}
		panic(http.ErrAbortHandler)
	})
}

func isPush(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack")
}

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Requests returns the requests answered since the start or the last Reset.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Reset forgets the requests answered so far.
func (s *Server) Reset() { s.set(func() { s.requests = nil }) }

// ServeHTTP answers one request and notes it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	user, password, readOnly, onlyV0, intercept := s.user, s.password, s.readOnly, s.onlyV0, s.intercept
	s.mu.Unlock()

	note := Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Protocol: r.Header.Get("Git-Protocol")}
	tally := &tally{ResponseWriter: w, status: http.StatusOK}
	defer func() {
		note.Status, note.Out = tally.status, tally.bytes
		s.set(func() { s.requests = append(s.requests, note) })
	}()

	// The CGI handler refuses bodies of unknown length.
	body, err := spool(r)
	if err != nil {
		http.Error(tally, err.Error(), http.StatusBadRequest)
		return
	}
	defer body.Close()
	note.In = r.ContentLength

	gotUser, gotPassword, _ := r.BasicAuth()
	switch {
	case user != "" && (gotUser != user || gotPassword != password):
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(tally, "credentials are needed", http.StatusUnauthorized)
		return
	case readOnly && (isPush(r) || strings.Contains(r.URL.RawQuery, "git-receive-pack")):
		http.Error(tally, "this token may not write", http.StatusForbidden)
		return
	}
	r.Header.Del("Authorization")
	if onlyV0 {
		r.Header.Del("Git-Protocol")
	}
	if intercept != nil {
		intercept(tally, r, s.backend)
		return
	}
	s.backend.ServeHTTP(tally, r)
}

// spool replaces the body by a file of known length.
func spool(r *http.Request) (*os.File, error) {
	f, err := os.CreateTemp("", "gitserver-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	n, err := io.Copy(f, r.Body)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	r.Body, r.ContentLength, r.TransferEncoding = f, n, nil
	return f, nil
}

// A tally notes what an answer was.
type tally struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap is for http.ResponseController.
func (t *tally) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func (t *tally) WriteHeader(status int) {
	t.status = status
	t.ResponseWriter.WriteHeader(status)
}

func (t *tally) Write(b []byte) (int, error) {
	n, err := t.ResponseWriter.Write(b)
	t.bytes += int64(n)
	return n, err
}
