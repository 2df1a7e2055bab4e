package github_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo/github"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
)

// stalls answers with the start of a JSON text, and never ends.
type stalls struct{}

func (stalls) RoundTrip(r *http.Request) (*http.Response, error) {
	from, to := io.Pipe()
	go func() {
		_, _ = io.WriteString(to, "[")
		<-r.Context().Done()
		to.CloseWithError(r.Context().Err())
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: from, Request: r}, nil
}

func TestAnAPIThatStallsIsAnErrorWithinAMinute(t *testing.T) {
	t.Parallel()
	for name, credentials := range map[string]github.Credentials{
		"a list of pull requests": {Token: "github_pat_1"},
		"the token of an App":     {App: github.App{ID: 7, InstallationID: 70, PrivateKey: pemOf(key())}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				_, p, err := github.Open(github.Options{Repository: "octo/shop", Secret: known(credentials), Git: gitwire.Options{Branch: "main", Transport: stalls{}}})
				if err != nil {
					t.Fatal(err)
				}
				begun := time.Now()
				_, err = p.Find(t.Context(), "gitlatch/prod")
				if took := time.Since(begun); err == nil || took > time.Minute || strings.Contains(err.Error(), "github_pat") {
					t.Errorf("after %s: %v", took, err)
				}
			})
		})
	}
}
