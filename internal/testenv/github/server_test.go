package github

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/openapi"
)

// The stand-in must refuse every request that the description refuses.
func TestTheContractRefusesWhatIsNotDescribed(t *testing.T) {
	t.Parallel()
	c := openapi.Read(t, "github")
	for _, x := range []struct{ pattern, path, body, want string }{
		{openPull, "/repos/octo/shop/pulls", `{"title": "t", "head": "h", "base": "b"}`, ""},
		{openPull, "/repos/octo/shop/pulls", `{"title": "t", "head": "h"}`, "base"},
		{openPull, "/repos/octo/shop/pulls", `{"title": 5, "head": "h", "base": "b"}`, "title"},
		{editPull, "/repos/octo/shop/pulls/1", `{"state": "merged"}`, "state"},
		{editPull, "/repos/octo/shop/pulls/one", `{"state": "closed"}`, "pull_number"},
		{listPulls, "/repos/octo/shop/pulls?state=everything", "", "state"},
		{listPulls, "/repos/octo/shop/pulls?per_page=many", "", "per_page"},
		{listPulls, "/repos/octo/shop/pulls?branch=main", "", "the query has branch"},
		{comment, "/repos/octo/shop/issues/1/comments", `{}`, "body"},
		{"GET /user", "/user", "", "not described"},
	} {
		err := c.Request(x.pattern, ask(x.pattern, x.path, x.body))
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s %s: %v, want %q", x.path, x.body, err, x.want)
		}
	}
}

func TestTheContractRefusesTheStandInsOwnNonsense(t *testing.T) {
	t.Parallel()
	c := openapi.Read(t, "github")
	r := ask(getPull, "/repos/octo/shop/pulls/1", "")
	for _, x := range []struct {
		status int
		says   any
		want   string
	}{
		{http.StatusOK, m{"number": 1}, ""},
		{http.StatusOK, m{"number": "one"}, "number"},
		{http.StatusOK, m{"state": "merged"}, "state"},
		{http.StatusOK, m{"merged_at": "yesterday"}, "merged_at"},
		{http.StatusOK, m{"head": m{"sha": 5}}, "sha"},
		{http.StatusTeapot, m{}, "418 is not described"},
	} {
		body, err := c.Answer(getPull, r, x.status, x.says)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%d %v: %v, want %q", x.status, x.says, err, x.want)
		}
		if err == nil && !json.Valid(body) {
			t.Errorf("the answer is %s", body)
		}
	}
}

// ask is a request as the router hands it on.
func ask(pattern, path, body string) (r *http.Request) {
	method, template, _ := strings.Cut(pattern, " ")
	mux := http.NewServeMux()
	mux.HandleFunc(method+" "+template, func(_ http.ResponseWriter, got *http.Request) { r = got })
	q := httptest.NewRequest(method, path, bytes.NewReader([]byte(body)))
	if body != "" {
		q.Header.Set("Content-Type", "application/json")
	}
	mux.ServeHTTP(httptest.NewRecorder(), q)
	return r
}
