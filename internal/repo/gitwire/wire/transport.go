package wire

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gitlatch/gitlatch/internal/clean/redact"
)

// Auth is a user name and a password of HTTP's basic scheme.
type Auth struct{ Username, Password string }

// Token returns the form in which GitHub, GitLab, Gitea and others accept an access
// token.
func Token(token string) Auth { return Auth{Username: "x-access-token", Password: token} }

// Limits limit the download from a server without partial clone, which sends all files of
// a commit.
type Limits struct {
	MaxBytes int64  // 0 is 256 MiB
	TempDir  string // folder of the download; "" is the system's
}

// OpenHTTP returns the repository at an address over HTTP.
func OpenHTTP(u *url.URL, auth Auth, transport http.RoundTripper, l Limits) *Server {
	return Serve(l, "tree:1", "tree:1", &smartHTTP{
		url:    strings.TrimSuffix(Bare(u), "/"),
		auth:   auth,
		client: &http.Client{Transport: redact.Transport(transport), CheckRedirect: Stay},
	})
}

// OpenSSH returns the repository at an address over SSH. It fetches a commit with all its
// trees: each request costs a connection, and a tree is small.
func OpenSSH(at Address, s SSH, l Limits) (*Server, error) {
	key, noKey := deployKey(s.Key)
	trust, noTrust := pinned(s, at)
	if err := errors.Join(noKey, noTrust); err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: AnswerWithin}
	return Serve(l, "blob:none", "tree:0", &overSSH{address: at, key: key, trust: trust, dial: dialer.DialContext}), nil
}

// Serve returns the repository behind a transport. For the filters roots and window, see
// Server.
func Serve(l Limits, roots, window string, t Transport) *Server {
	return &Server{
		transport: t,
		roots:     roots,
		window:    window,
		maxBytes:  cmp.Or(l.MaxBytes, 256<<20),
		tempDir:   cmp.Or(l.TempDir, os.TempDir()),
		has:       best,
	}
}

// Bare returns a URL without the parts that may be secret.
func Bare(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Trusting returns a transport that trusts the certificates in bundle, in PEM form,
// instead of the system's. Without a bundle it returns Patient.
func Trusting(bundle []byte) (*http.Transport, error) {
	if len(bundle) == 0 {
		return Patient(), nil
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, errors.New("contains no PEM certificate")
	}
	t := Patient().Clone()
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// AnswerWithin is how long a host may take to start its answer, and to send more of it. A
// push waits for the host's hooks. GitHub allows five seconds for each hook.
const AnswerWithin = 30 * time.Second

// Patient returns the standard transport with a timeout of AnswerWithin for the start of
// a response. All clients share it.
var Patient = sync.OnceValue(func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = AnswerWithin
	return t
})

// Stay makes a client return a redirect instead of following it. A redirected push would
// become a GET, and credentials might reach another host.
func Stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
