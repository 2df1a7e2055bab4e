package wire

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// A Server is a repository on a server that speaks git over HTTP or SSH.
type Server struct {
	transport Transport
	maxBytes  int64
	tempDir   string

	// roots is the filter of a request for a commit. "tree:1" adds its root tree, and
	// "blob:none" all its trees.
	roots string
	// window is the filter of a request for the commits of a window. "tree:1" adds their
	// root trees, and "tree:0" fetches only the commits.
	window string

	has   features
	Asked bool // the server sent its features; if false, has is assumed

	// announce is set after a push failed before git could answer. git requests the
	// advertisement before it pushes, and a server may insist on it.
	announce bool

	disk *pack.Spool // the last commit that was fetched with all files; may be nil
}

// String returns the address without secrets.
func (s *Server) String() string { return s.transport.String() }

const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// A Transport sends one request and returns its response.
type Transport interface {
	// Get requests a service's advertisement.
	Get(ctx context.Context, service string) (io.ReadCloser, error)
	// Post sends a request to a service, and returns its answer without the advertisement
	// before it.
	Post(ctx context.Context, service string, body *Request, v2 bool) (io.ReadCloser, error)
	// String returns the address without secrets.
	String() string
}

// A silence is the error of a request without an answer, or to an untrusted host.
type silence struct{ error }

func (s silence) Unwrap() error { return s.error }

// hopeless reports whether an older protocol would fail in the same way.
func hopeless(err error) bool {
	var status *statusError
	if errors.As(err, &status) {
		return status.moved != "" || status.code == http.StatusUnauthorized || status.code == http.StatusForbidden
	}
	var silent silence
	return errors.As(err, &silent)
}

// A Refusal is a server's answer that it does not accept a push.
type Refusal struct {
	Words string
	Final bool // a repeated push would also be refused
}

// Error returns the server's message.
func (r *Refusal) Error() string { return r.Words }
