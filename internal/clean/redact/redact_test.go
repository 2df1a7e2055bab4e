package redact_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/clean/redact"
)

// An error never contains a secret that a server repeats from the request, at any place
// in the answer. It contains the other words.
func TestAnErrorRepeatsNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	for name, c := range map[string]struct {
		shows  func(*http.Request)
		status int
		answer func(*http.Request) string
		want   string
	}{
		"a token": {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }, 500,
			func(r *http.Request) string { return "sent: " + r.Header.Get("Authorization") + "." }, "sent: Bearer (hidden)."},
		"a password": {func(r *http.Request) { r.SetBasicAuth("me", secret) }, 502,
			func(r *http.Request) string {
				_, password, _ := r.BasicAuth()
				return r.Header.Get("Authorization") + " is " + password
			}, "Basic (hidden) is (hidden)"},
		"a session": {func(r *http.Request) { r.Header.Set("X-Amz-Security-Token", secret) }, 400,
			func(*http.Request) string { return "x-amz-security-token:" + secret + "\nhost:aws" }, "x-amz-security-token:(hidden)\nhost:aws"},
		"cut within it": {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }, 500,
			func(*http.Request) string { return strings.Repeat("-", 64<<10-4) + secret }, strings.Repeat("-", 64<<10-len(secret))},
		"an answer as asked for": {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }, 200,
			func(*http.Request) string { return secret }, secret},
		"nothing to hide": {func(*http.Request) {}, 500, func(*http.Request) string { return "down" }, "down"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.answer(r))
			}))
			defer server.Close()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.shows(r)
			answer, err := (&http.Client{Transport: redact.Transport(http.DefaultTransport)}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if got, err := io.ReadAll(answer.Body); err != nil || string(got) != c.want {
				t.Errorf("it says %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
