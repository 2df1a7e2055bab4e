package simulator

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gitlatch/gitlatch/internal/proof/law"
)

var (
	ticks = flag.Int("ticks", 20000, "how many ticks to play")
	first = flag.Uint64("first", 1, "the first seed")
	found = flag.String("found", "", "the folder to write scenarios to that break a law")
	leave = flag.String("without", "", "kinds of events to leave out, comma-separated")
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
	without := strings.Split(*leave, ",")
	events = slices.DeleteFunc(events, func(e event) bool { return slices.Contains(without, e.name) })
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for many.Load() < int64(*ticks) {
				n := seed.Add(1)
				p := Random(n, 150)
				many.Add(int64(p.Ticks))
				mu.Lock()
				for _, counts := range []map[string]int{p.Events, p.Found} {
					for name, times := range counts {
						seen[name] += times
					}
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
	report(t, broken)
	fmt.Printf("figure simulated_ticks %d\nfigure violations %d\n", many.Load(), count)
	kinds := slices.Clone(law.Rows)
	for _, e := range events {
		kinds = append(kinds, e.name)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Compare(seen[a], seen[b]) })
	fmt.Printf("figure rarest_event %d (%s)\n", seen[kinds[0]], kinds[0])
	for _, name := range kinds {
		t.Logf("%6d %s", seen[name], name)
	}
}

// report prints of each law the shortest history that breaks it; with -found it
// writes one for each way in which it is broken.
func report(t *testing.T, broken map[string][]Played) {
	for name, all := range broken {
		slices.SortFunc(all, func(a, b Played) int { return cmp.Compare(len(a.Lines), len(b.Lines)) })
		if *found == "" {
			all = all[:1]
		}
		ways := map[string]bool{}
		for _, p := range all {
			small := p.Shrink(name)
			if way := name + " " + small.way(); !ways[way] {
				ways[way] = true
				scenario := small.Scenario(name + ": " + small.Play().Violations[0].What)
				t.Errorf("%d histories break the law that %s:\n%s", len(all), name, scenario)
				if *found != "" {
					write(t, way, scenario)
				}
			}
		}
	}
}

// way is what the lines of a history do, but for what every history does.
func (h History) way() string {
	var verbs []string
	for _, line := range h.Lines {
		words := strings.Fields(line + " -")
		switch words[0] {
		case "workload", "try":
			continue
		case "person", "host", "push", "state":
			verbs = append(verbs, words[0]+"-"+words[1])
		case "before":
			verbs = append(verbs, "amid-"+words[2]+"-"+append(words, "")[3])
		default:
			verbs = append(verbs, words[0])
		}
	}
	slices.Sort(verbs)
	return strings.Join(slices.Compact(verbs), " ")
}

func write(t *testing.T, name string, scenario []byte) {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" ,'/", r) {
			return '-'
		}
		return r
	}, name)
	if err := os.WriteFile(filepath.Join(*found, name[:min(len(name), 150)]+".txtar"), scenario, 0o644); err != nil {
		t.Error(err)
	}
}
