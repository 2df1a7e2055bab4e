package gitwire_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A cold process finds the tip, learns what came since it last agreed, reads its
// directory and commits to it: five requests, wherever the branch is.
func TestAColdCrossingIsFiveRequests(t *testing.T) {
	t.Parallel()
	s := gitserver.Start(t)
	o := s.Create(t, "shop", nil)
	o.GitInput(t, largeRepository(2000), "fast-import", "--quiet")
	agreed := o.Push(t, "main", site(1), "begin")
	const upload, receive = "POST git-upload-pack", "POST git-receive-pack"
	for _, c := range []struct {
		name  string
		moved bool
		want  []string
	}{
		{"where nobody pushed", false, []string{upload, upload, upload, upload, receive}},
		{"where others pushed", true, []string{upload, upload, upload, upload, receive}},
	} {
		if c.moved {
			for n := range 3 {
				o.Push(t, "main", map[string]string{"dir003/file7.yaml": fmt.Sprint(n)}, "work")
			}
		}
		s.Reset()
		r := open(t, gitwire.Options{URL: s.URL("shop")})
		tip, _, err := r.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.moved {
			if window, err := r.Between(t.Context(), agreed, tip); err != nil || !window.Descends || len(window.Commits) != 3 {
				t.Fatalf("%s: the window has %d commits, %v", c.name, len(window.Commits), err)
			}
		}
		path := repo.Within("checkpoints/prod", "site.yaml", "*/checkpoint.yaml", "*/kustomization.yaml")
		found, err := r.Read(t.Context(), tip, nil, path, "gitlatch.yaml")
		if err != nil || len(found[path].Files) != 3 || found["gitlatch.yaml"].ID == "" {
			t.Fatalf("%s: read %v, %v", c.name, found, err)
		}
		if agreed, err = r.Commit(t.Context(), edit(tip, "checkpoints/prod/ns000/checkpoint.yaml", c.name)); err != nil {
			t.Fatal(err)
		}
		if got := asked(s); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if bytes := wire(s); bytes > 5000 {
			t.Errorf("%s: %d bytes, want at most 5,000", c.name, bytes)
		}
	}
}

// What a directory holds comes at once, unless that is too much: then only what is
// to be read of it does.
func TestADirectoryWithMoreThanFitsIsWalked(t *testing.T) {
	if testing.Short() {
		t.Skip("a file of 33 MiB is left out: run without -short")
	}
	t.Parallel()
	files := site(3)
	files["checkpoints/prod/film"] = noise(33 << 20)
	s, o := shop(t, files)
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	path := repo.Within("checkpoints/prod", "site.yaml", "*/checkpoint.yaml")
	found, err := r.Read(t.Context(), o.Tip("main"), nil, path)
	if err != nil || len(found[path].Files) != 4 {
		t.Fatalf("read %d files, want 4: %v", len(found[path].Files), err)
	}
}

// A server may hand out a commit alone, and refuse it with its root.
func TestAWindowIsReadWithoutTreesWhereTheServerWantsSo(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(1))
	base := o.Tip("main")
	o.Push(t, "main", map[string]string{"a": "1"}, "work")
	s.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/git-upload-pack") && strings.Contains(readAll(r), "filter tree:1") {
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			const words = "ERR filter 'tree' not supported (maximum depth: 0, but got: 1)"
			fmt.Fprintf(w, "%04x%s", len(words)+4, words)
			return
		}
		next.ServeHTTP(w, r)
	})
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	if window, err := r.Between(t.Context(), base, o.Tip("main")); err != nil || len(window.Commits) != 1 {
		t.Errorf("the window has %d commits, %v", len(window.Commits), err)
	}
}
