package gitwire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
	"github.com/gitlatch/gitlatch/internal/repo/signing"
)

// Options say which repository to open, and how.
type Options struct {
	// URL is https://host/path, or http:// to this machine itself, or
	// ssh://git@host/path or git@host:path, or file:///path or a path to a bare
	// repository or to one with files. It must not hold credentials.
	URL string
	// Branch is the base, "main".
	Branch string

	// Auth is sent with each request over HTTP; the zero value sends none.
	Auth wire.Auth
	// SSH is how a repository over SSH is reached; for others it is not looked at.
	SSH wire.SSH
	// CABundle is PEM certificates to trust instead of the system's.
	CABundle []byte
	// Transport replaces the HTTP transport, and CABundle with it. Nil is the
	// standard one.
	Transport http.RoundTripper

	// MaxBytes bounds the download from a server without partial clone, which
	// sends all files of a commit. 0 is 256 MiB.
	MaxBytes int64
	// TempDir is where such a download is kept until Close; "" is the system's.
	TempDir string

	// Author is the author and committer of commits; the zero value is
	// repo.DefaultAuthor.
	Author repo.Author
	// Signer signs commits; nil signs none.
	Signer *signing.Key

	// Pause waits before a failed push is tried again, the first time with 1.
	// Nil waits a fifth of a second or so, and about twice as long each time.
	Pause func(ctx context.Context, try int) error
}

// Open checks the options and returns the repository; over HTTP it sends
// nothing yet. All that is wrong with the options is in one error.
func Open(o Options) (*Repository, error) {
	branch, err := parseBranch(o.Branch)
	problems := []error{err}
	o.Author = cmp.Or(o.Author, repo.DefaultAuthor)
	if o.Author.Name == "" || o.Author.Email == "" || strings.ContainsAny(o.Author.Name+o.Author.Email, "<>\n\x00") {
		problems = append(problems, errors.New("author: want a name and an email address without < and >"))
	}
	if o.MaxBytes < 0 {
		problems = append(problems, fmt.Errorf("max bytes: must not be negative, got %d", o.MaxBytes))
	}
	remote, err := connect(o)
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if o.Pause == nil {
		o.Pause = backoff.Retry
	}
	return &Repository{remote: remote, base: branch, objects: pack.NewObjects(), author: o.Author, signer: o.Signer, pause: o.Pause}, nil
}

func connect(o Options) (remote, error) {
	if err := repo.CheckURL(o.URL); err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	if repo.OverSSH(o.URL) {
		return wire.OpenSSH(wire.ParseSSH(o.URL), o.SSH, o.limits())
	}
	if !strings.Contains(o.URL, "://") {
		return openLocal(o.URL)
	}
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("repository: the URL cannot be parsed") // it may contain a password
	}
	if u.Scheme == "file" {
		return openLocal(filepath.FromSlash(u.Path))
	}
	if o.Transport == nil {
		if o.Transport, err = wire.Trusting(o.CABundle); err != nil {
			return nil, fmt.Errorf("ca bundle: %w", err)
		}
	}
	return wire.OpenHTTP(u, o.Auth, o.Transport, o.limits()), nil
}

func (o Options) limits() wire.Limits { return wire.Limits{MaxBytes: o.MaxBytes, TempDir: o.TempDir} }
