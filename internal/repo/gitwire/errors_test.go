package gitwire_test

import (
	"bytes"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

var quiet = log.New(io.Discard, "", 0)

// noise returns bytes that do not compress.
func noise(size int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return string(b)
}

// readAll reads a request's body and restores it.
func readAll(r *http.Request) string {
	b, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(b))
	return string(b)
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-t0k3n"
	for _, c := range []struct {
		name    string
		prepare func(*testing.T, *gitserver.Server, *gitserver.Origin, *gitwire.Options)
		want    []string
	}{
		{"no credentials", func(_ *testing.T, s *gitserver.Server, _ *gitserver.Origin, o *gitwire.Options) {
			s.RequireAuth("x-access-token", "another")
			o.Auth = wire.Auth{}
		}, []string{"401", "credentials are missing or wrong"}},
		{"wrong credentials", func(_ *testing.T, s *gitserver.Server, _ *gitserver.Origin, _ *gitwire.Options) {
			s.RequireAuth("x-access-token", "another")
		}, []string{"401", "credentials are missing or wrong"}},
		{"forbidden", func(_ *testing.T, s *gitserver.Server, _ *gitserver.Origin, _ *gitwire.Options) {
			s.Intercept(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				http.Error(w, "this address is not on the list", http.StatusForbidden)
			})
		}, []string{"403", "credentials do not allow it", "this address is not on the list"}},
		{"no such repository", func(_ *testing.T, s *gitserver.Server, _ *gitserver.Origin, o *gitwire.Options) {
			o.URL = s.URL("absent")
		}, []string{"404", "the repository does not exist", "/absent.git"}},
		{"a web page", func(_ *testing.T, s *gitserver.Server, _ *gitserver.Origin, _ *gitwire.Options) {
			s.Intercept(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				io.WriteString(w, "<html>Sign in</html>")
			})
		}, []string{"text/html", "Check the URL of the repository"}},
		{"a repository that moved", func(_ *testing.T, s *gitserver.Server, _ *gitserver.Origin, _ *gitwire.Options) {
			s.Intercept(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
				http.Redirect(w, r, "https://git.example.com/new.git/info/refs?service=git-upload-pack", http.StatusMovedPermanently)
			})
		}, []string{"redirects to https://git.example.com/new.git. Use this URL"}},
		{"no answer", func(t *testing.T, _ *gitserver.Server, _ *gitserver.Origin, o *gitwire.Options) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			l.Close()
			o.URL = "http://" + l.Addr().String() + "/shop.git"
		}, []string{"connection refused"}},
		{"no such host", func(_ *testing.T, _ *gitserver.Server, _ *gitserver.Origin, o *gitwire.Options) {
			o.URL = "https://absent.invalid/shop.git"
			o.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				return nil, &net.DNSError{Err: "no such host", Name: r.URL.Host}
			})
		}, []string{"no such host", "absent.invalid"}},
		{"SHA-256", func(t *testing.T, s *gitserver.Server, o *gitserver.Origin, options *gitwire.Options) {
			sha256(t, s.Dir("modern"))
			options.URL = s.URL("modern")
		}, []string{"SHA-256"}},
		{"SHA-256 without version 2", func(t *testing.T, s *gitserver.Server, o *gitserver.Origin, options *gitwire.Options) {
			s.OnlyV0(true)
			sha256(t, s.Dir("modern"))
			options.URL = s.URL("modern")
		}, []string{"SHA-256"}},
		{"an answer cut short", func(_ *testing.T, s *gitserver.Server, _ *gitserver.Origin, _ *gitwire.Options) {
			s.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if r.Method == http.MethodGet {
					next.ServeHTTP(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				io.WriteString(w, "003d6885525a24")
			})
		}, []string{"unexpected EOF"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, o := shop(t, site(1))
			options := gitwire.Options{URL: s.URL("shop"), Auth: wire.Token(secret)}
			c.prepare(t, s, o, &options)
			r := open(t, options)
			tip, _, err := r.Heads(t.Context())
			if err == nil {
				t.Fatalf("tip is %s, want an error", tip)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q, want %q in it", err, want)
				}
			}
			_, readErr := r.Read(t.Context(), strings.Repeat("1", 40), nil, "a")
			for _, err := range []error{err, readErr} {
				if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "\n") {
					t.Errorf("the error is %q: on more lines than one, or with the password", err)
				}
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func sha256(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	o := &gitserver.Origin{Dir: dir}
	o.Git(t, "init", "--quiet", "--bare", "--initial-branch=main", "--object-format=sha256")
	o.Push(t, "main", map[string]string{"a": "1"}, "begin")
}

func TestCredentialsAreSent(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(1))
	s.RequireAuth("x-access-token", "right")
	r := open(t, gitwire.Options{URL: s.URL("shop"), Auth: wire.Token("right")})
	if _, err := r.Commit(t.Context(), edit(o.Tip("main"), "checkpoints/prod/site.yaml", "changed\n")); err != nil {
		t.Error(err)
	}
	for _, request := range s.Requests() {
		if request.Status != http.StatusOK {
			t.Errorf("%s %s was answered %d: credentials go with the first request", request.Method, request.Path, request.Status)
		}
	}
}

func TestOptionsAreCheckedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	modern := filepath.Join(dir, "modern")
	sha256(t, modern)
	for _, c := range []struct {
		name    string
		options gitwire.Options
		want    []string
	}{
		{"no branch", gitwire.Options{URL: "https://h/r"}, []string{`branch ""`}},
		{"a full ref", gitwire.Options{URL: "https://h/r", Branch: "refs/heads/main"}, []string{`branch "refs/heads/main"`, "such as main"}},
		{"a branch that git would not take", gitwire.Options{URL: "https://h/r", Branch: "a..b"}, []string{`branch "a..b"`}},
		{"credentials in the url", gitwire.Options{URL: "https://me:hunter2@host/r.git", Branch: "main"}, []string{"must not contain a user or a password"}},
		{"a token in the url", gitwire.Options{URL: "https://hunter2@host/r.git", Branch: "main"}, []string{"must not contain a user or a password"}},
		{"a token in the query", gitwire.Options{URL: "https://host/r.git?private_token=hunter2", Branch: "main"}, []string{"must not have a query"}},
		{"a url that does not parse", gitwire.Options{URL: "https://me:hunter2@host:port/r", Branch: "main"}, []string{"must be a complete URL"}},
		{"plain http", gitwire.Options{URL: "http://host/r.git", Branch: "main"}, []string{"Use https"}},
		{"git's own protocol", gitwire.Options{URL: "git://host/r.git", Branch: "main"}, []string{"git:// does not authenticate the server"}},
		{"no host", gitwire.Options{URL: "https:///r.git", Branch: "main"}, []string{"must be a complete URL"}},
		{"an empty url", gitwire.Options{Branch: "main"}, []string{"must be the https or ssh URL"}},
		{"no repository at the path", gitwire.Options{URL: dir, Branch: "main"}, []string{"no git repository", dir}},
		{"SHA-256 on disk", gitwire.Options{URL: "file://" + modern, Branch: "main"}, []string{"SHA-256", modern}},
		{"an author that breaks a commit", gitwire.Options{URL: "https://h/r", Branch: "main", Author: repo.Author{Name: "a\nb", Email: "c"}}, []string{"author"}},
		{"all at once", gitwire.Options{URL: "ftp://h/r", MaxBytes: -1}, []string{"branch", "max bytes", "scheme \"ftp\""}},
	} {
		_, err := gitwire.Open(c.options)
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error is %q, want %q in it", c.name, err, want)
			}
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows the password: %v", c.name, err)
		}
	}
}

func TestACommitNeedsATimeAndAParent(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(1))
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	timeless := edit(o.Tip("main"), "a", "1")
	timeless.When = timeless.When.AddDate(-100, 0, 0)
	for name, c := range map[string]repo.Commit{"no time": timeless, "no parent": edit("", "a", "1")} {
		if id, err := r.Commit(t.Context(), c); err == nil || errors.Is(err, repo.ErrUnknown) {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
}
