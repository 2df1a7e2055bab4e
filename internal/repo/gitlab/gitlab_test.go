package gitlab_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitlab"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
	"github.com/gitlatch/gitlatch/internal/repo/repotest"
	standin "github.com/gitlatch/gitlatch/internal/testenv/gitlab"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const (
	token    = "glpat-1"
	proposed = "gitlatch/prod"
)

func shop(t *testing.T, files map[string]string) (*standin.Server, *gitserver.Origin) {
	s := standin.Start(t)
	s.Grant(token)
	return s, s.Create(t, "shop", files)
}

func open(t *testing.T, s *standin.Server) (*gitwire.Repository, *gitlab.Proposals) {
	t.Helper()
	r, err := gitwire.Open(gitwire.Options{
		URL: s.Repository("shop"), Branch: "main", Auth: wire.Token(token), TempDir: t.TempDir(),
		Pause: func(ctx context.Context, _ int) error { return ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	p, err := gitlab.Open(gitlab.Options{URL: s.URL(), Repository: s.Repository("shop"), Branch: "main", Token: known(token), Git: r})
	if err != nil {
		t.Fatal(err)
	}
	return r, p
}

func known(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

func TestContract(t *testing.T) {
	t.Parallel()
	repotest.Run(t, func(t *testing.T, files map[string]string) repotest.Fixture {
		s, o := shop(t, files)
		return repotest.Fixture{
			Origin: o,
			Open: func(t *testing.T) repo.Repository {
				r, _ := open(t, s)
				return r
			},
			Refuse: func(t *testing.T, words string) { o.Decline(t, words) },
		}
	})
}

func TestProposals(t *testing.T) {
	t.Parallel()
	repotest.RunProposals(t, func(t *testing.T, files map[string]string) repotest.Host {
		s, o := shop(t, files)
		r, p := open(t, s)
		base := func(branch string) string {
			if branch == "" {
				return "main"
			}
			return branch
		}
		return repotest.Host{
			Repository: r,
			Proposals:  p,
			Push: func(t testing.TB, branch string, files map[string]string) {
				o.Push(t, base(branch), files, "by a person")
			},
			Show:    func(t testing.TB, branch, path string) string { return o.Show(t, base(branch), path) },
			Merge:   s.Merge,
			Decline: s.Decline,
			Words:   s.Words,
		}
	})
}

func push(t *testing.T, r repo.Repository, tip, content string) string {
	t.Helper()
	id, err := r.Commit(t.Context(), repo.Commit{
		Branch: proposed, Parent: tip, Files: map[string][]byte{"a": []byte(content)},
		Message: "latch(prod): one level\n", When: time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

var draft = repo.Draft{Branch: proposed, Title: "t", Body: "b"}

func TestRefusalsNameTheReasonAndTheFix(t *testing.T) {
	t.Parallel()
	ensure := func(ctx context.Context, p *gitlab.Proposals) error {
		_, err := p.Ensure(ctx, draft)
		return err
	}
	find := func(ctx context.Context, p *gitlab.Proposals) error {
		_, err := p.Find(ctx, proposed)
		return err
	}
	closes := func(ctx context.Context, p *gitlab.Proposals) error {
		opened, err := p.Ensure(ctx, draft)
		if err != nil {
			return err
		}
		return p.Close(ctx, opened, "not needed")
	}
	for _, c := range []struct {
		name    string
		breaks  func(*standin.Server)
		do      func(context.Context, *gitlab.Proposals) error
		want    string
		refused bool
	}{
		{"an invalid token", (*standin.Server).Expire, find, "find the merge request of \"gitlatch/prod\": GitLab answers 401, the token is wrong, expired or revoked: 401 Unauthorized", false},
		{"a token without the scope", func(s *standin.Server) { s.Deny(standin.Open) }, ensure,
			"propose \"gitlatch/prod\": merge request was refused: GitLab answers 403, the token does not allow it (merge requests need the scope api and the role Developer): insufficient_scope: The request requires higher privileges", true},
		{"no right to comment", func(s *standin.Server) { s.Deny(standin.Comment) }, closes, "close merge request 1: comment was refused: GitLab answers 403", true},
		{"no right to close", func(s *standin.Server) { s.Deny(standin.Edit) }, closes, "closing it was refused: GitLab answers 403", true},
		{"a protected branch", func(s *standin.Server) { s.Deny(standin.DeleteBranch) }, closes, "removing the branch was refused: GitLab answers 403", true},
		{"another merge request in the meantime", func(s *standin.Server) {
			s.Before(standin.Open, func() { rival(t, s) })
		}, ensure, "merge request was refused: GitLab answers 409: Another open merge request already exists for this source branch: !1", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, o := shop(t, map[string]string{"a": "1"})
			r, p := open(t, s)
			push(t, r, o.Tip("main"), "2")
			c.breaks(s)
			err := c.do(t.Context(), p)
			var refused *repo.RefusedError
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &refused) != c.refused {
				t.Errorf("the error is %v; want %q, refused %v", err, c.want, c.refused)
			} else if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), token) {
				t.Errorf("the error %q has lines, or the token", err)
			}
		})
	}
}

// rival opens a merge request of the same branch.
func rival(t *testing.T, s *standin.Server) {
	_, p := open(t, s)
	if _, err := p.Ensure(context.WithoutCancel(t.Context()), draft); err != nil {
		t.Error(err)
	}
}

func TestAProjectWithoutAccessIsNamed(t *testing.T) {
	t.Parallel()
	s := standin.Start(t)
	s.Grant(token)
	_, p := open(t, s)
	const want = "GitLab answers 404, the project platform/eu/shop does not exist, or the token has no access to it: 404 Project Not Found"
	if _, err := p.Find(t.Context(), proposed); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// On a public server, anyone can open merge requests from a fork with a branch of the
// same name.
func TestMergeRequestsOfForksAreIgnored(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1"})
	r, p := open(t, s)
	head := push(t, r, o.Tip("main"), "2")
	opened, err := p.Ensure(t.Context(), draft)
	if err != nil {
		t.Fatal(err)
	}
	for range 45 { // more than two pages
		s.Fork(proposed, "main")
	}
	if found, err := p.Find(t.Context(), proposed); err != nil || found == nil || *found != opened || found.Head != head {
		t.Errorf("found %+v, %v; want %+v", found, err, opened)
	}
}

func TestAPushOfTheLastMomentKeepsTheMergeRequestOpen(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1"})
	r, p := open(t, s)
	push(t, r, o.Tip("main"), "2")
	opened, err := p.Ensure(t.Context(), draft)
	if err != nil {
		t.Fatal(err)
	}
	s.Before(standin.List, func() { o.Push(t, proposed, map[string]string{"a": "theirs"}, "person") })
	if err := p.Close(t.Context(), opened, "not needed"); !errors.Is(err, repo.ErrMoved) {
		t.Errorf("close: %v, want ErrMoved", err)
	}
	if o.Show(t, proposed, "a") != "theirs" || slices.Contains(s.Calls(), standin.Comment) {
		t.Error("the user's commit is gone, or gitlatch commented")
	}
}

func TestLongTextsAreShortened(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1"})
	r, p := open(t, s)
	push(t, r, o.Tip("main"), "2")
	opened, err := p.Ensure(t.Context(), repo.Draft{Branch: proposed, Title: strings.Repeat("ä", 300), Body: "b"})
	if err != nil {
		t.Fatal(err)
	}
	if title, _, _ := s.Words(t, opened.ID); len([]rune(title)) != 255 || !strings.HasSuffix(title, "ä…") {
		t.Errorf("the title is %q", title)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	const repository = "https://git.example.com/gitlab/platform/fleet.git"
	for _, c := range []struct{ url, repository, want string }{
		{"https://git.example.com/gitlab", repository, ""},
		{"https://git.example.com/gitlab/", repository, ""},
		{"https://git.example.com", repository, ""},
		{"https://git.example.com/gitlab/platform", repository, "want the https URL of a project on the GitLab server"},
		{"https://gitlab.com", repository, "such as https://gitlab.com/platform/fleet.git"},
		{"http://git.example.com", repository, "server git.example.com: want https"},
		{"https://me:hunter2@git.example.com", repository, "want the URL of a GitLab server"},
		{"", repository, "want the URL of a GitLab server"},
	} {
		_, err := gitlab.Open(gitlab.Options{URL: c.url, Repository: c.repository, Branch: "main", Token: known(token)})
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: %v, want %q", c.url, err, c.want)
		}
	}
}

// Credentials go only to the host for which they are valid.
func TestTheTokenDoesNotFollowARedirect(t *testing.T) {
	t.Parallel()
	asked := 0
	p, err := gitlab.Open(gitlab.Options{
		URL: "https://gitlab.com", Repository: "https://gitlab.com/platform/fleet.git", Branch: "main", Token: known(token),
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			return &http.Response{
				StatusCode: http.StatusMovedPermanently, Request: r, Body: http.NoBody,
				Header: http.Header{"Location": {"https://elsewhere.example.com/"}},
			}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Find(t.Context(), proposed); err == nil || !strings.Contains(err.Error(), "the project platform/fleet has moved. Set its new URL") || asked != 1 {
		t.Errorf("a redirect: %v, after %d requests", err, asked)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
