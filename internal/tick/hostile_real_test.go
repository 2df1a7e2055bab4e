package tick_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// For any content that a user puts into one namespace of the site, the other levels
// change in the same tick, and the report has the path that was not read. The git server
// is real.
func TestAHostileNamespaceStopsNoOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path string
		put  func(*gitserver.Origin) string
		why  string // "" if the level of pay also changes
	}{
		"nested trees beside the record": {"pay/nested", func(o *gitserver.Origin) string { return o.Nested(t, 7) }, ""},
		"nested trees as the record":     {"pay.levels.yaml", func(o *gitserver.Origin) string { return o.Nested(t, 7) }, "is a directory"},
		"a file beside the record":       {"pay", func(o *gitserver.Origin) string { return o.Zeros(t, 1) }, ""},
		"zeros as the record":            {"pay.levels.yaml", func(o *gitserver.Origin) string { return o.Zeros(t, 256<<20) }, repo.TooLarge},
		"zeros beside the record":        {"kustomization.yaml", func(o *gitserver.Origin) string { return o.Zeros(t, 256<<20) }, ""},
		"a wide folder beside it":        {"pay", func(o *gitserver.Origin) string { return o.Wide(t, 200_000) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(nil)
			server := gitserver.Start(t)
			origin := server.Create(t, "site", map[string]string{"gitlatch.yaml": latching})
			origin.Put(t, "main", "checkpoints/prod/"+c.path, c.put(origin))
			w.scale("shop/web", 87)
			w.scale("pay/api", 87)

			repository, err := gitwire.Open(gitwire.Options{URL: server.URL("site"), Branch: "main", TempDir: t.TempDir()})
			must(t, err)
			var report tick.Report
			for range 2 {
				report, err = w.Tick(func(t *tick.Tick) { t.Repository = deadlined{repository} })
				must(t, err)
				w.Now = w.Now.Add(period)
			}
			must(t, repository.Close())
			if got := origin.Show(t, "main", "checkpoints/prod/shop.levels.yaml"); !strings.Contains(got, `deployment.web: "100"`) {
				t.Errorf("the record of shop is\n%s", got)
			}
			if c.why == "" {
				if got := origin.Show(t, "main", "checkpoints/prod/pay.levels.yaml"); !strings.Contains(got, `deployment.api: "100"`) {
					t.Errorf("the record of pay is\n%s", got)
				}
			} else if err := report.Err(); err == nil || !strings.Contains(err.Error(), "checkpoints/prod/"+c.path+" "+c.why) {
				t.Errorf("problems %v do not say that %s %s", err, c.path, c.why)
			}
		})
	}
}

// deadlined is a repository whose calls have a deadline.
type deadlined struct{ repo.Repository }

func (d deadlined) Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]repo.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return d.Repository.Read(ctx, commit, known, paths...)
}
