package tick_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/alert"
	latchmem "github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// Files as users write them. @ represents the replicas, and every other byte must not
// change.
var inPlace = map[string]string{
	"apps/shop/values.yaml": `# Helm values of the shop, kept by hand
image: &image {repository: "registry.example.com/web", tag: 'v1'}   
worker: {image: *image}

replicaCount:   @   # {"$gitlatch": "shop/deployment/web"}
autoscaling:
    enabled: true
    minReplicas: 3 # a floor acts on the live cluster, and is no checkpoint
script: |
  kubectl scale --replicas 3 # {"$gitlatch": "shop/deployment/web"}
last: "no line break after this"`,
	"apps/shop/windows.yaml": "\ufeff# für den Laden\r\nspec:\r\n  \"replicas\": \"@\"\t# {\"$gitlatch\": \"shop/deployment/web\"}\r\n  paused: no\r\n",
	"apps/shop/overlay.yaml": `# a patch of kustomize
- {op: test, path: /spec/paused, value: false}
- op: replace
  path: /spec/replicas
  value: @ # {"$gitlatch": "shop/deployment/web"}
---
replicas: 7 # {"$gitlatch": "shop/deployment/api"}
`,
}

// The test uses real servers and git's own protocol. A commit changes only digits, like a
// careful user's edit.
func TestOnlyTheDigitsMoveInARealRepository(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*gitserver.Server, *gitserver.Origin){
		"partial clone": func(*gitserver.Server, *gitserver.Origin) {},
		"an old server": func(s *gitserver.Server, o *gitserver.Origin) { s.OnlyV0(true); gitserver.WithoutFilter(t, o) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(nil)
			server := gitserver.Start(t)
			files := map[string]string{"gitlatch.yaml": latching, "README.md": "of the team\n"}
			for path, text := range inPlace {
				files[path] = strings.ReplaceAll(text, "@", "3")
				w.InPlace = append(w.InPlace, path)
			}
			w.InPlace = append(w.InPlace, "apps/linked.yaml", "apps/folder/below.yaml")
			origin := server.Create(t, "site", files)
			origin.Commit(t, gitserver.Change{Branch: "main", Message: "links", Entries: []gitserver.Entry{
				{Path: "apps/linked.yaml", Mode: "120000", Content: "shop/values.yaml"},
				{Path: "apps/folder", Mode: "120000", Content: "shop"},
				{Path: "apps/shop/overlay.yaml", Mode: "100755", Content: files["apps/shop/overlay.yaml"]},
			}})
			prepare(server, origin)
			w.scale("shop/web", 87)

			run := func(n int) (last tick.Report) {
				t.Helper()
				for range n {
					repository, err := gitwire.Open(gitwire.Options{URL: server.URL("site"), Branch: "main", Transport: http.DefaultTransport, TempDir: t.TempDir()})
					must(t, err)
					server.Reset()
					last, err = w.Tick(func(t *tick.Tick) { t.Repository = repository })
					must(t, err)
					must(t, repository.Close())
					w.Now = w.Now.Add(period)
				}
				return last
			}
			// declared compares every file on the branch.
			declared := func(count string) {
				t.Helper()
				for path, text := range inPlace {
					if got, want := string(origin.Raw(t, "blob", "main:"+path)), strings.ReplaceAll(text, "@", count); got != want {
						t.Errorf("%s is\n%q\nwant\n%q", path, got, want)
					}
				}
				if got := origin.Show(t, "main", "checkpoints/prod/shop/checkpoint.yaml"); !strings.Contains(got, `deployment.web: "`+count+`"`) {
					t.Errorf("the record is\n%s\nwant %s", got, count)
				}
				origin.Check(t)
			}
			touched := func() string { return origin.Git(t, "show", "--format=", "--name-only", "main") }

			report := run(2)
			declared("100")
			if got := touched(); got != "apps/shop/overlay.yaml\napps/shop/values.yaml\napps/shop/windows.yaml\ncheckpoints/prod/kustomization.yaml\ncheckpoints/prod/shop/checkpoint.yaml\ncheckpoints/prod/shop/kustomization.yaml\ncheckpoints/prod/site.yaml" {
				t.Errorf("the commit touched\n%s", got)
			}
			if modes := origin.Git(t, "ls-tree", "main", "apps/linked.yaml", "apps/shop/overlay.yaml"); !strings.Contains(modes, "120000 ") || !strings.Contains(modes, "100755 ") {
				t.Errorf("modes are now\n%s", modes)
			}
			for _, why := range []string{"apps/linked.yaml: is a symlink", "apps/folder/below.yaml: leads through apps/folder is a symlink"} {
				if err := report.Err(); err == nil || !strings.Contains(err.Error(), why) {
					t.Errorf("problems %v do not say %q", err, why)
				}
			}
			run(1)
			if asked := len(server.Requests()); name == "partial clone" && asked != 1 {
				t.Errorf("a quiet tick asked %d things", asked)
			}

			// A rival pushes between read and push.
			w.scale("shop/web", 180)
			run(1)
			was := inPlace["apps/shop/overlay.yaml"]
			server.BeforePush(func() {
				origin.Push(t, "main", map[string]string{"README.md": "of the team, and of others\n"}, "by hand")
			})
			run(1)
			declared("200")

			// A number that a user writes while the state is lost stays.
			origin.Push(t, "main", map[string]string{"apps/shop/overlay.yaml": strings.ReplaceAll(was, "@", "150")}, "by hand")
			w.Store = latchmem.New()
			report = run(2)
			if got, want := string(origin.Raw(t, "blob", "main:apps/shop/overlay.yaml")), strings.ReplaceAll(was, "@", "150"); got != want {
				t.Errorf("the overlay is\n%s\nwant\n%s", got, want)
			}
			named := func(c alert.Condition) bool {
				return c.Subject == "apps/shop/overlay.yaml" && strings.Contains(c.Text, "write 200")
			}
			if !slices.ContainsFunc(report.Conditions, named) {
				t.Errorf("conditions %+v", report.Conditions)
			}
		})
	}
}
