package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
)

// The kinds of a ServerError, for errors.Is.
var (
	// ErrUnreachable means that the API server did not answer. The cluster is unknown,
	// and Sample returns no fleet.
	ErrUnreachable = errors.New("reach")
	// ErrUnauthorized means that the API server rejects the credentials: they are
	// missing, wrong or expired. If it accepts the credentials but forbids some of the
	// requests, these parts are in Fleet.Unread instead.
	ErrUnauthorized = errors.New("log in to")
	// ErrForbidden means that the API server accepts the credentials, but forbids every
	// request of a sample.
	ErrForbidden = errors.New("read from")
)

// A ServerError reports a failed action on an API server and its cause.
type ServerError struct {
	Kind   error  // ErrUnreachable, ErrUnauthorized or ErrForbidden
	Server string // its URL
	Cause  error  // the first error
}

// Error returns the action, the server and the cause.
func (e *ServerError) Error() string {
	return fmt.Sprintf("%s the API server at %s: %s", e.Kind, e.Server, words(e.Cause))
}

// Unwrap returns the kind and the cause.
func (e *ServerError) Unwrap() []error { return []error{e.Kind, e.Cause} }

// words returns an error on one line: the HTTP status and the server's message. The
// message is untrusted, so words sanitizes it.
func words(err error) string {
	text := err.Error()
	if transport, ok := errors.AsType[*url.Error](err); ok {
		text = transport.Err.Error() // without the URL, which is long and adds little
	}
	if status, ok := errors.AsType[*apierrors.StatusError](err); ok {
		kind := strings.ToLower(http.StatusText(int(status.ErrStatus.Code)))
		text = strings.TrimPrefix(kind+": "+status.ErrStatus.Message, ": ")
	}
	if tooLarge(err) {
		text = fmt.Sprintf("one object has more than %d MiB", pageBytes>>20)
	}
	return sanitize.Words(text)
}
