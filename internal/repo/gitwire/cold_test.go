package gitwire_test

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A new process reads the tip, the commits since the agreed one and its directory, and
// commits to it. That takes four requests, for any position of the branch. It recalls
// the tree of the sites that an earlier process read. If git has another tree by now,
// it requests that tree.
func TestALevelChangeInANewProcessIsFourRequests(t *testing.T) {
	t.Parallel()
	s := gitserver.Start(t)
	o := s.Create(t, "shop", nil)
	o.GitInput(t, largeRepository(2000), "fast-import", "--quiet")
	agreed := o.Push(t, "main", site(1), "begin")
	const upload, receive = "POST git-upload-pack", "POST git-receive-pack"
	four, five := []string{upload, upload, upload, receive}, []string{upload, upload, upload, upload, receive}
	saved := o.Raw(t, "tree", agreed+":checkpoints")
	for _, c := range []struct {
		name   string
		pushed string // the path of another's push; "" without one
		recall func([]byte) []byte
		want   []string
	}{
		{"where nobody pushed", "", slices.Clone[[]byte], four},
		{"where others pushed", "dir003/file7.yaml", slices.Clone[[]byte], four},
		{"where another site pushed", "checkpoints/other/site.yaml", slices.Clone[[]byte], five},
		{"without the state", "dir003/file7.yaml", func([]byte) []byte { return nil }, five},
		{"with a part of the tree", "dir003/file7.yaml", func(tree []byte) []byte { return tree[:len(tree)-1] }, five},
		{"with a tree that git never had", "dir003/file7.yaml", func(tree []byte) []byte { return bytes.Replace(tree, []byte("prod"), []byte("prob"), 1) }, five},
	} {
		for n := range 3 {
			if c.pushed != "" {
				o.Push(t, "main", map[string]string{c.pushed: fmt.Sprint(c.name, n)}, "work")
			}
		}
		users := o.Tip("main")
		s.Reset()
		r := open(t, gitwire.Options{URL: s.URL("shop")})
		r.Recall(c.recall(saved))
		tip, _, err := r.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.pushed != "" {
			if window, err := r.Between(t.Context(), agreed, tip); err != nil || !window.Descends || len(window.Commits) != 3 {
				t.Fatalf("%s: the window has %d commits, %v", c.name, len(window.Commits), err)
			}
		}
		path := repo.Within("checkpoints/prod", "site.yaml", "*.levels.yaml")
		found, err := r.Read(t.Context(), tip, nil, path, "gitlatch.yaml")
		if err != nil || len(found[path].Files) != 2 || found["gitlatch.yaml"].ID == "" {
			t.Fatalf("%s: read %v, %v", c.name, found, err)
		}
		const record = "checkpoints/prod/ns000.levels.yaml"
		if agreed, err = r.Commit(t.Context(), edit(tip, record, c.name)); err != nil {
			t.Fatal(err)
		}
		if got := asked(s); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if bytes := traffic(s); bytes > 5000 {
			t.Errorf("%s: %d bytes, want at most 5,000", c.name, bytes)
		}
		if changed := o.Git(t, "diff", "--name-only", users, "main"); changed != record || o.Show(t, "main", record) != c.name {
			t.Errorf("%s: the commit changes %q", c.name, changed)
		}
		saved = r.Tree(agreed, "checkpoints")
		if want := o.Raw(t, "tree", agreed+":checkpoints"); !bytes.Equal(saved, want) {
			t.Errorf("%s: the tree to save is %q, want %q", c.name, saved, want)
		}
	}
}

// A tree is saved only if it is in memory and small: the state is written with every tick.
func TestATreeToSaveIsSmallAndAtHand(t *testing.T) {
	t.Parallel()
	files := site(1)
	for n := range 20 {
		files[fmt.Sprintf("checkpoints/site-%02d/site.yaml", n)] = "site\n"
	}
	s, o := shop(t, files)
	sites := func(want bool) {
		t.Helper()
		tip := o.Tip("main")
		r := open(t, gitwire.Options{URL: s.URL("shop")})
		if tree := r.Tree(tip, "checkpoints"); tree != nil {
			t.Errorf("before a read the tree is %q, want none", tree)
		}
		if _, err := r.Read(t.Context(), tip, nil, "checkpoints/prod"); err != nil {
			t.Fatal(err)
		}
		s.Reset()
		for _, c := range []struct {
			commit, path string
			want         bool
		}{{tip, "checkpoints", want}, {tip, "checkpoints/site-00", false}, {tip, "absent", false}, {tip, "gitlatch.yaml", false}, {strings.Repeat("1", 40), "checkpoints", false}, {"", "checkpoints", false}} {
			if tree := r.Tree(c.commit, c.path); (tree != nil) != c.want {
				t.Errorf("the tree at %s of %q is %q", c.path, c.commit, tree)
			}
		}
		if got := asked(s); len(got) != 0 {
			t.Errorf("it took %v", got)
		}
	}
	sites(true)
	more := map[string]string{}
	for n := range 10 {
		more[fmt.Sprintf("checkpoints/site-%02d/site.yaml", 20+n)] = "site\n"
	}
	o.Push(t, "main", more, "more sites")
	sites(false)
}

// A server may send a commit alone, and refuse to send it with its root tree.
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

// largeRepository returns a stream for fast-import: directories of 100 files of 1 KiB.
func largeRepository(files int) string {
	var stream strings.Builder
	fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A Person <person@example.com> %d +0000\ndata 5\nbegin\n", gitserver.Epoch.Unix())
	content := noise(1024 * files)
	for n := range files {
		fmt.Fprintf(&stream, "M 100644 inline dir%03d/file%d.yaml\ndata 1024\n%s\n", n/100, n%100, content[1024*n:1024*(n+1)])
	}
	return stream.String()
}

func traffic(s *gitserver.Server) (bytes int64) {
	for _, r := range s.Requests() {
		bytes += r.In + r.Out
	}
	return bytes
}
