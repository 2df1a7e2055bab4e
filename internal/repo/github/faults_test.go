package github_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/github"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	standin "github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const proposed = "gitlatch/prod"

func edit(parent, content string) repo.Commit {
	return repo.Commit{
		Parent: parent, Files: map[string][]byte{"a": []byte(content)},
		Message: "latch(prod): one level\n", When: time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC),
	}
}

func propose(ctx context.Context, r repo.Repository, p repo.Proposals, tip string) error {
	c := edit(tip, "2")
	c.Branch = proposed
	if _, err := r.Commit(ctx, c); err != nil {
		return err
	}
	_, err := p.Ensure(ctx, repo.Draft{Branch: proposed, Title: "t", Body: "b"})
	return err
}

func TestATokenIsMintedOnceAndRenewedOnceItExpired(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1"})
	r, p := open(t, s, app)
	tip := o.Tip("main")
	if err := propose(t.Context(), r, p, tip); err != nil {
		t.Fatal(err)
	}
	if s.Minted() != 1 {
		t.Errorf("%d tokens were minted for one tick, want 1", s.Minted())
	}
	s.Expire()
	if _, err := r.Commit(t.Context(), edit(tip, "3")); err != nil || s.Minted() != 2 {
		t.Errorf("a push after the token expired: %v, %d tokens", err, s.Minted())
	}
	s.Expire()
	if found, err := p.Find(t.Context(), proposed); err != nil || found == nil || s.Minted() != 3 {
		t.Errorf("the API after the token expired: %v, %v, %d tokens", found, err, s.Minted())
	}
}

func TestATokenOfItsOwnServesAsWell(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1"})
	r, p := open(t, s, token)
	if err := propose(t.Context(), r, p, o.Tip("main")); err != nil {
		t.Fatal(err)
	}
	if s.Minted() != 0 || slices.Contains(s.Calls(), "POST /app/installations/{installation_id}/access_tokens") {
		t.Errorf("a token was asked for all the same: %v", s.Calls())
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	type cast struct {
		t *testing.T
		s *standin.Server
		o *gitserver.Origin
	}
	as := func(change func(*github.App)) func(*standin.Server) github.Credentials {
		return func(s *standin.Server) github.Credentials {
			c := app(s)
			change(&c.App)
			return c
		}
	}
	look := func(ctx context.Context, r *gitwire.Repository, p *github.Proposals, tip string) error {
		_, err := p.Find(ctx, proposed)
		_, _, heads := r.Heads(ctx)
		if err == nil || heads == nil {
			t.Errorf("the API says %v, git %v", err, heads)
		}
		return err
	}
	push := func(ctx context.Context, r *gitwire.Repository, _ *github.Proposals, tip string) error {
		_, err := r.Commit(ctx, edit(tip, "2"))
		return err
	}
	pull := func(ctx context.Context, r *gitwire.Repository, p *github.Proposals, tip string) error {
		return propose(ctx, r, p, tip)
	}
	for _, c := range []struct {
		name    string
		as      func(*standin.Server) github.Credentials
		prepare func(cast)
		do      func(context.Context, *gitwire.Repository, *github.Proposals, string) error
		want    string
		refused bool
	}{
		{"another App's key", as(func(a *github.App) { a.PrivateKey = pemOf(other) }), nil, look,
			"get a token for App 7: GitHub answers 401, appId and privateKey do not belong together", false},
		{"another App's id", as(func(a *github.App) { a.ID = 8 }), nil, look, "get a token for App 8: GitHub answers 401, appId and", false},
		{"no such installation", as(func(a *github.App) { a.InstallationID = 71 }), nil, look,
			"GitHub answers 404, installationId 71 is not one of this App", false},
		{"a suspended installation", app, func(c cast) { c.s.Suspend() }, look,
			"GitHub answers 403, the installation is suspended: let an owner of the organisation resume it: This installation has been suspended", false},
		{"a token that was revoked", token, func(c cast) { c.s.Expire() }, look,
			"GitHub answers 401, the token is wrong, expired or revoked: Bad credentials", false},
		{"a token that may only read", token, func(c cast) { c.s.ReadOnly(true) }, push, "the server answers 403", true},
		{"a protected branch", app, func(c cast) {
			c.o.Decline(c.t, "error: GH006: Protected branch update failed for refs/heads/main.\nerror: Changes must be made through a pull request.")
		}, push, "GH006: Protected branch update failed for refs/heads/main. error: Changes must be made through a pull request.", true},
		{"no right to pull requests", app, func(c cast) { c.s.Deny("POST /repos/{owner}/{repo}/pulls") }, pull,
			"pull request was refused: GitHub answers 403, the credentials do not allow it (pull requests need", true},
		{"nothing to propose", app, func(c cast) { c.o.ForcePush(c.t, proposed, c.o.Tip("main")) },
			func(ctx context.Context, _ *gitwire.Repository, p *github.Proposals, _ string) error {
				_, err := p.Ensure(ctx, repo.Draft{Branch: proposed, Title: "t", Body: "b"})
				return err
			}, "GitHub answers 422: Validation Failed: No commits between main and gitlatch/prod", true},
		{"no right to close", app, func(c cast) { c.s.Deny("POST /repos/{owner}/{repo}/issues/{issue_number}/comments") },
			func(ctx context.Context, r *gitwire.Repository, p *github.Proposals, tip string) error {
				if err := propose(ctx, r, p, tip); err != nil {
					return err
				}
				found, err := p.Find(ctx, proposed)
				if err != nil {
					return err
				}
				return p.Close(ctx, *found, "not needed")
			}, "closing it was refused: GitHub answers 403", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, o := shop(t, map[string]string{"a": "1"})
			r, p := open(t, s, c.as)
			if c.prepare != nil {
				c.prepare(cast{t, s, o})
			}
			tip := o.Tip("main")
			err := c.do(t.Context(), r, p, tip)
			var refused *repo.RefusedError
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &refused) != c.refused {
				t.Errorf("the error is %v; want %q, refused %v", err, c.want, c.refused)
			} else if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "ghs_") || strings.Contains(err.Error(), "github_pat_") {
				t.Errorf("the error %q has lines, or a secret", err)
			}
			if o.Tip("main") != tip {
				t.Error("the branch moved all the same")
			}
		})
	}
}

func TestARepositoryThatCannotBeSeenIsSaid(t *testing.T) {
	t.Parallel()
	s := standin.Start(t)
	_, p := open(t, s, token)
	if _, err := p.Find(t.Context(), proposed); err == nil || !strings.Contains(err.Error(), "the repository octo/shop does not exist, or the credentials have no access to it") {
		t.Errorf("with a token: %v", err)
	}
	_, p = open(t, s, app)
	if _, err := p.Find(t.Context(), proposed); err == nil || !strings.Contains(err.Error(), "GitHub answers 422, the installation does not include the repository") {
		t.Errorf("with an App: %v", err)
	}
}

// A user opens a pull request or pushes between two requests.
func TestAPushOfTheLastMomentKeepsThePullRequestOpen(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1"})
	r, p := open(t, s, app)
	if err := propose(t.Context(), r, p, o.Tip("main")); err != nil {
		t.Fatal(err)
	}
	found, err := p.Find(t.Context(), proposed)
	if err != nil {
		t.Fatal(err)
	}
	s.Before("GET /repos/{owner}/{repo}/pulls/{pull_number}", func() { o.Push(t, proposed, map[string]string{"a": "theirs"}, "person") })
	if err := p.Close(t.Context(), *found, "not needed"); !errors.Is(err, repo.ErrMoved) {
		t.Errorf("close: %v, want ErrMoved", err)
	}
	if o.Show(t, proposed, "a") != "theirs" {
		t.Error("the person's commit is gone")
	}
}

func TestSecretsAreReadOrTheirFieldIsNamed(t *testing.T) {
	t.Parallel()
	const wanted = "want a token, or JSON with appId and installationId, which are numbers, and privateKey, a string"
	line := strings.ReplaceAll(string(pemOf(key())), "\n", `\n`)
	lost := strings.ReplaceAll(string(pemOf(key())), "\n", " ")
	for _, c := range []struct{ secret, want string }{
		{"github_pat_11A\n", ""},
		{`{"appId": 7, "installationId": "70", "privateKey": "` + line + `"}`, ""},
		{"", "credentials: want an App's or a token"},
		{"two tokens", "token: contains spaces"},
		{"{", wanted},
		{"{}", "appId: want the App's id, a number above 0\ninstallationId: want the installation's id, a number above 0\nprivateKey: is missing"},
		{`{"appId": "Iv1.abc", "installationId": 70, "privateKey": "x"}`, wanted},
		{`{"appId": 7, "installationId": 70, "privateKey": 5}`, wanted},
		{`{"appId": 7, "installationId": 70, "privateKey": "` + lost + `"}`, "privateKey: is not PEM, or its line breaks were lost"},
		{`{"appId": 7, "installationId": 70, "privateKey": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}`, `privateKey: is PEM of "CERTIFICATE", and not an RSA key`},
	} {
		_, err := github.ParseSecret(c.secret)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%.60q: %v", c.secret, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.60q: %v, want %q", c.secret, err, c.want)
		case err != nil && strings.Contains(err.Error(), "MII"):
			t.Errorf("the error tells of the key: %v", err)
		}
	}
}

func TestOptionsAreCheckedAllAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		change func(*github.Options)
		want   string
	}{
		{func(o *github.Options) {}, ""},
		{func(o *github.Options) { o.APIURL = "https://ghe.example.com/api/v3/" }, ""},
		{func(o *github.Options) { o.APIURL = "https://api.shop.ghe.com" }, ""},
		{func(o *github.Options) { o.APIURL = "https://ghe.example.com" }, "want https://HOST/api/v3"},
		{func(o *github.Options) { o.APIURL = "http://ghe.example.com/api/v3" }, "want https"},
		{func(o *github.Options) { o.APIURL = "https://me:secret@ghe.example.com/api/v3" }, "api url: want https://HOST/api/v3"},
		{func(o *github.Options) { o.Repository, o.APIURL = "shop", "https://ghe.example.com" }, "want owner/name\napi url of ghe.example.com: want"},
		{func(o *github.Options) { o.Git.Branch = "refs/heads/main" }, "want a name such as main"},
	} {
		o := github.Options{Repository: "octo/shop", Git: gitwire.Options{Branch: "main"}}
		c.change(&o)
		_, _, err := github.Open(o)
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%+v: %v, want %q", o, err, c.want)
		}
	}
}

// Credentials go only to the host for which they are valid.
func TestCredentialsDoNotFollowARedirect(t *testing.T) {
	t.Parallel()
	asked := 0
	_, p, err := github.Open(github.Options{
		Repository: "octo/shop", Secret: known(github.Credentials{Token: "t"}),
		Git: gitwire.Options{Branch: "main", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			return &http.Response{
				StatusCode: http.StatusMovedPermanently, Request: r, Body: http.NoBody,
				Header: http.Header{"Location": {"https://elsewhere.example.com/"}},
			}, nil
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Find(t.Context(), proposed); err == nil || !strings.Contains(err.Error(), "the repository octo/shop has moved") || asked != 1 {
		t.Errorf("a redirect: %v, after %d requests", err, asked)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The App's token was valid a moment ago. It is refused, and the App gets no other
// token. git and the API both report that reason.
func TestATokenThatCannotBeRenewedSaysWhy(t *testing.T) {
	t.Parallel()
	s, _ := shop(t, map[string]string{"a": "1"})
	r, p := open(t, s, app)
	if _, _, err := r.Heads(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Suspend()
	_, _, git := r.Heads(t.Context())
	s.Resume()
	if _, _, err := r.Heads(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Suspend()
	_, rest := p.Find(t.Context(), proposed)
	for _, err := range []error{git, rest} {
		if err == nil || !strings.Contains(err.Error(), "answers 401") || !strings.Contains(err.Error(), "get a token for App 7: GitHub answers 403, the installation is suspended") {
			t.Errorf("error %v", err)
		}
	}
}
