package gitwire

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gitlatch/gitlatch/internal/await"
	"github.com/gitlatch/gitlatch/internal/discreet"
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
	Auth Auth
	// SSH is how a repository over SSH is reached; for others it is not looked at.
	SSH SSH
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
	// DefaultAuthor.
	Author Author
	// Signer signs commits; nil signs none.
	Signer Signer

	// Pause waits before a failed push is tried again, the first time with 1.
	// Nil waits a fifth of a second or so, and about twice as long each time.
	Pause func(ctx context.Context, try int) error
}

// Auth is a user name and a password, in HTTP's basic scheme.
type Auth struct{ Username, Password string }

// Token is the form in which GitHub, GitLab, Gitea and others take an access
// token.
func Token(token string) Auth { return Auth{Username: "x-access-token", Password: token} }

// A Signer signs commits. The same content at the same time is signed alike, so
// that a commit which is made again is the same commit.
type Signer interface {
	// Sign returns a detached signature, in the armour that git has for it. The
	// time is that of the commit.
	Sign(commit []byte, when time.Time) (string, error)
}

// Author is who makes a commit.
type Author struct{ Name, Email string }

// DefaultAuthor makes the commits where nobody else is named.
var DefaultAuthor = Author{Name: "gitlatch", Email: "gitlatch@users.noreply.github.com"}

// Open checks the options and returns the repository; over HTTP it sends
// nothing yet. All that is wrong with the options is in one error.
func Open(o Options) (*Repository, error) {
	branch, err := parseBranch(o.Branch)
	problems := []error{err}
	o.Author = cmp.Or(o.Author, DefaultAuthor)
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
		o.Pause = await.Again
	}
	return &Repository{remote: remote, base: branch, objects: newObjects(), author: o.Author, signer: o.Signer, pause: o.Pause}, nil
}

func connect(o Options) (remote, error) {
	if at, ok, err := parseSSH(o.URL); ok {
		return connectSSH(o, at, err)
	}
	if !strings.Contains(o.URL, "://") {
		return openLocal(o.URL)
	}
	// A URL that does not parse may hold a password: it is not repeated.
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return nil, errors.New("repository: the url cannot be parsed")
	case u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "file":
		return nil, fmt.Errorf("repository %s: %s is not spoken, use https or ssh", bare(u), u.Scheme)
	case u.User != nil:
		return nil, fmt.Errorf("repository %s: credentials do not belong in the url, configure them as its credentials", bare(u))
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("repository %s: the url must end with the path", bare(u))
	case u.Scheme == "file":
		return openLocal(filepath.FromSlash(u.Path))
	case u.Host == "":
		return nil, fmt.Errorf("repository %s: the url names no host", bare(u))
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return nil, fmt.Errorf("repository %s: http would show credentials and content on the way, use https", bare(u))
	}
	if o.Transport == nil {
		if o.Transport, err = Trusting(o.CABundle); err != nil {
			return nil, fmt.Errorf("ca bundle: %w", err)
		}
	}
	return serve(o, "tree:1", "tree:1", &smartHTTP{
		url:    strings.TrimSuffix(bare(u), "/"),
		auth:   o.Auth,
		client: &http.Client{Transport: discreet.Transport(o.Transport), CheckRedirect: keep},
	}), nil
}

// connectSSH takes all trees with a commit: a question costs a connection, and a
// tree little.
func connectSSH(o Options, at address, err error) (remote, error) {
	problems := []error{err}
	key, err := deployKey(o.SSH.Key)
	problems = append(problems, err)
	trust, err := pinned(o.SSH, at)
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: AnswerWithin}
	return serve(o, "blob:none", "tree:0", &overSSH{address: at, key: key, trust: trust, dial: dialer.DialContext}), nil
}

func serve(o Options, roots, window string, w wire) *server {
	return &server{
		wire:     w,
		roots:    roots,
		window:   window,
		maxBytes: cmp.Or(o.MaxBytes, 256<<20),
		tempDir:  cmp.Or(o.TempDir, os.TempDir()),
		has:      best,
	}
}

// bare returns a URL without what may be secret in it.
func bare(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Trusting returns Patient's transport, which trusts certificates in PEM form
// instead of the system's, if there are any.
func Trusting(bundle []byte) (*http.Transport, error) {
	if len(bundle) == 0 {
		return Patient(), nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, errors.New("holds no PEM certificate")
	}
	t := Patient().Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// AnswerWithin is how long a host may take to begin its answer, and to get on with
// it. A push waits for the host's hooks, of which GitHub gives each five seconds.
const AnswerWithin = 30 * time.Second

// Patient returns the standard transport, which all share, but for a host that
// accepts and never answers: of that one it says so, in its time.
var Patient = sync.OnceValue(func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = AnswerWithin
	return t
})

// keep makes the client return a redirect as it is: followed, a push would turn
// into a GET, and credentials might reach another host.
func keep(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
