package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/bradleyfalzon/ghinstallation/v2"
	api "github.com/google/go-github/v88/github"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// tokens hands out the token to use. An App's is minted with the first request,
// and again a minute before its hour is over.
type tokens struct {
	fixed string // "" with an App
	app   App
	mint  func() *ghinstallation.Transport

	mu     sync.Mutex
	source *ghinstallation.Transport
}

func newTokens(c Credentials, name, apiURL string, transport http.RoundTripper) (*tokens, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	t := &tokens{fixed: c.Token, app: c.App}
	if t.fixed != "" {
		return t, nil
	}
	app, err := ghinstallation.NewAppsTransport(transport, c.App.ID, c.App.PrivateKey)
	if err != nil {
		return nil, errors.New("privateKey: is not an RSA key that can be read")
	}
	app.BaseURL = apiURL
	t.mint = func() *ghinstallation.Transport {
		source := ghinstallation.NewFromAppsTransport(app, c.App.InstallationID)
		source.InstallationTokenOptions = &api.InstallationTokenOptions{Repositories: []string{name}}
		return source
	}
	t.source = t.mint()
	return t, nil
}

func (t *tokens) get(ctx context.Context) (string, error) {
	if t.fixed != "" {
		return t.fixed, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	token, err := t.source.Token(ctx)
	if err != nil {
		return "", t.explain(err)
	}
	return token, nil
}

// renew forgets a token that the server does not know any more. It is false
// where there is no other.
func (t *tokens) renew(ctx context.Context, refused string) bool {
	if t.fixed != "" {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if token, err := t.source.Token(ctx); err == nil && token == refused {
		t.source = t.mint()
	}
	return true
}

// explain says what to do where an App gets no token.
func (t *tokens) explain(err error) error {
	var failed *ghinstallation.HTTPError
	if !errors.As(err, &failed) || failed.Response == nil {
		if failed != nil && failed.RootCause != nil {
			err = failed.RootCause
		}
		return fmt.Errorf("get a token for App %d: %w", t.app.ID, err)
	}
	defer failed.Response.Body.Close()
	var said struct{ Message string }
	_ = json.NewDecoder(io.LimitReader(failed.Response.Body, 10_000)).Decode(&said) // its status says enough
	advice := map[int]string{
		http.StatusUnauthorized:        "appId and privateKey do not belong together, or the key was revoked",
		http.StatusForbidden:           "the installation is suspended, or may not be used",
		http.StatusNotFound:            fmt.Sprintf("installationId %d is not one of this App", t.app.InstallationID),
		http.StatusUnprocessableEntity: "the installation does not include the repository",
	}[failed.Response.StatusCode]
	if advice != "" {
		advice = ", " + advice
	}
	return &loginError{fmt.Sprintf("get a token for App %d: GitHub answers %d%s: %s", t.app.ID, failed.Response.StatusCode, advice, repo.OneLine(said.Message))}
}

// A loginError is that no token was handed out: nothing was sent.
type loginError struct{ words string }

func (e *loginError) Error() string { return e.words }

// A login puts a token on each request. Where it is refused as one that is not
// known, it is renewed, and the request sent again, once.
type login struct {
	*tokens
	transport http.RoundTripper
	put       func(r *http.Request, token string)
}

// RoundTrip sends a request.
func (l *login) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := l.get(r.Context())
	if err != nil {
		return nil, err
	}
	answer, err := l.send(r, token)
	if err != nil || answer.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil || !l.renew(r.Context(), token) {
		return answer, err
	}
	fresh, _ := l.get(r.Context())
	if fresh == "" {
		return answer, nil // which says what get does, of the request that was made
	}
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection can be used again
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

func (l *login) send(r *http.Request, token string) (*http.Response, error) {
	r = r.Clone(r.Context())
	l.put(r, token)
	return l.transport.RoundTrip(r)
}
