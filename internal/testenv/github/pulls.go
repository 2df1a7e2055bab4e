package github

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A pull is a pull request.
type pull struct {
	number      int
	origin      *gitserver.Origin
	title, body string
	head, base  tip
	open        bool
	mergedAs    string // the commit; "" is not merged
	comments    []string
}

// A tip is a branch and the commit that was last seen at it.
type tip struct{ branch, commit string }

// look updates an open pull request from its branches, and closes it if one of them was
// removed.
func (p *pull) look() {
	if !p.open {
		return
	}
	for _, t := range []*tip{&p.head, &p.base} {
		at := p.origin.Tip(t.branch)
		if at == "" {
			p.open = false
			return
		}
		t.commit = at
	}
}

func (p *pull) answer() any {
	p.look()
	state := map[bool]string{true: "open", false: "closed"}[p.open]
	says := m{
		"number": p.number, "id": 1000 + p.number, "state": state, "title": p.title, "body": p.body,
		"html_url": fmt.Sprintf("https://github.com/%s/shop/pull/%d", Owner, p.number),
		"head":     m{"ref": p.head.branch, "sha": p.head.commit, "label": Owner + ":" + p.head.branch},
		"base":     m{"ref": p.base.branch, "sha": p.base.commit, "label": Owner + ":" + p.base.branch},
	}
	if p.mergedAs != "" {
		says["merged_at"], says["merge_commit_sha"] = "2026-11-02T09:00:00Z", p.mergedAs
	}
	return says
}

func (s *Server) pull(number int) *pull {
	for _, p := range s.pulls {
		if p.number == number {
			return p
		}
	}
	return nil
}

// list supports the filters and the order that gitlatch uses, and one page.
func (s *Server) list(r request) (int, any) {
	q := r.URL.Query()
	found := []any{}
	for i := range s.pulls {
		p := s.pulls[i]
		if q.Get("direction") == "desc" {
			p = s.pulls[len(s.pulls)-1-i]
		}
		p.look()
		if p.origin != r.origin ||
			q.Get("state") == "open" && !p.open || q.Get("state") == "closed" && p.open ||
			q.Get("base") != "" && q.Get("base") != p.base.branch ||
			q.Get("head") != "" && q.Get("head") != Owner+":"+p.head.branch {
			continue
		}
		if size := q.Get("per_page"); size != "" && fmt.Sprint(len(found)) == size {
			break
		}
		found = append(found, p.answer())
	}
	return http.StatusOK, found
}

func (s *Server) open(r request) (int, any) {
	text := func(key string) string {
		v, _ := r.said[key].(string)
		return strings.TrimPrefix(v, Owner+":")
	}
	p := &pull{
		number: len(s.pulls) + 1, origin: r.origin, open: true, title: text("title"), body: text("body"),
		head: tip{branch: text("head")}, base: tip{branch: text("base")},
	}
	for field, t := range map[string]tip{"head": p.head, "base": p.base} {
		if r.origin.Tip(t.branch) == "" {
			return invalid("Validation Failed", m{"field": field, "code": "invalid"})
		}
	}
	p.look()
	for _, other := range s.pulls {
		if other.look(); other.open && other.head.branch == p.head.branch && other.base.branch == p.base.branch {
			return invalid("Validation Failed", m{"code": "custom", "message": fmt.Sprintf("A pull request already exists for %s:%s.", Owner, p.head.branch)})
		}
	}
	if r.origin.Git(s.t, "rev-list", "--count", p.base.commit+".."+p.head.commit) == "0" {
		return invalid("Validation Failed", m{"code": "custom", "message": fmt.Sprintf("No commits between %s and %s", p.base.branch, p.head.branch)})
	}
	s.pulls = append(s.pulls, p)
	return http.StatusCreated, p.answer()
}

func (s *Server) edit(r request) (int, any) {
	if title, ok := r.said["title"].(string); ok {
		r.pull.title = title
	}
	if body, ok := r.said["body"].(string); ok {
		r.pull.body = body
	}
	switch state, _ := r.said["state"].(string); {
	case state == "closed":
		r.pull.open = false
	case state == "open" && !r.pull.open:
		return invalid("Validation Failed", m{"code": "custom", "message": "the stand-in opens nothing again"})
	}
	return http.StatusOK, r.pull.answer()
}
