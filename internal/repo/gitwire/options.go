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

// Options are the address of a repository and the settings to open it.
type Options struct {
	// URL is https://host/path, http://host/path if the host is this machine,
	// ssh://git@host/path, git@host:path, file:///path, or the path of a repository with
	// or without a working tree. It must not contain credentials.
	URL string
	// Branch is the base, "main".
	Branch string

	// Auth is sent with each request over HTTP; the zero value sends none.
	Auth wire.Auth
	// SSH has the keys for a repository over SSH. Other repositories ignore it.
	SSH wire.SSH
	// CABundle is a list of PEM certificates to trust instead of the system's.
	CABundle []byte
	// Transport replaces the HTTP transport, and with it CABundle. Nil is the standard
	// transport.
	Transport http.RoundTripper

	// MaxBytes is the maximum size of a download from a server without partial clone,
	// which sends all files of a commit. 0 is 256 MiB.
	MaxBytes int64
	// TempDir is the folder of such a download until Close; "" is the system's.
	TempDir string

	// Author is the author and committer of commits; the zero value is
	// repo.DefaultAuthor.
	Author repo.Author
	// Signer signs commits; nil does not sign.
	Signer *signing.Key

	// Keys reads the credentials and the signing key before the first request, in place of
	// Auth, SSH and Signer. If it fails, the next request calls it again. Nil uses Auth,
	// SSH and Signer.
	Keys func(context.Context) (Keys, error)

	// Pause waits before Commit repeats a failed push. try is 1 the first time. Nil waits
	// about a fifth of a second, and about twice as long each time.
	Pause func(ctx context.Context, try int) error
}

// Keys are the secrets of a repository. See Options.
type Keys struct {
	Auth   wire.Auth
	SSH    wire.SSH
	Signer *signing.Key
}

// Open checks the options and returns the repository. It does not connect to a server.
// The error lists all problems of the options.
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
	if o.Pause == nil {
		o.Pause = backoff.Retry
	}
	r := &Repository{base: branch, objects: pack.NewObjects(), author: o.Author, signer: o.Signer, pause: o.Pause}
	r.remote, err = o.remote(r)
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return r, nil
}

// remote returns the remote of a repository. With Keys, it connects before the first
// request.
func (o Options) remote(r *Repository) (remote, error) {
	if o.Keys == nil {
		return connect(o)
	}
	return &late{url: o.URL, connect: func(ctx context.Context) (remote, error) {
		keys, err := o.Keys(ctx)
		if err != nil {
			return nil, err
		}
		r.signer = keys.Signer
		o.Auth = keys.Auth
		o.SSH = keys.SSH
		opened, err := connect(o)
		if err == nil {
			r.remote = opened
		}
		return opened, err
	}}, repo.CheckURL(o.URL)
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
