package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A result contains the figures of a run.
type result struct {
	plan
	ticks   []int // number of ticks until each level change landed, in order
	waiting int   // level changes that have not landed
	races   float64
	quiet   float64 // requests of a tick without a level change, after the first tick of each site
	busy    float64 // requests of a tick that committed
	longest time.Duration
	spent   map[string]spent
	size    string // of the repository
}

func (r *run) result() result {
	ticks := r.proof()
	slices.Sort(ticks)
	res := result{plan: r.plan, ticks: ticks, waiting: r.behind(), spent: r.host.spent}
	var pushed, commits, quiet, busy, calm int
	for _, l := range r.looks {
		pushed += l.pushed
		res.longest = max(res.longest, l.took)
		switch {
		case l.commit != "":
			commits++
			busy += l.asked
		case !l.held && !l.crosses && l.period > 0:
			calm++
			quiet += l.asked
		}
	}
	res.races = float64(pushed-commits) / float64(commits)
	res.quiet, res.busy = float64(quiet)/float64(calm), float64(busy)/float64(commits)
	res.size = r.size()
	return res
}

// size returns the size of the repository, before and after git gc.
func (r *run) size() string {
	loose := r.counted("size")
	r.origin.Git(r.t, "gc", "--quiet")
	return fmt.Sprintf("%.1f, packed %.1f", float64(loose)/1024, float64(r.counted("size-pack"))/1024)
}

// counted is a size in KiB.
func (r *run) counted(what string) (n int) {
	for line := range strings.Lines(r.origin.Git(r.t, "count-objects", "-v") + "\n") {
		if rest, ok := strings.CutPrefix(line, what+": "); ok {
			if _, err := fmt.Sscan(rest, &n); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	return n
}

// share returns the lowest number of ticks within which the given share of the level
// changes landed; -1 if the share did not land.
func (r result) share(of float64) int {
	i := int(of*float64(len(r.ticks)+r.waiting)+0.999999) - 1
	if i >= len(r.ticks) {
		return -1
	}
	return r.ticks[max(0, i)]
}

func (r result) landed() string {
	return fmt.Sprintf("%.1f %%", 100*float64(len(r.ticks))/float64(len(r.ticks)+r.waiting))
}

// row returns a row of the table.
func (r result) row() []string {
	starts := "at once"
	if r.spread > 0 {
		starts = "over " + strings.TrimSuffix(r.spread.String(), "0s")
	}
	within := func(n int) string {
		if n < 0 {
			return "not yet"
		}
		return fmt.Sprint(n)
	}
	mean := func(what string) string {
		s := r.spent[what]
		return fmt.Sprintf("%.1f", float64(s.time.Microseconds())/1000/float64(max(1, s.times)))
	}
	return []string{
		fmt.Sprint(r.sites), fmt.Sprint(r.branches), starts,
		within(r.share(0.5)), within(r.share(0.99)), within(r.share(1)), r.landed(),
		fmt.Sprintf("%.2f", r.races), fmt.Sprintf("%.1f", r.quiet), fmt.Sprintf("%.1f", r.busy),
		fmt.Sprintf("%.0f s", r.longest.Seconds()), mean(tips), mean(push), r.size,
	}
}

var columns = []string{"sites", "branches", "ticks begin", "p50", "p99", "max", "landed",
	"lost races", "requests, quiet", "to land", "longest tick", "ms of tips", "of a push", "MiB"}
