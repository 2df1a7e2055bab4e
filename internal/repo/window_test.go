package repo_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// past is a repository of numbered commits, with the parents of each commit.
type past map[string][]string

func (p past) look(id string) (repo.LogEntry, bool, error) {
	parents, ok := p[id]
	return repo.LogEntry{ID: id, Parents: parents}, ok, nil
}

// all returns the commit and its ancestors.
func (p past) all(id string) map[string]bool {
	seen := map[string]bool{}
	for next := []string{id}; len(next) > 0; next = next[1:] {
		if !seen[next[0]] {
			seen[next[0]] = true
			next = append(next, p[next[0]]...)
		}
	}
	return seen
}

// A walk finds the same window as a comparison of all ancestors of both ends.
func TestAWalkFindsTheWindow(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		p, n := past{"0": nil}, 2+r.IntN(14)
		for i := 1; i < n; i++ {
			parents := []string{fmt.Sprint(max(0, i-1-r.IntN(3)))}
			if r.IntN(3) == 0 {
				if other := fmt.Sprint(r.IntN(i)); other != parents[0] {
					parents = append(parents, other)
				}
			}
			p[fmt.Sprint(i)] = parents
		}
		base, tip := fmt.Sprint(r.IntN(n)), fmt.Sprint(r.IntN(n))
		var want []string
		old := p.all(base)
		for id := range p.all(tip) {
			if !old[id] {
				want = append(want, id)
			}
		}
		got, err := repo.Walk(base, tip, 1000, p.look)
		var ids []string
		for _, c := range got.Commits {
			for _, parent := range c.Parents {
				if slices.Contains(ids, parent) {
					t.Fatalf("seed %d: %s comes after its parent", seed, c.ID)
				}
			}
			ids = append(ids, c.ID)
		}
		slices.Sort(ids)
		slices.Sort(want)
		if err != nil || got.Cut || !slices.Equal(ids, want) || got.Descends != p.all(tip)[base] {
			t.Fatalf("seed %d: between %s and %s of %v: %v, descends %v, cut %v; want %v, %v", seed, base, tip, p, ids, got.Descends, got.Cut, want, p.all(tip)[base])
		}
	}
}

func TestAWalkEndsWhereItCannotTell(t *testing.T) {
	t.Parallel()
	long := past{"0": nil}
	for i := 1; i < 100; i++ {
		long[fmt.Sprint(i)] = []string{fmt.Sprint(i - 1)}
	}
	shallow := past{"9": {"8"}, "8": {"7"}}
	for name, c := range map[string]struct {
		of        past
		base, tip string
		want      repo.Window
	}{
		"too many commits":              {long, "0", "99", repo.Window{Cut: true}},
		"a past that is not whole":      {shallow, "1", "9", repo.Window{Cut: true}},
		"a past that is whole for this": {shallow, "7", "9", repo.Window{Descends: true}},
	} {
		got, err := repo.Walk(c.base, c.tip, 50, c.of.look)
		if got.Commits = nil; err != nil || fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
}

// The number of reads grows with the window, not with the history.
func TestAWalkCostsAsMuchAsItsWindow(t *testing.T) {
	t.Parallel()
	p := past{"0": nil}
	for i := 1; i < 1000; i++ {
		p[fmt.Sprint(i)] = []string{fmt.Sprint(i - 1)}
	}
	p["merge"] = []string{"999", "side"}
	p["side"] = []string{"990"}
	for tip, most := range map[string]int{"999": 19, "merge": 60} {
		looked := 0
		_, err := repo.Walk("989", tip, 1000, func(id string) (repo.LogEntry, bool, error) {
			looked++
			return p.look(id)
		})
		if err != nil || looked > most {
			t.Errorf("%s: %d commits were looked up, want %d at most", tip, looked, most)
		}
	}
}
