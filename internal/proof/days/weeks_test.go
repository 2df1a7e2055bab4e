//go:build long

package days

import (
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces/simulate"
)

var from = flag.String("weeks-of", "2f819d67", "id of the commit that draws the simulated weeks")

// A rebuild with the default policy starts at most 125 % of the pods that the workloads
// needed at their peaks. A site of 300 workloads makes at most the commits of the series
// 1-2-5 without lowerings that ride, which was the default before. A site of 1,000 workloads
// is over its budget with both: nine in ten commits are for an urgent raise, and lower levels
// have more of them.
func TestWeeksOfSteps(t *testing.T) {
	drawn := sha256.Sum256([]byte(*from))
	for i, of := range []struct {
		workloads int
		most      float64 // the commits / the former commits
	}{{300, 1}, {300, 1}, {1000, 1.1}, {1000, 1.1}} {
		n := of.workloads
		seed := uint64(binary.BigEndian.Uint32(drawn[4*i:]))
		var lives []simulate.Life
		for week := uint64(0); len(lives) < n; week++ {
			lives = append(lives, simulate.Week(seed+week, period)...)
		}
		fleet := newFleet(n, lives)
		steps := policy.DefaultSet()
		steps.Latch = true
		former := steps
		former.Default.Series = policy.OneTwoFive
		is, was := week(fleet, steps, false), week(fleet, former, true)
		t.Logf("%d workloads, seed %d: %d commits and %.1f %% of the peaks, with 1-2-5 %d and %.1f %%",
			n, seed, is.commits, 100*is.share, was.commits, 100*was.share)
		if is.share > 1.25 || float64(is.commits) > of.most*float64(was.commits) {
			t.Errorf("%d workloads, seed %d: %+v, with 1-2-5 %+v", n, seed, is, was)
		}
	}
}

// A result is the result of a week, without its first 26 hours. share is measured each hour.
type result struct {
	commits int
	share   float64 // the pods in git / each workload's peak of the last 26 hours
}

// week plays a simulated week. With alone, lowerings do not ride: a lowering that is due
// causes a commit.
func week(fleet []member, set policy.Set, alone bool) (r result) {
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	looks := len(fleet[0].life.Looks)
	var state latch.State
	var declared, peaks int64
	for look := range looks {
		at = at.Add(period)
		seen, _ := seen{fleet, look, at}.Sample(nil, nil)
		decided := policy.Round(policy.Site{State: state, Set: set, Fleet: seen, Period: period})
		state = decided.State
		state.Head.At = at
		affords := alone && policy.Affords(set.Guards, state.Head.Budget, at)
		crosses := lists.Filter(decided.Decisions, func(d policy.Decision) bool {
			return d.Crosses() || affords && d.Rides && d.Lowers()
		})
		if len(crosses) > 0 {
			state = policy.Settled(set.Guards, state, crosses, at)
			if look >= peakLooks {
				r.commits++
			}
		}
		state.Latches = flat(state.Latches)
		if look < peakLooks || look%hour != 0 {
			continue
		}
		for _, m := range fleet {
			level := state.Latches.Get(m.id).Declared.Replicas
			if level == 0 {
				continue // its policy does not latch it
			}
			declared += int64(level)
			peaks += int64(m.peak(look))
		}
	}
	r.share = float64(declared) / float64(peaks)
	return r
}

// flat returns latches as if they were saved and loaded.
func flat(l latch.Latches) latch.Latches {
	all := map[workload.ID]latch.Latch{}
	for one := range l.All() {
		all[one.ID] = one
	}
	return latch.LatchesOf(all)
}

const (
	hour      = int(time.Hour / period)
	peakLooks = 26 * hour
)

// peak returns the highest desired replicas of the last 26 hours.
func (m member) peak(look int) (most int32) {
	for i := look - peakLooks; i <= look; i++ {
		most = max(most, m.life.Looks[i].Desired)
	}
	return most
}
