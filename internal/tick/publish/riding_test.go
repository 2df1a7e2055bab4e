package publish

import (
	"context"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// pushes counts the pushes to a repository.
type pushes struct {
	repo.Repository
	made []repo.Commit
}

func (p *pushes) Commit(_ context.Context, c repo.Commit) (string, error) {
	p.made = append(p.made, c)
	return "landed", nil
}

// endless is the lease of a tick.
type endless struct{ Lease }

func (endless) Extend(context.Context) error { return nil }

// A repair without a commit in the budget waits for a level change. If the entry of that change
// has another value, the repair waits for the next commit.
func TestARepairRidesWithALevelChangeAlone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	api := workload.ID{Namespace: "pay", Kind: workload.Deployment, Name: "api"}
	at := func(n int32) checkpoint.Entry { return checkpoint.Entry{Replicas: n} }
	site := checkpoint.Site{Name: "prod-eu"}
	empty, err := checkpoint.ParseTree("prod-eu", nil)
	if err != nil {
		t.Fatal(err)
	}
	files, _ := checkpoint.Merge(empty, site, []checkpoint.Change{{ID: web, To: at(100)}, {ID: api, To: at(20)}})
	stale := checkpoint.RecordPath("prod-eu", "pay")
	files[stale] = append([]byte("# a comment\n"), files[stale]...)
	tree, err := checkpoint.ParseTree("prod-eu", files)
	if err != nil || len(tree.Stale()) != 1 {
		t.Fatalf("stale %v, %v", tree.Stale(), err)
	}
	for name, c := range map[string]struct {
		from   int32
		tokens float64
		files  int // in the commit; 0 is no commit
	}{
		"the change and the repair":                {100, 0, 2},
		"the entry changed, and no budget is left": {150, 0, 0},
		"the entry changed, with a budget":         {150, 1, 1},
	} {
		plan := Plan{Found: read.Found{Tip: "tip", Directory: "directory", Tree: &tree, Set: policy.DefaultSet()}}
		plan.Set.Latch = true
		plan.Set.Guards = policy.DefaultGuards()
		plan.Fleet.At = now
		plan.Decided.Head.Budget = latch.Budget{Tokens: c.tokens, At: now}
		plan.Decided.Decisions = []policy.Decision{{ID: web, Reading: policy.ReadingScale, Verdict: policy.Cross, From: at(c.from), To: at(200), Urgent: true}}
		remote := &pushes{}
		made, _, err := ToBase(t.Context(), Target{Site: "prod-eu", Repository: remote, Lease: endless{}}, plan)
		got := 0
		for _, commit := range remote.made {
			got += len(commit.Files)
		}
		if err != nil || got != c.files || len(remote.made) > 1 || (made.Commit != nil) != (c.files > 0) || made.Dropped != (c.from != 100) {
			t.Errorf("%s: %d files in %d commits, want %d: %+v, %v", name, got, len(remote.made), c.files, made, err)
		}
	}
}
