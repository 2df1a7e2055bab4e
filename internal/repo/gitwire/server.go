package gitwire

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// server is a repository on a server that speaks git, whatever the way to it.
type server struct {
	wire     wire
	maxBytes int64
	tempDir  string

	// roots is the filter by which a commit is fetched: "tree:1" brings it with
	// its root tree, "blob:none" with all its trees.
	roots string
	// window is the filter by which the commits of a window are fetched: "tree:1"
	// or, with nothing but themselves, "tree:0".
	window string

	has   features
	asked bool // whether the server said what it has, or it is assumed

	// announce is set once a push failed before git could answer: git itself
	// asks before it pushes, and a server may insist.
	announce bool

	disk *spool // of the last commit fetched whole; nil where there is none
}

func (s *server) String() string { return s.wire.String() }

const (
	uploadPack  = "git-upload-pack"
	receivePack = "git-receive-pack"
)

// A wire carries one question and its answer.
type wire interface {
	// get asks for a service's advertisement.
	get(ctx context.Context, service string) (io.ReadCloser, error)
	// post calls a service, and returns its answer without the advertisement
	// that may stand before it.
	post(ctx context.Context, service string, body *request, v2 bool) (io.ReadCloser, error)
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
