package github_test

import (
	"errors"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/github"
	standin "github.com/gitlatch/gitlatch/internal/testenv/github"
)

// A reader's token gives no write access to anyone who obtains it.
func TestAReadersTokenOnlyReads(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1"})
	r, p, err := github.Open(github.Options{
		Repository: standin.Owner + "/shop", APIURL: s.APIURL(), Secret: known(app(s)), ReadOnly: true, Git: atOnce(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	tip, _, err := r.Heads(t.Context())
	if err != nil || tip != o.Tip("main") {
		t.Fatalf("tip %s, %v", tip, err)
	}
	if found, err := p.Find(t.Context(), "gitlatch/prod"); err != nil || found != nil {
		t.Errorf("proposals: %v, %v", found, err)
	}
	var refused *repo.RefusedError
	if _, err := r.Commit(t.Context(), edit(tip, "2")); !errors.As(err, &refused) {
		t.Errorf("a push: %v", err)
	}
}
