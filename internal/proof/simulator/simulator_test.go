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
	"testing"

	"github.com/gitlatch/gitlatch/internal/proof/law"
)

var (
	ticks   = flag.Int("ticks", 2000, "how many ticks to play")
	stop    = flag.Int("stop", 1, "how many broken histories end the run")
	found   = flag.String("found", "", "the folder to write scenarios to, one for each way in which a law is broken")
	shrinks = flag.Bool("shrink", true, "leave out the lines that a history does not need to break a law")
	clouds  = flag.Int("clouds", 5, "how many histories of a hundred have the adapters of CodeCommit and DynamoDB")
	one     = flag.String("law", "", "the law that counts; none are all")
	only    = flag.String("only", "", "kinds of events to draw, by name, semicolons between; none are all")
)

// first is the first seed.
var first = seed(1)

func init() { flag.Var(&first, "first", "the first `seed`, or random to draw one") }

// A run plays many histories concurrently.
type run struct {
	mu     sync.Mutex
	ticks  int
	cloud  int // ticks with the adapters of AWS
	seed   uint64
	seen   map[string]int
	broken map[string][]Played
	count  int
}

// Random histories break no law.
func TestRandomHistoriesBreakNoLaw(t *testing.T) {
	t.Parallel()
	chosen := strings.Split(*only, ";")
	events = slices.DeleteFunc(events, func(e event) bool {
		return *only != "" && !slices.Contains(chosen, e.name)
	})
	fmt.Printf("first seed %d: repeat these histories with make faults FIRST=%[1]d\n", first)
	r := &run{seed: uint64(first), seen: map[string]int{}, broken: map[string][]Played{}}
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for seed, more := r.next(); more; seed, more = r.next() {
				r.take(t, seed, Random(seed, 150, *clouds))
			}
		})
	}
	wait.Wait()
	report(t, r.broken)
	var kinds, pairs []string
	for _, e := range events {
		kinds = append(kinds, e.name)
		if e.mortal() {
			pairs = append(pairs, e.withDeath())
		}
	}
	rarest := func(a, b string) int { return cmp.Compare(r.seen[a], r.seen[b]) }
	fmt.Printf("figure simulated_ticks %d\nfigure simulated_cloud_ticks %d\nfigure violations %d\n", r.ticks, r.cloud, r.count)
	for of, names := range map[string][]string{"event": kinds, "pair": pairs, "state": law.Rows} {
		if len(names) > 0 {
			rare := slices.MinFunc(names, rarest)
			fmt.Printf("figure rarest_%s %d (%s)\n", of, r.seen[rare], rare)
			if least := map[string]int{"event": 1000, "pair": 50, "state": 1000}[of]; r.ticks >= 1_200_000 && *only == "" && r.seen[rare] < least {
				t.Errorf("%d ticks have the %s %q %d times, and not %d times", r.ticks, of, rare, r.seen[rare], least)
			}
		}
	}
	kinds = slices.Concat(kinds, pairs, law.Rows)
	slices.SortFunc(kinds, rarest)
	for _, name := range kinds {
		t.Logf("%6d %s", r.seen[name], name)
	}
}

// next returns the seed of the next history.
func (r *run) next() (seed uint64, more bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seed++
	return r.seed - 1, r.ticks < *ticks && r.count < *stop
}

// take adds a history that was played.
func (r *run) take(t *testing.T, seed uint64, p Played) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ticks += p.Ticks; r.ticks%20_000 < p.Ticks {
		t.Logf("%d ticks", r.ticks)
	}
	if p.Cloud {
		r.cloud += p.Ticks
	}
	for _, counts := range []map[string]int{p.Events, p.Found} {
		for name, times := range counts {
			r.seen[name] += times
		}
	}
	if len(p.Violations) == 0 {
		return
	}
	broken := p.Violations[0]
	if *one != "" && *one != broken.Law {
		return
	}
	r.count++
	r.broken[broken.Law] = append(r.broken[broken.Law], p)
	t.Logf("seed %d, %d lines: %s: %s", seed, len(p.Lines), broken.Law, broken.What)
}

// report prints the shortest history that breaks each law. With -found it writes one
// history for each way in which a law is broken.
func report(t *testing.T, broken map[string][]Played) {
	for name, all := range broken {
		slices.SortFunc(all, func(a, b Played) int { return cmp.Compare(len(a.Lines), len(b.Lines)) })
		if *found == "" {
			all = all[:1]
		}
		ways := map[string]bool{}
		for _, p := range all {
			small := p.History
			if *shrinks {
				small = p.Shrink(name)
			}
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

// way returns the actions in the lines of a history, except actions in every history.
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
