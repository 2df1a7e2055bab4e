package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
)

// smartHTTP is the transport to a server that speaks git over HTTP.
type smartHTTP struct {
	url    string
	auth   Auth
	client *http.Client
}

func (h *smartHTTP) String() string { return h.url }

// A statusError is a response with an HTTP status other than 200.
type statusError struct {
	code  int
	words string // the text of the response, on one line
	moved string // the target of a redirect
}

func (e *statusError) Error() string {
	var advice string
	switch {
	case e.moved != "":
		return fmt.Sprintf("the server redirects to %s. Use this URL", e.moved)
	case e.code == http.StatusUnauthorized:
		advice = ", the credentials are missing or wrong"
	case e.code == http.StatusForbidden:
		advice = ", the credentials do not allow it"
	case e.code == http.StatusNotFound:
		advice = ", the repository does not exist, or the credentials have no access to it"
	}
	text := fmt.Sprintf("the server answers %d %s%s", e.code, http.StatusText(e.code), advice)
	if e.words != "" {
		text += ": " + e.words
	}
	return text
}

// Get requests a service's advertisement.
func (h *smartHTTP) Get(ctx context.Context, service string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, h.url+"/info/refs?service="+service, nil)
	if err != nil {
		return nil, err
	}
	if service == uploadPack {
		r.Header.Set("Git-Protocol", "version=2")
	}
	return h.do(r, "application/x-"+service+"-advertisement")
}

// Post sends a request to a service.
func (h *smartHTTP) Post(ctx context.Context, service string, body *Request, v2 bool) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+"/"+service, &body.Buffer)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/x-"+service+"-request")
	if v2 {
		r.Header.Set("Git-Protocol", "version=2")
	}
	return h.do(r, "application/x-"+service+"-result")
}

// do sends a request and returns the body of a response of the type want.
func (h *smartHTTP) do(r *http.Request, want string) (io.ReadCloser, error) {
	r.Header.Set("User-Agent", "git/gitlatch") // some hosts serve git only to git
	r.Header.Set("Accept", want)
	if h.auth != (Auth{}) {
		r.SetBasicAuth(h.auth.Username, h.auth.Password)
	}
	ctx, done := context.WithCancelCause(r.Context())
	answer, err := h.client.Do(r.WithContext(ctx))
	if err != nil {
		done(nil)
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the connection was cut before the answer: %w", err)
		}
		return nil, silence{err}
	}
	own := &body{pace{from: answer.Body, giveUp: done}, answer.Body, ctx, done}
	answer.Body = own
	if answer.StatusCode != http.StatusOK {
		said := status(answer)
		_ = own.Close() // the body is not used
		return nil, said
	}
	if got, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); got != want {
		_ = own.Close() // the body is not used
		return nil, fmt.Errorf("the server answers %q, which is not git's protocol. Check the URL of the repository", got)
	}
	return own, nil
}

func status(answer *http.Response) error {
	e := &statusError{code: answer.StatusCode}
	if to, err := answer.Location(); err == nil {
		e.moved = Bare(to)
		for _, service := range []string{"/info/refs", "/" + uploadPack, "/" + receivePack} {
			e.moved = strings.TrimSuffix(e.moved, service)
		}
	}
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == "text/plain" {
		words, _ := io.ReadAll(io.LimitReader(answer.Body, sanitize.MostAnswer))
		e.words = sanitize.Answer(string(words))
	}
	return e
}
