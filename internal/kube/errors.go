package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/foreign"
)

// An UnreachableError says that the API server did not answer at all: nothing
// is known of the cluster, and no fleet comes with it.
type UnreachableError struct {
	Server string // its URL
	Cause  error
}

// Error names the server and the cause.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("reach the API server at %s: %s", e.Server, words(e.Cause))
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Cause }

// An UnauthorizedError says that the API server does not know who asks: the
// credentials are missing, wrong or expired. What is known but may not be read
// is no such error, but a part of the fleet that is unread.
type UnauthorizedError struct {
	Server string // its URL
	Cause  error
}

// Error names the server and what it said.
func (e *UnauthorizedError) Error() string {
	return fmt.Sprintf("log in to the API server at %s: %s", e.Server, words(e.Cause))
}

// Unwrap returns the cause.
func (e *UnauthorizedError) Unwrap() error { return e.Cause }

// A ForbiddenError says that the API server knows who asks, and lets it read
// nothing at all of what a look needs.
type ForbiddenError struct {
	Server string // its URL
	Cause  error  // what it said to the first request
}

// Error names the server and what it said.
func (e *ForbiddenError) Error() string {
	return fmt.Sprintf("read from the API server at %s: %s", e.Server, words(e.Cause))
}

// Unwrap returns the cause.
func (e *ForbiddenError) Unwrap() error { return e.Cause }

// words returns an error as a phrase in one line: what kind of answer it was
// and the server's words, which are data and may hold anything.
func words(err error) string {
	text := err.Error()
	var status apierrors.APIStatus
	var transport *url.Error
	switch {
	case errors.Is(err, errTooLarge):
		text = errTooLarge.Error()
	case errors.As(err, &status):
		s := status.Status()
		text = s.Message
		if kind := strings.ToLower(http.StatusText(int(s.Code))); kind != "" {
			text = kind + ": " + text
		}
	case errors.As(err, &transport):
		text = transport.Err.Error() // less the URL, which is long and says little
	}
	return foreign.Words(text)
}
