package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/sanitize"
)

// What ends a look, as errors.Is tells it of a ServerError.
var (
	// ErrUnreachable says that the API server did not answer at all: nothing is
	// known of the cluster, and no fleet comes with it.
	ErrUnreachable = errors.New("reach")
	// ErrUnauthorized says that the API server does not know who asks: the
	// credentials are missing, wrong or expired. What is known but may not be read
	// is no such error, but a part of the fleet that is unread.
	ErrUnauthorized = errors.New("log in to")
	// ErrForbidden says that the API server knows who asks, and lets it read
	// nothing at all of what a look needs.
	ErrForbidden = errors.New("read from")
)

// A ServerError says what could not be done with an API server, and why.
type ServerError struct {
	Kind   error  // ErrUnreachable, ErrUnauthorized or ErrForbidden
	Server string // its URL
	Cause  error  // what it said, to the first request
}

// Error names the server and the cause.
func (e *ServerError) Error() string {
	return fmt.Sprintf("%s the API server at %s: %s", e.Kind, e.Server, words(e.Cause))
}

// Unwrap returns the kind and the cause.
func (e *ServerError) Unwrap() []error { return []error{e.Kind, e.Cause} }

// words returns an error as a phrase in one line: what kind of answer it was
// and the server's words, which are data and may hold anything.
func words(err error) string {
	text := err.Error()
	if transport, ok := errors.AsType[*url.Error](err); ok {
		text = transport.Err.Error() // less the URL, which is long and says little
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
