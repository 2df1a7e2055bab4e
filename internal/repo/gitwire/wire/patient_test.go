package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

func TestAHostThatNeverAnswersIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := Patient().Clone()
		transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				for buf := make([]byte, 1000); ; {
					if _, err := theirs.Read(buf); err != nil {
						return
					}
				}
			}()
			return ours, nil
		}
		h := &smartHTTP{url: "http://silent.example/site.git", client: &http.Client{Transport: transport}}
		body, err := h.Get(t.Context(), uploadPack)
		if err == nil {
			body.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "timeout awaiting response headers") {
			t.Errorf("error %v", err)
		}
		transport.CloseIdleConnections()
	})
}

// A server that stalls in the middle of its answer is an error within a minute,
// regardless of the bytes before, and even if it sends a useless byte from time to
// time. The client waits for a server that makes progress.
func TestAServerThatStallsIsAnErrorWithinAMinute(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-result\r\nContent-Length: 1000000\r\n\r\n"
	ref := "003d" + strings.Repeat("a", 40) + " refs/heads/main\n" // twenty of them are more than slowest
	for _, c := range []struct {
		name   string
		begin  string // sent at once
		drip   string // sent every ten seconds
		stalls bool
	}{
		{"silent", "", "", true},
		{"a byte of the head each ten seconds", "HTTP/1.1 200 OK\r\n", "X", true},
		{"silent after the head", head, "", true},
		{"a byte of the answer each ten seconds", head, "0", true},
		{"a line each ten seconds", head, ref, true},
		{"twenty lines each ten seconds, for an hour", head, strings.Repeat(ref, 20), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				transport := Patient().Clone()
				transport.DisableKeepAlives = true
				transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						defer theirs.Close()
						_, _ = theirs.Read(make([]byte, 1000))
						go func() { _, _ = io.Copy(io.Discard, theirs) }()
						_, _ = io.WriteString(theirs, c.begin)
						for range 360 {
							time.Sleep(10 * time.Second)
							if _, err := io.WriteString(theirs, c.drip); err != nil {
								return
							}
						}
					}()
					return ours, nil
				}
				s := OpenHTTP(&url.URL{Scheme: "https", Host: "stalls.example", Path: "/site.git"}, Auth{}, plain{transport}, Limits{})
				begun := time.Now()
				_, err := s.Heads(t.Context(), []plumbing.ReferenceName{"refs/heads/main"})
				took := time.Since(begun)
				if err == nil || (took <= time.Minute) != c.stalls {
					t.Errorf("after %s: %v", took, err)
				}
				time.Sleep(2 * time.Hour) // until the server ends
			})
		})
	}
}

// plain sends https requests without TLS.
type plain struct{ http.RoundTripper }

func (p plain) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme = "http"
	return p.RoundTripper.RoundTrip(r)
}

// The client watches an SSH server for the full session, in every phase.
func TestAServerOfSSHThatStallsIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	for name, drip := range map[string]string{"silent": "", "a byte each ten seconds": "\x00"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := &overSSH{
					address: Address{"git", "silent.example", "22", "/site.git", "ssh://git@silent.example/site.git"},
					dial: func(context.Context, string, string) (net.Conn, error) {
						ours, theirs := net.Pipe()
						go func() {
							go func() { _, _ = io.Copy(io.Discard, theirs) }()
							if _, err := theirs.Write([]byte("SSH-2.0-silent\r\n")); err != nil {
								return
							}
							for drip != "" {
								time.Sleep(10 * time.Second)
								if _, err := io.WriteString(theirs, drip); err != nil {
									return
								}
							}
						}()
						return ours, nil
					},
				}
				begun := time.Now()
				_, err := o.Post(t.Context(), uploadPack, &Request{}, true)
				if err == nil || !hopeless(err) || !errors.Is(err, errStalled) {
					t.Errorf("error %v", err)
				}
				if took := time.Since(begun); took != AnswerWithin {
					t.Errorf("took %s", took)
				}
				time.Sleep(time.Minute) // until the server notices
			})
		})
	}
}
