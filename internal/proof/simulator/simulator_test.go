package simulator

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	ticks = flag.Int("ticks", 20000, "how many ticks to play")
	first = flag.Uint64("first", 1, "the first seed")
	found = flag.String("found", "", "the folder to write scenarios to that break a law")
	stop  = flag.Int("stop", 3, "how many broken histories end the run")
)

// Random histories break no law.
func TestRandomHistoriesBreakNoLaw(t *testing.T) {
	t.Parallel()
	var (
		mu     sync.Mutex
		seen   = map[string]int{}
		broken = map[string][]Played{}
		count  int
		many   atomic.Int64
		seed   atomic.Uint64
	)
	seed.Store(*first - 1)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for many.Load() < int64(*ticks) {
				n := seed.Add(1)
				p := Random(n, 150)
				many.Add(int64(p.Ticks))
				mu.Lock()
				for name, times := range p.Events {
					seen[name] += times
				}
				if len(p.Violations) > 0 {
					count++
					name := p.Violations[0].Law
					broken[name] = append(broken[name], p)
					t.Logf("seed %d, %d lines: %s: %s", n, len(p.Lines), name, p.Violations[0].What)
				}
				enough := count >= *stop
				mu.Unlock()
				if enough {
					return
				}
			}
		})
	}
	wait.Wait()
	for name, all := range broken {
		shortest := slices.MinFunc(all, func(a, b Played) int { return cmp.Compare(len(a.Lines), len(b.Lines)) })
		small := shortest.Shrink(name)
		w := small.Play()
		scenario := small.Scenario(fmt.Sprintf("%s: %s", name, w.Violations[0].What))
		t.Errorf("%d histories break the law that %s:\n%s", len(all), name, scenario)
		if *found != "" {
			file := filepath.Join(*found, strings.Map(func(r rune) rune {
				if r == ' ' || r == ',' || r == '\'' {
					return '-'
				}
				return r
			}, name)+".txtar")
			if err := os.WriteFile(file, scenario, 0o644); err != nil {
				t.Error(err)
			}
		}
	}
	fmt.Printf("figure simulated_ticks %d\nfigure violations %d\n", many.Load(), count)
	rarest := slices.MinFunc(events, func(a, b event) int { return cmp.Compare(seen[a.name], seen[b.name]) })
	fmt.Printf("figure rarest_event %d (%s)\n", seen[rarest.name], rarest.name)
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%6d %s", seen[name], name)
	}
}
