package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/bradleyfalzon/ghinstallation/v2"
	api "github.com/google/go-github/v88/github"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
)

// A Login provides the token for the requests to one repository. It requests an App's
// token with the first request, and a new one a minute before the token's hour ends. It
// is safe for concurrent use.
type Login struct {
	secret func(context.Context) (Credentials, error) // nil after the credentials were read
	mint   func(App) (*ghinstallation.Transport, error)

	mu     sync.Mutex
	fixed  string // the token; "" with an App
	app    App
	source *ghinstallation.Transport // nil with a token
}

func newLogin(o Options, apiURL string) *Login {
	transport := o.transport()
	_, name, _ := strings.Cut(o.Repository, "/")
	return &Login{secret: o.Secret, mint: func(app App) (*ghinstallation.Transport, error) {
		own, err := ghinstallation.NewAppsTransport(transport, app.ID, app.PrivateKey)
		if err != nil {
			return nil, errors.New("privateKey: is not an RSA key that can be read")
		}
		own.BaseURL = apiURL
		source := ghinstallation.NewFromAppsTransport(own, app.InstallationID)
		source.InstallationTokenOptions = &api.InstallationTokenOptions{Repositories: []string{name}}
		if o.ReadOnly {
			source.InstallationTokenOptions.Permissions = &api.InstallationPermissions{Contents: api.Ptr("read"), PullRequests: api.Ptr("read")}
		}
		return source, nil
	}}
}

// use sets the credentials.
func (t *Login) use(c Credentials) (err error) {
	if c.Token == "" {
		if t.source, err = t.mint(c.App); err != nil {
			return err
		}
	}
	t.secret = nil
	t.fixed = c.Token
	t.app = c.App
	return nil
}

func (t *Login) get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.secret != nil {
		c, err := t.secret(ctx)
		if err == nil {
			err = t.use(c)
		}
		if err != nil {
			return "", &loginError{err}
		}
	}
	if t.fixed != "" {
		return t.fixed, nil
	}
	token, err := t.minted(ctx)
	if err != nil {
		return "", t.explain(err)
	}
	return token, nil
}

// minted returns the App's token. It requests a new one if the present one is about to
// expire.
func (t *Login) minted(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, wire.AnswerWithin)
	defer cancel()
	return t.source.Token(ctx)
}

// renew drops a token that the server refused. It returns false if it cannot get another
// token: only an App can.
func (t *Login) renew(ctx context.Context, refused string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.source == nil {
		return false
	}
	if token, err := t.minted(ctx); err == nil && token == refused {
		if source, err := t.mint(t.app); err == nil {
			t.source = source
		}
	}
	return true
}

// explain adds advice to the error of a token request for an App.
func (t *Login) explain(err error) error {
	var failed *ghinstallation.HTTPError
	if !errors.As(err, &failed) || failed.Response == nil {
		if failed != nil && failed.RootCause != nil {
			err = failed.RootCause
		}
		return fmt.Errorf("get a token for App %d: %w", t.app.ID, err)
	}
	defer failed.Response.Body.Close()
	var said struct{ Message string }
	_ = json.NewDecoder(io.LimitReader(failed.Response.Body, 10_000)).Decode(&said) // the status is enough if it fails
	advice := map[int]string{
		http.StatusUnauthorized:        "appId and privateKey do not belong together, or the key was revoked",
		http.StatusForbidden:           "the installation may not be used",
		http.StatusNotFound:            fmt.Sprintf("installationId %d is not one of this App", t.app.InstallationID),
		http.StatusUnprocessableEntity: "the installation does not include the repository",
	}[failed.Response.StatusCode]
	if failed.Response.StatusCode == http.StatusForbidden && strings.Contains(said.Message, "suspended") {
		advice = "the installation is suspended: let an owner of the organisation resume it"
	}
	if advice != "" {
		advice = ", " + advice
	}
	return &loginError{fmt.Errorf("get a token for App %d: GitHub answers %d%s: %s", t.app.ID, failed.Response.StatusCode, advice, sanitize.Answer(said.Message))}
}

// A loginError means that gitlatch got no token and sent no request.
type loginError struct{ cause error }

func (e *loginError) Error() string { return e.cause.Error() }

func (e *loginError) Unwrap() error { return e.cause }

// A shown adds the token to each request. If the server answers 401, it renews the token
// and repeats the request once.
type shown struct {
	*Login
	transport http.RoundTripper
	put       func(r *http.Request, token string)
}

// RoundTrip sends a request.
func (l *shown) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := l.get(r.Context())
	if err != nil {
		return nil, err
	}
	answer, err := l.send(r, token)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil || !l.renew(r.Context(), token) {
		return answer, err
	}
	fresh, failed := l.get(r.Context())
	if failed != nil {
		return because(answer, failed), nil
	}
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // then the connection can be used again
	answer.Body.Close()
	if r.GetBody != nil {
		again, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = again
	}
	return l.send(r, fresh)
}

// because returns the refused answer with another body: the reason why renew got no new
// token.
func because(answer *http.Response, why error) *http.Response {
	words := why.Error()
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "application/json") {
		text, err := json.Marshal(map[string]string{"message": words})
		if err != nil {
			return answer
		}
		words = string(text)
	}
	answer.Body.Close()
	answer.Body, answer.ContentLength = io.NopCloser(strings.NewReader(words)), int64(len(words))
	return answer
}

func (l *shown) send(r *http.Request, token string) (*http.Response, error) {
	r = r.Clone(r.Context())
	l.put(r, token)
	return l.transport.RoundTrip(r)
}
