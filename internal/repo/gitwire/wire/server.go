package wire

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// A Server is a repository on a server that speaks git, whatever the way to it.
type Server struct {
	transport Transport
	maxBytes  int64
	tempDir   string

	// roots is the filter by which a commit is fetched: "tree:1" brings it with
	// its root tree, "blob:none" with all its trees.
	roots string
	// window is the filter by which the commits of a window are fetched: "tree:1"
	// or, with nothing but themselves, "tree:0".
	window string

	has   features
	Asked bool // whether the server said what it has, or it is assumed

	// announce is set once a push failed before git could answer: git itself
	// asks before it pushes, and a server may insist.
	announce bool

	disk *pack.Spool // of the last commit fetched whole; nil where there is none
}

// String names the repository, without anything secret.
func (s *Server) String() string { return s.transport.String() }

const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// A Transport carries one request and its response.
type Transport interface {
	// get asks for a service's advertisement.
	Get(ctx context.Context, service string) (io.ReadCloser, error)
	// post calls a service, and returns its answer without the advertisement
	// that may stand before it.
	Post(ctx context.Context, service string, body *Request, v2 bool) (io.ReadCloser, error)
	// String names the repository, without anything secret.
	String() string
}

// A silence is a request without an answer, or one from whoever is not trusted.
type silence struct{ error }

func (s silence) Unwrap() error { return s.error }

// hopeless reports whether an error is one that asking in an older way cannot
// mend.
func hopeless(err error) bool {
	var status *statusError
	if errors.As(err, &status) {
		return status.moved != "" || status.code == http.StatusUnauthorized || status.code == http.StatusForbidden
	}
	var silent silence
	return errors.As(err, &silent)
}

// A Refusal is a server's answer that it does not take a push.
type Refusal struct {
	Words string
	Final bool // asking again is no use
}

// Error returns the words of the server.
func (r *Refusal) Error() string { return r.Words }
