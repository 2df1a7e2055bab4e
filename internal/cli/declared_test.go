package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func idOf(name string) workload.ID {
	return workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
}

// recordOf returns a checkpoint file with levels by name.
func recordOf(levels map[string]int32) []byte {
	r := checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{}}
	for name, level := range levels {
		r.Entries[idOf(name)] = checkpoint.Entry{Replicas: level}
	}
	return r.Format()
}

// The proposed entries are the branch's changes since its base commit, except changes
// that are on the base by now.
func TestWhatAnOpenProposalChanges(t *testing.T) {
	t.Parallel()
	path, branch := checkpoint.RecordPath("prod", "shop"), ledger.ProposalBranch("prod")
	when := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		after func(*testing.T, *repomem.Repository)
		want  map[string]int32
		url   string
	}{
		"open": {nil, map[string]int32{"web": 200, "new": 5, "old": 0}, "mem://proposals/1"},
		"the base moved on": {func(_ *testing.T, r *repomem.Repository) {
			r.Edit("by hand", when, map[string][]byte{path: recordOf(map[string]int32{"web": 200, "api": 500, "old": 3})})
			r.Edit("elsewhere", when, map[string][]byte{"README.md": []byte("hi")})
		}, map[string]int32{"new": 5, "old": 0}, "mem://proposals/1"},
		"all of it is so by now": {func(_ *testing.T, r *repomem.Repository) {
			r.Edit("squashed", when, map[string][]byte{path: recordOf(map[string]int32{"web": 200, "api": 10, "new": 5})})
		}, nil, ""},
		"closed": {func(t *testing.T, r *repomem.Repository) {
			p, err := r.Find(t.Context(), branch)
			if err == nil {
				err = r.Close(t.Context(), *p, "no")
			}
			if err != nil {
				t.Fatal(err)
			}
			tip, _, _ := r.Heads(t.Context())
			propose(t, r, tip, when, map[string]int32{"web": 900}) // a branch without a proposal
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := repomem.New(map[string]string{path: string(recordOf(map[string]int32{"web": 100, "api": 10, "old": 3}))})
			tip, _, err := r.Heads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			propose(t, r, tip, when, map[string]int32{"web": 200, "api": 10, "new": 5})
			if _, err := r.Ensure(t.Context(), repo.Draft{Branch: branch, Title: "more"}); err != nil {
				t.Fatal(err)
			}
			if c.after != nil {
				c.after(t, r)
			}
			side := declaredSide{config: config.Config{Site: "prod", Repository: config.Repository{PolicyFile: "gitlatch.yaml"}, Period: 5 * time.Minute}, repository: r, proposals: r}
			if err := side.readRepository(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := map[string]int32{}
			for id, e := range side.proposed {
				got[id.Name] = e.Replicas
			}
			if len(got) != len(c.want) || side.proposal != c.url {
				t.Errorf("proposed %v in %q, want %v in %q", got, side.proposal, c.want, c.url)
			}
			for name, level := range c.want {
				if now, ok := got[name]; !ok || now != level {
					t.Errorf("proposed %v, want %v", got, c.want)
				}
			}
		})
	}
}

func propose(t *testing.T, r *repomem.Repository, parent string, when time.Time, levels map[string]int32) {
	t.Helper()
	_, err := r.Commit(context.Background(), repo.Commit{
		Branch: ledger.ProposalBranch("prod"), Parent: parent, Message: "propose", When: when,
		Files: map[string][]byte{checkpoint.RecordPath("prod", "shop"): recordOf(levels)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A proposal with more commits than a window contains is an error.
func TestAProposalWithoutABaseIsTrouble(t *testing.T) {
	t.Parallel()
	r := repomem.New(map[string]string{"a": "1"})
	first, _, _ := r.Heads(t.Context())
	propose(t, r, first, time.Unix(1, 0), map[string]int32{"web": 200})
	r.Rewrite(r.Edit("second", time.Unix(2, 0), map[string][]byte{"a": []byte("2")}))
	for n := range 2100 {
		r.Push(ledger.ProposalBranch("prod"), "more", time.Unix(3, 0), map[string][]byte{"b": fmt.Append(nil, n)})
	}
	side := declaredSide{config: config.Config{Site: "prod", Repository: config.Repository{PolicyFile: "gitlatch.yaml"}, Period: 5 * time.Minute}, repository: r}
	if err := side.readRepository(t.Context()); err == nil || !strings.Contains(err.Error(), "Rebase or delete it") {
		t.Errorf("%v, proposed %v", err, side.proposed)
	}
}
