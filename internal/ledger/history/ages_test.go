package history_test

import (
	"fmt"
	"testing"

	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestAgesAreSinceWhenGitSaysTheLevel(t *testing.T) {
	t.Parallel()
	o := gitserver.NewOrigin(t, t.TempDir()+"/site.git", map[string]string{"README.md": "hi"})
	first := o.Push(t, "main", levels(100, 5), "first")
	o.Push(t, "main", map[string]string{"README.md": "elsewhere"}, "elsewhere")
	up := o.Push(t, "main", levels(200, 5), "up")
	away := o.Push(t, "main", levels(100, 5), "and back")
	for n := range 20 {
		o.Push(t, "main", map[string]string{"README.md": fmt.Sprint(n)}, "elsewhere")
	}
	other := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "other"}
	r := open(t, o.Dir)
	ages, err := history.Ages(t.Context(), r, o.Tip("main"), "prod", 1000)
	if err != nil || len(ages) != 2 || ages[web].Commit != away || ages[other].Commit != first || ages[web].OrBefore {
		t.Errorf("%+v, %v; want web of %s and other of %s, not %s", ages, err, away, first, up)
	}
	if !ages[web].Since.After(ages[other].Since) {
		t.Errorf("web since %s, other since %s", ages[web].Since, ages[other].Since)
	}

	// The entries whose history was not read are older than the last commit that was
	// read.
	ages, err = history.Ages(t.Context(), r, o.Tip("main"), "prod", 22)
	if err != nil || ages[web].Commit != away || !ages[other].OrBefore || ages[other].Commit != "" || !ages[other].Since.Before(ages[web].Since) {
		t.Errorf("of 22 commits: %+v, %v", ages, err)
	}
	// The reader stops once it has the age of every entry.
	o.Push(t, "main", levels(500, 50), "both")
	r = open(t, o.Dir)
	if ages, err = history.Ages(t.Context(), r, o.Tip("main"), "prod", 1000); err != nil || len(ages) != 2 || r.reads != 2 {
		t.Errorf("%+v, %v, %d reads", ages, err, r.reads)
	}
}
