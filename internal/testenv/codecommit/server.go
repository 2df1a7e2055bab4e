// Package codecommit is a part for tests: a stand-in of AWS CodeCommit's API, on
// loopback and over real bare git repositories, with the names and formats of
// CodeCommit's requests, answers and errors. It needs the git program.
package codecommit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// Region is the region of the stand-in.
const Region = "eu-west-1"

// A Server is the stand-in. Its settings may change while it runs.
type Server struct {
	root string
	http *httptest.Server

	mu      sync.Mutex
	origins map[string]*gitserver.Origin
	pulls   []*pull // the oldest first
	calls   []Call
	faults  map[string][]Fault
	denied  map[string]string
	before  map[string]func()
	commits int
}

// A Call is one that the server was sent, well signed.
type Call struct {
	Operation  string
	Repository string
	Branch     string
	Error      string // the name of the error in the answer; "" for a success
}

// A Fault is what becomes of a call.
type Fault string

const (
	// Throttled calls are not executed, and get an answer to retry later.
	Throttled Fault = "ThrottlingException"
	// Broken calls are not done, by a failure of the server.
	Broken Fault = "InternalFailure"
	// Unanswered calls are done, and the connection is cut.
	Unanswered Fault = "unanswered"
)

// Start starts a server without repositories, which ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		root:    t.TempDir(),
		origins: map[string]*gitserver.Origin{},
		faults:  map[string][]Fault{},
		denied:  map[string]string{},
		before:  map[string]func(){},
	}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.http.Close)
	return s
}

// Endpoint is the address of the API.
func (s *Server) Endpoint() string { return s.http.URL }

// Create makes a repository. See gitserver.NewOrigin.
func (s *Server) Create(t testing.TB, name string, files map[string]string) *gitserver.Origin {
	t.Helper()
	o := gitserver.NewOrigin(t, filepath.Join(s.root, name), files)
	s.set(func() { s.origins[name] = o })
	return o
}

// Fail makes the next calls of an operation fail, one fault for each.
func (s *Server) Fail(operation string, faults ...Fault) {
	s.set(func() { s.faults[operation] = append(s.faults[operation], faults...) })
}

// Deny makes the role one that may not call an operation, with words that follow
// on IAM's; "" allows it again.
func (s *Server) Deny(operation, words string) {
	s.set(func() { s.denied[operation] = words })
}

// Before runs f once, after the next call of an operation came in and before it
// is done.
func (s *Server) Before(operation string, f func()) { s.set(func() { s.before[operation] = f }) }

// Calls returns the calls since the start or the last Reset.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Operations returns the operations that were called, each once.
func (s *Server) Operations() []string {
	called := map[string]bool{}
	for _, c := range s.Calls() {
		called[c.Operation] = true
	}
	return slices.Sorted(maps.Keys(called))
}

// Reset forgets the calls so far.
func (s *Server) Reset() { s.set(func() { s.calls = nil }) }

func (s *Server) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

const target = "CodeCommit_20150413."

// ServeHTTP answers one call in the protocol awsJson1.1.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	operation, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), target)
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil || !ok || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-amz-json-1.1" {
		write(w, http.StatusBadRequest, fault("UnknownOperationException", "want a POST of awsJson1.1"))
		return
	}
	if err := signed(r); err != nil {
		write(w, http.StatusForbidden, err)
		return
	}
	var named struct{ RepositoryName, BranchName string }
	json.Unmarshal(body, &named) // the operation reports a decoding error
	answer, err := s.answer(operation, body)
	call := Call{Operation: operation, Repository: named.RepositoryName, Branch: named.BranchName}
	var failed *apiError
	if errors.As(err, &failed) {
		call.Error = failed.Type
	}
	s.set(func() { s.calls = append(s.calls, call) })
	switch {
	case err == nil:
		write(w, http.StatusOK, answer)
	case failed != nil:
		status := http.StatusBadRequest
		if failed.Type == string(Broken) {
			status = http.StatusInternalServerError
		}
		write(w, status, failed)
	default:
		panic(http.ErrAbortHandler)
	}
}

// signed refuses a request that is not signed for CodeCommit; that the signature
// is right is not checked.
func signed(r *http.Request) error {
	auth := r.Header.Get("Authorization")
	switch {
	case auth == "" || r.Header.Get("X-Amz-Date") == "":
		return fault("MissingAuthenticationTokenException", "Missing Authentication Token")
	case !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=") || !strings.Contains(auth, "/"+Region+"/codecommit/aws4_request") || !strings.Contains(auth, "Signature="):
		return fault("InvalidSignatureException", "Credential should be scoped to a valid region and service.")
	}
	return nil
}

func (s *Server) answer(operation string, body []byte) (any, error) {
	do, ok := operations[operation]
	if !ok {
		return nil, fault("UnknownOperationException", operation)
	}
	s.mu.Lock()
	words := s.denied[operation]
	var fails Fault
	if left := s.faults[operation]; len(left) > 0 && words == "" {
		fails, s.faults[operation] = left[0], left[1:]
	}
	before := s.before[operation]
	delete(s.before, operation)
	s.mu.Unlock()
	switch {
	case words != "":
		return nil, fault("AccessDeniedException", fmt.Sprintf("User: arn:aws:sts::111122223333:assumed-role/latch/latch is not authorized to perform: codecommit:%s on resource: arn:aws:codecommit:%s:111122223333:shop %s", operation, Region, words))
	case fails == Throttled:
		return nil, fault(string(Throttled), "Rate exceeded")
	case fails == Broken:
		return nil, fault(string(Broken), "")
	}
	if before != nil {
		before()
	}
	s.mu.Lock()
	answer, err := do(s, body)
	s.mu.Unlock()
	if fails == Unanswered {
		return nil, errUnanswered
	}
	return answer, err
}

type unanswered struct{}

func (unanswered) Error() string { return "the connection is cut" }

var errUnanswered = unanswered{}

// An apiError is an answer that the operation failed.
type apiError struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

func (e *apiError) Error() string { return e.Type + ": " + e.Message }

func fault(name, message string) *apiError { return &apiError{name, message} }

func write(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	w.Header().Set("X-Amzn-RequestId", "00000000-0000-4000-8000-000000000000")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(answer)
}
