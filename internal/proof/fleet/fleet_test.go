package fleet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/term"
)

// workersAtMost is the deployed MaximumConcurrency of infra/fleet.
const workersAtMost = 20

// plans are the compared plans, the recommended one first. Sites affect one another
// only on their branch, so a hundred on each of two branches equal a thousand on ten.
var plans = []plan{
	{sites: 1000, branches: 1000, spread: period, workers: workersAtMost, ordinary: 2},
	{sites: 200, branches: 200, ordinary: 2},
	{sites: 200, branches: 8, spread: period, workers: workersAtMost, ordinary: 2},
	{sites: 200, branches: 2, spread: period, workers: workersAtMost, ordinary: 2},
	{sites: 200, branches: 1, spread: period, workers: workersAtMost, ordinary: 2},
	{sites: 100, branches: 1, ordinary: 2, limit: storm + 4},
}

// BenchmarkFleet prints the results of the plans, each played once. It checks two
// conditions for each plan: every landed level change landed once, and no commit of a
// user is lost.
func BenchmarkFleet(b *testing.B) {
	fmt.Println() // after the benchmark's name
	rows := [][]string{columns}
	for i, p := range plans {
		r := p.play(b).result()
		if i == 0 {
			if r.waiting > 0 || r.share(0.99) != 1 {
				b.Errorf("%d crossings have not landed, and 99 of 100 took %d ticks", r.waiting, r.share(0.99))
			}
			fmt.Printf("%d sites, %d crossings, each landed once, nothing lost.\n", p.sites, len(r.ticks))
			fmt.Printf("figure fleet_p99_ticks_to_land %d\n", r.share(0.99))
		}
		rows = append(rows, r.row())
		fmt.Println(strings.Join(r.row(), " | "))
	}
	fmt.Println()
	fmt.Println(term.Table("rrlrrrrrrrrrrl", rows...))
}

// The quick form: four sites on each branch disturb each other at the same time, so
// ticks lose races, processes die and users commit in between.
func TestEveryCrossingOfAFleetLandsOnce(t *testing.T) {
	t.Parallel()
	r := plan{sites: 40, branches: 10, ordinary: 1}.play(t).result()
	if r.waiting > 0 || r.races == 0 || r.share(0.99) > 2 {
		t.Errorf("%d crossings wait, %.2f races were lost for each that landed, 99 of 100 took %d ticks", r.waiting, r.races, r.share(0.99))
	}
	t.Log(r.row())
}
