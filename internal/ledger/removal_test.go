package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// One commit of the branch removes each entry. The other commits are irrelevant.
func TestTheCommitThatRemovedAnEntryIsFound(t *testing.T) {
	t.Parallel()
	const site = "prod"
	when := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	path := checkpoint.RecordPath(site, "shop")
	record := func(names ...string) []byte {
		r := checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{}}
		for _, name := range names {
			r.Entries[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}] = checkpoint.Entry{Replicas: 5}
		}
		return r.Format()
	}
	r := repomem.New(map[string]string{path: string(record("a", "b", "c", "d"))})
	agreed, _, err := r.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := func(n int) {
		for i := range n {
			r.Edit("elsewhere", when, map[string][]byte{"app.yaml": []byte(fmt.Sprint(n, i))})
		}
	}
	elsewhere(3)
	first := r.Edit("opt out", when, map[string][]byte{path: record("b", "c", "d")})
	elsewhere(5)
	r.Edit("break", when, map[string][]byte{path: []byte("data: [")})
	r.Edit("repair", when, map[string][]byte{path: record("b", "c", "d")})
	second := r.Edit("a bad merge", when, map[string][]byte{path: nil})
	elsewhere(2)

	tip, _, err := r.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	window, err := r.Between(t.Context(), agreed, tip)
	if err != nil {
		t.Fatal(err)
	}
	var gone []ledger.Change
	for _, name := range []string{"a", "b", "c", "d"} {
		gone = append(gone, ledger.Change{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}})
	}
	commits := ledger.Commits{From: r, Site: site}
	found, err := commits.Removals(t.Context(), window, tip, gone)
	if err != nil || len(found) != 2 {
		t.Fatalf("found %+v, %v; want two commits", found, err)
	}
	if found[0].Commit != first || len(found[0].Changes) != 1 || len(found[0].Files) != 0 {
		t.Errorf("first: %+v, want a of %s, with its file", found[0], first)
	}
	if found[1].Commit != second || len(found[1].Changes) != 3 || !slices.Equal(found[1].Files, []string{"shop"}) {
		t.Errorf("second: %+v, want the others of %s, without their file", found[1], second)
	}
}

// An entry that the tip has was removed by no commit, also if the window has the first commit
// of the repository.
func TestAnEntryOfTheTipWasNotRemoved(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	record := checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{web: {Replicas: 5}}}
	r := repomem.New(map[string]string{checkpoint.RecordPath("prod", "shop"): string(record.Format())})
	tip := r.Edit("elsewhere", time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), map[string][]byte{"app.yaml": []byte("x")})
	log, _, err := r.History(t.Context(), tip, "", 10)
	if err != nil || len(log) != 2 || len(log[1].Parents) != 0 {
		t.Fatalf("the log is %+v, %v", log, err)
	}
	commits := ledger.Commits{From: r, Site: "prod"}
	found, err := commits.Removals(t.Context(), repo.Window{Commits: log}, tip, []ledger.Change{{ID: web}})
	if err != nil || len(found) != 0 {
		t.Errorf("found %+v, %v", found, err)
	}
}
