package gitlab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

type m = map[string]any

// A request is a merge request.
type request struct {
	iid                int
	origin             *gitserver.Origin
	source, target     string
	title, description string
	state              string
	// sha is the head that GitLab noted. While the merge request is open, GitLab updates
	// it some time after a push. The stand-in does not update it until the merge request
	// is closed.
	sha   string
	notes []string
	fork  bool // its branch is in another project
}

func (r *request) close() {
	r.sha = r.origin.Tip(r.source)
	r.state = "closed"
}

// The ids of the project and of its fork.
const (
	project = 42
	forked  = 43
)

func (s *Server) answer(r *request) m {
	from := project
	if r.fork {
		from = forked
	}
	return m{
		"id": 1000 + r.iid, "iid": r.iid, "project_id": project, "title": r.title, "description": r.description, "state": r.state,
		"source_branch": r.source, "target_branch": r.target, "source_project_id": from, "target_project_id": project, "sha": r.sha,
		"web_url": fmt.Sprintf("%s/%s/shop/-/merge_requests/%d", s.URL(), Group, r.iid),
	}
}

// A call is a call of an operation, well formed.
type call struct {
	*http.Request
	said   m
	origin *gitserver.Origin
	of     *request // of the number in the path; nil without
}

// An operation is an operation of the API. Only one runs at a time. The server adds the
// fields to its answer that the description requires.
type operation func(s *Server, c call) (status int, says any)

// The operations of the API that the stand-in has.
const (
	List         = "GET /projects/{id}/merge_requests"
	Open         = "POST /projects/{id}/merge_requests"
	Edit         = "PUT /projects/{id}/merge_requests/{merge_request_iid}"
	Comment      = "POST /projects/{id}/merge_requests/{merge_request_iid}/notes"
	DeleteBranch = "DELETE /projects/{id}/repository/branches/{branch}"
)

var operations = map[string]operation{
	List:         (*Server).list,
	Open:         (*Server).open,
	Edit:         (*Server).edit,
	Comment:      (*Server).comment,
	DeleteBranch: (*Server).deleteBranch,
}

// operation serves an operation. A request that does not match the description fails the
// test.
func (s *Server) operation(pattern string, do operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<21))
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err := s.contract.Request(pattern, r); err != nil {
			s.t.Errorf("the request %s does not match the description of GitLab: %v", pattern, err)
		}
		var said m
		json.Unmarshal(body, &said)
		s.mu.Lock()
		s.calls = append(s.calls, pattern)
		before := s.before[pattern]
		delete(s.before, pattern)
		s.mu.Unlock()
		if before != nil {
			before()
		}
		s.mu.Lock()
		status, says := s.do(pattern, call{Request: r, said: said}, do)
		s.mu.Unlock()
		answer, err := s.contract.Answer(pattern, r, status, says)
		if err != nil {
			s.t.Errorf("the stand-in's own answer to %s does not match the description of GitLab: %v", pattern, err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		w.Write(answer)
	})
}

// do checks the credentials, finds the objects in the path, and runs the operation.
func (s *Server) do(pattern string, c call, do operation) (int, any) {
	token, _ := strings.CutPrefix(c.Header.Get("Authorization"), "Bearer ")
	if !s.tokens[token] {
		return http.StatusUnauthorized, m{"message": "401 Unauthorized"}
	}
	if s.denied[pattern] {
		return http.StatusForbidden, m{"error": "insufficient_scope", "error_description": "The request requires higher privileges than provided by the access token.", "scope": "api"}
	}
	if c.origin = s.origins[c.PathValue("id")]; c.origin == nil {
		return http.StatusNotFound, m{"message": "404 Project Not Found"}
	}
	if text := c.PathValue("merge_request_iid"); text != "" {
		number, _ := strconv.Atoi(text)
		if c.of = s.byNumber(number); c.of == nil {
			return http.StatusNotFound, m{"message": "404 Not found"}
		}
	}
	return do(s, c)
}

func (s *Server) byNumber(number int) *request {
	if number < 1 || number > len(s.requests) {
		return nil
	}
	return s.requests[number-1]
}

// list supports the filters and the order that gitlatch uses.
func (s *Server) list(c call) (int, any) {
	query := c.URL.Query()
	found := []any{}
	for _, r := range slices.Backward(s.requests) {
		if (query.Get("state") == "all" || query.Get("state") == r.state) && query.Get("source_branch") == r.source && query.Get("target_branch") == r.target {
			found = append(found, s.answer(r))
		}
	}
	size, _ := strconv.Atoi(query.Get("per_page"))
	page, _ := strconv.Atoi(query.Get("page"))
	start := min(len(found), size*(page-1))
	return http.StatusOK, found[start:min(len(found), start+size)]
}

func (s *Server) open(c call) (int, any) {
	text := func(key string) string { return fmt.Sprint(c.said[key]) }
	r := &request{
		iid: len(s.requests) + 1, origin: c.origin, source: text("source_branch"), target: text("target_branch"),
		title: text("title"), description: text("description"), state: "opened",
	}
	r.sha = c.origin.Tip(r.source)
	if len([]rune(r.title)) > 255 {
		return http.StatusBadRequest, m{"message": m{"title": []string{"is too long (maximum is 255 characters)"}}}
	}
	for _, other := range s.requests {
		if other.state == "opened" && !other.fork && other.source == r.source && other.target == r.target {
			return http.StatusConflict, m{"message": []string{fmt.Sprintf("Another open merge request already exists for this source branch: !%d", other.iid)}}
		}
	}
	s.requests = append(s.requests, r)
	return http.StatusCreated, s.answer(r)
}

func (s *Server) edit(c call) (int, any) {
	if title, ok := c.said["title"].(string); ok {
		c.of.title = title
	}
	if description, ok := c.said["description"].(string); ok {
		c.of.description = description
	}
	if c.said["state_event"] == "close" && c.of.state == "opened" {
		c.of.close()
	}
	return http.StatusOK, s.answer(c.of)
}

func (s *Server) comment(c call) (int, any) {
	text := fmt.Sprint(c.said["body"])
	c.of.notes = append(c.of.notes, text)
	return http.StatusCreated, m{"id": len(c.of.notes), "body": text, "noteable_iid": c.of.iid}
}

func (s *Server) deleteBranch(c call) (int, any) {
	branch := c.PathValue("branch")
	if c.origin.Tip(branch) == "" {
		return http.StatusNotFound, m{"message": "404 Branch Not Found"}
	}
	c.origin.ForcePush(s.t, branch, "")
	return http.StatusNoContent, nil
}
