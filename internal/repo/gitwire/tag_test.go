package gitwire_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

func TestATagNamesACommitForGood(t *testing.T) {
	t.Parallel()
	for _, over := range []string{"http", "a folder", "protocol v0"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			server := gitserver.Start(t)
			server.OnlyV0(over == "protocol v0")
			o := server.Create(t, "site", map[string]string{"README.md": "hi"})
			first, second := o.Tip("main"), o.Push(t, "main", map[string]string{"README.md": "hello"}, "hello")
			url := server.URL("site")
			if over == "a folder" {
				url = o.Dir
			}
			r, err := gitwire.Open(gitwire.Options{URL: url, Branch: "main"})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var tagger repo.Tagger = r
			for range 2 { // the second call has no effect
				if err := tagger.Tag(t.Context(), "drill/2026-11-20", first); err != nil {
					t.Fatal(err)
				}
			}
			if err := tagger.Tag(t.Context(), "drill/2026-11-20", second); !errors.Is(err, repo.ErrTagged) || !strings.Contains(err.Error(), "drill/2026-11-20") {
				t.Errorf("a name that another has: %v", err)
			}
			if err := tagger.Tag(t.Context(), "drill/later", second); err != nil {
				t.Error(err)
			}
			if err := tagger.Tag(t.Context(), "drill/..", second); err == nil {
				t.Error("takes a name that is none")
			}
			want := first + " refs/tags/drill/2026-11-20\n" + second + " refs/tags/drill/later"
			if got := strings.TrimSpace(o.Git(t, "for-each-ref", "--format=%(objectname) %(refname)", "refs/tags")); got != want {
				t.Errorf("the repository has\n%s\nwant\n%s", got, want)
			}
			o.Check(t)
			if head, _, err := r.Heads(t.Context()); err != nil || head != second {
				t.Errorf("the branch is at %s, %v", head, err)
			}
		})
	}
}
