package gitwire_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// shop starts a server with one repository.
func shop(t testing.TB, files map[string]string) (*gitserver.Server, *gitserver.Origin) {
	s := gitserver.Start(t)
	return s, s.Create(t, "shop", files)
}

func site(namespaces int) map[string]string {
	files := map[string]string{"checkpoints/prod/site.yaml": "site\n", "gitlatch.yaml": "policy\n"}
	for n := range namespaces {
		files[fmt.Sprintf("checkpoints/prod/ns%03d.levels.yaml", n)] = fmt.Sprintf("record %d\n", n)
	}
	return files
}

func edit(parent, path, content string) repo.Commit {
	return repo.Commit{
		Parent:  parent,
		Files:   map[string][]byte{path: []byte(content)},
		Message: "latch(prod): one level\n",
		When:    time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC),
	}
}

func asked(s *gitserver.Server) []string {
	var services []string
	for _, r := range s.Requests() {
		services = append(services, r.Method+" "+r.Service())
	}
	return services
}

func TestAQuietLookIsOneRequest(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(1))
	var others strings.Builder
	tip := o.Tip("main")
	for n := range 1000 {
		fmt.Fprintf(&others, "create refs/pull/%d/head %s\n", n, tip)
	}
	o.GitInput(t, others.String(), "update-ref", "--stdin")
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	for range 3 {
		s.Reset()
		if _, _, err := r.Heads(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := s.Requests()
		if len(got) != 1 || got[0].Method != "POST" || got[0].Protocol != "version=2" {
			t.Fatalf("requests are %+v, want one ls-refs", got)
		}
		if bytes := got[0].In + got[0].Out; bytes > 300 {
			t.Errorf("a look took %d bytes beside 1,000 other refs, want under 300", bytes)
		}
	}
}

func TestAServerWithoutVersion2IsAskedOnce(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(1))
	s.OnlyV0(true)
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	for n, want := range [][]string{{"POST git-upload-pack", "GET info/refs"}, {"GET info/refs"}, {"GET info/refs"}} {
		s.Reset()
		if tip, _, err := r.Heads(t.Context()); err != nil || tip != o.Tip("main") {
			t.Fatalf("tip is %s, %v", tip, err)
		}
		if got := asked(s); !slices.Equal(got, want) {
			t.Errorf("look %d: requests are %v, want %v", n, got, want)
		}
	}
}

// A cold read of a site takes a request for the commit, one for each level of folders
// above the site and one for the site, for any number of namespaces. The following
// commit fetches nothing again.
func TestAReadIsARequestALevel(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(100))
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	tip := o.Tip("main")
	found, err := r.Read(t.Context(), tip, nil, "checkpoints/prod", "gitlatch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := len(found["checkpoints/prod"].Files); got != 101 {
		t.Fatalf("read %d files, want 101", got)
	}
	if got := asked(s); len(got) != 3 {
		t.Errorf("a cold read took %v, want 3: commit, checkpoints and the policy, prod", got)
	}

	s.Reset()
	next, err := r.Commit(t.Context(), edit(tip, "checkpoints/prod/ns042.levels.yaml", "changed\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(t.Context(), next, nil, "checkpoints/prod"); err != nil {
		t.Fatal(err)
	}
	if got := asked(s); !slices.Equal(got, []string{"POST git-receive-pack"}) {
		t.Errorf("the commit and a read of it took %v, want one push", got)
	}

	// A read fetches only the new objects of another writer's change.
	s.Reset()
	rival := o.Push(t, "main", map[string]string{"checkpoints/prod/ns007.levels.yaml": "rival\n"}, "rival")
	if _, err := r.Read(t.Context(), rival, nil, "checkpoints/prod"); err != nil {
		t.Fatal(err)
	}
	var bytes int64
	for _, request := range s.Requests() {
		bytes += request.In + request.Out
	}
	if bytes > 12_000 {
		t.Errorf("the change of one of 101 files took %d bytes", bytes)
	}
}

// Some servers offer partial clone and then refuse single objects.
func TestAServerThatRefusesSingleObjectsSendsTheWholeCommit(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(3))
	s.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/git-upload-pack") && r.ContentLength > 0 {
			body := new(strings.Builder)
			if _, err := fmt.Fprint(body, readAll(r)); err == nil && strings.Contains(body.String(), "filter tree:0") {
				w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
				const words = "ERR upload-pack: not our ref"
				fmt.Fprintf(w, "%04x%s", len(words)+4, words)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	found, err := r.Read(t.Context(), o.Tip("main"), nil, "checkpoints/prod")
	if err != nil || len(found["checkpoints/prod"].Files) != 4 {
		t.Fatalf("read: %d files, %v", len(found["checkpoints/prod"].Files), err)
	}
	if _, err := r.Commit(t.Context(), edit(o.Tip("main"), "checkpoints/prod/site.yaml", "changed\n")); err != nil {
		t.Errorf("commit: %v", err)
	}
}

func TestAWholeCommitIsBoundedAndCleanedUp(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"checkpoints/prod/site.yaml": "site\n", "large": noise(3 << 20)})
	gitserver.WithoutFilter(t, o)
	tip := o.Tip("main")

	dir := t.TempDir()
	small, err := gitwire.Open(gitwire.Options{URL: s.URL("shop"), Branch: "main", TempDir: dir, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := small.Read(t.Context(), tip, nil, "checkpoints"); err == nil || !strings.Contains(err.Error(), "more than 1 MiB") {
		t.Errorf("read over the bound: %v", err)
	}
	if left := entries(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}

	large, err := gitwire.Open(gitwire.Options{URL: s.URL("shop"), Branch: "main", TempDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		found, err := large.Read(t.Context(), tip, nil, "checkpoints")
		if err != nil || len(found["checkpoints"].Files) != 1 {
			t.Fatalf("read: %v, %v", found, err)
		}
		if left := entries(t, dir); len(left) != 1 {
			t.Errorf("after read %d there are %v, want the last commit only", n, left)
		}
		tip = o.Push(t, "main", map[string]string{"rival": fmt.Sprint(n)}, "rival")
	}
	if err := large.Close(); err != nil {
		t.Error(err)
	}
	if left := entries(t, dir); len(left) != 0 {
		t.Errorf("left behind after Close: %v", left)
	}
}

func TestCertificatesOfABundleAreTrusted(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(1))
	secure := httptest.NewTLSServer(s)
	t.Cleanup(secure.Close)
	secure.Config.ErrorLog = quiet
	url := secure.URL + "/shop.git"

	if tip, _, err := open(t, gitwire.Options{URL: url}).Heads(t.Context()); err == nil {
		t.Errorf("an unknown certificate was trusted: %s", tip)
	}
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if tip, _, err := open(t, gitwire.Options{URL: url, CABundle: bundle}).Heads(t.Context()); err != nil || tip != o.Tip("main") {
		t.Errorf("tip is %s, %v", tip, err)
	}
	if _, err := gitwire.Open(gitwire.Options{URL: url, Branch: "main", CABundle: []byte("nonsense")}); err == nil {
		t.Error("a bundle without certificates was taken")
	}
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range found {
		names = append(names, e.Name())
	}
	return names
}

func TestHeadsOfSeveralBranchesAreOneRequest(t *testing.T) {
	t.Parallel()
	for _, v0 := range []bool{false, true} {
		s := gitserver.Start(t)
		s.OnlyV0(v0)
		o := s.Create(t, "shop", map[string]string{"a": "1"})
		want := o.Push(t, "gitlatch/prod", map[string]string{"a": "2"}, "proposed")
		r := open(t, gitwire.Options{URL: s.URL("shop")})
		for range 2 { // the first request learns the server's protocol version
			s.Reset()
			base, others, err := r.Heads(t.Context(), "gitlatch/prod", "absent")
			if err != nil || base != o.Tip("main") || !slices.Equal(others, []string{want, ""}) {
				t.Fatalf("heads are %s, %q, %v", base, others, err)
			}
		}
		if got := s.Requests(); len(got) != 1 {
			t.Errorf("version 0 only is %v: %d requests, want 1: %v", v0, len(got), got)
		}
	}
}
