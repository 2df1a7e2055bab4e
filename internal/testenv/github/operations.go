package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

type m = map[string]any

// A request is one to the API, well formed.
type request struct {
	*http.Request
	said   m
	origin *gitserver.Origin // of the repository in the path; nil without
	pull   *pull             // of the number in the path; nil without
}

// An operation is an operation of the API. Only one runs at a time. The server adds the
// fields to its answer that the description requires.
type operation func(s *Server, r request) (status int, says any)

const (
	tokensOf  = "POST /app/installations/{installation_id}/access_tokens"
	listPulls = "GET /repos/{owner}/{repo}/pulls"
	openPull  = "POST /repos/{owner}/{repo}/pulls"
	getPull   = "GET /repos/{owner}/{repo}/pulls/{pull_number}"
	editPull  = "PATCH /repos/{owner}/{repo}/pulls/{pull_number}"
	comment   = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments"
	deleteRef = "DELETE /repos/{owner}/{repo}/git/refs/{ref...}"
)

var operations = map[string]operation{
	tokensOf:  (*Server).mint,
	listPulls: (*Server).list,
	openPull:  (*Server).open,
	getPull:   func(s *Server, r request) (int, any) { return http.StatusOK, r.pull.answer() },
	editPull:  (*Server).edit,
	comment:   (*Server).comment,
	deleteRef: (*Server).deleteRef,
}

// operation serves an operation. A request that does not match the description fails
// the test.
func (s *Server) operation(pattern string, do operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.note(pattern)
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err := s.contract.Request(pattern, r); err != nil {
			s.t.Errorf("%s is not asked as GitHub describes it: %v", pattern, err)
		}
		var said m
		json.Unmarshal(body, &said)
		s.run(pattern)
		s.mu.Lock()
		status, says := s.do(pattern, request{Request: r, said: said}, do)
		s.mu.Unlock()
		answer, err := s.contract.Answer(pattern, r, status, says)
		if err != nil {
			s.t.Errorf("the stand-in's own answer to %s is not as GitHub describes it: %v", pattern, err)
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		w.Write(answer)
	})
}

// do checks the credentials, finds the objects in the path, and runs the operation.
func (s *Server) do(pattern string, r request, do operation) (int, any) {
	if pattern == tokensOf {
		return do(s, r)
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !s.tokens[token] {
		return http.StatusUnauthorized, m{"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest", "status": "401"}
	}
	if r.origin = s.origins[r.PathValue("repo")]; r.origin == nil || r.PathValue("owner") != Owner {
		return notFound()
	}
	if s.denied[pattern] {
		return http.StatusForbidden, m{"message": "Resource not accessible by integration"}
	}
	for _, name := range []string{"pull_number", "issue_number"} {
		if text := r.PathValue(name); text != "" {
			number, _ := strconv.Atoi(text)
			if r.pull = s.pull(number); r.pull == nil {
				return notFound()
			}
			r.pull.look()
		}
	}
	return do(s, r)
}

func notFound() (int, any) { return http.StatusNotFound, m{"message": "Not Found"} }

// invalid is a 422; an error of it is of a field, or a message.
func invalid(message string, errors ...m) (int, any) {
	all := []any{}
	for _, e := range errors {
		e["resource"] = "PullRequest"
		all = append(all, e)
	}
	return http.StatusUnprocessableEntity, m{"message": message, "errors": all, "documentation_url": "https://docs.github.com/rest"}
}

func (s *Server) deleteRef(r request) (int, any) {
	branch, ok := strings.CutPrefix(r.PathValue("ref"), "heads/")
	tip := r.origin.Tip(branch)
	if !ok || tip == "" {
		return http.StatusUnprocessableEntity, nil
	}
	for _, p := range s.pulls {
		p.look()
	}
	r.origin.ForcePush(s.t, branch, "")
	for _, p := range s.pulls {
		p.look()
	}
	return http.StatusNoContent, nil
}

func (s *Server) comment(r request) (int, any) {
	text := fmt.Sprint(r.said["body"])
	r.pull.comments = append(r.pull.comments, text)
	return http.StatusCreated, m{"id": len(r.pull.comments), "body": text}
}
