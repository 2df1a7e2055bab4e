package backtest_test

import (
	"math"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

const (
	minutely = time.Minute
	lasting  = 10 * time.Minute
)

// A minutes is a past with a sample of every workload in every minute.
type minutes struct {
	ids    []workload.ID
	scales [][]workload.Scale
}

func (m minutes) past(t *testing.T) *backtest.Past {
	all := map[workload.ID][]backtest.Sample{}
	for i, id := range m.ids {
		for minute, s := range m.scales[i] {
			all[id] = append(all[id], backtest.Sample{At: monday.Add(time.Duration(minute) * minutely), Scale: s})
		}
	}
	return of(t, all)
}

// recorded returns the recorded day of some namespaces.
func recorded(t *testing.T, namespaces ...string) (m minutes) {
	t.Helper()
	day, err := traces.Day()
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range day.Workloads {
		for _, namespace := range namespaces {
			if w.ID.Namespace != namespace || w.Driver == workload.DrivenByNothing {
				continue
			}
			var row []workload.Scale
			for at := time.Duration(0); at <= day.Length; at += minutely {
				s := day.At(i, at)
				row = append(row, workload.Scale{Desired: s.Desired, Ready: s.Ready, Min: w.Min, Max: w.Max, Target: w.Target, Driver: workload.DrivenByHPA})
			}
			m.ids, m.scales = append(m.ids, w.ID), append(m.scales, row)
		}
	}
	return m
}

func swinging() (m minutes) {
	samples, _ := fortnight()
	var row []workload.Scale
	for _, s := range samples {
		for range 5 {
			row = append(row, s.Scale)
		}
	}
	return minutes{[]workload.ID{web}, [][]workload.Scale{row[:4*24*60+1]}}
}

// An outcome is the result of a candidate in the slow search.
type outcome struct{ commits, updates, coverage, worst, waste float64 }

// slow runs a candidate minute by minute, without optimizations. It computes the level of
// each workload for each minute, and then the figures.
func (m minutes) slow(set policy.Set) (o outcome) {
	length := len(m.scales[0])
	latches := make([]latch.Latch, len(m.ids))
	levels := make([][]int32, len(m.ids))
	var head latch.Head
	past := map[workload.ID]latch.Latch{}
	var last time.Time
	for minute := range length {
		now := monday.Add(time.Duration(minute) * minutely)
		if minute%int(set.Guards.Period/minutely) == 0 {
			scales := map[workload.ID]int32{}
			for i, id := range m.ids {
				scales[id] = m.scales[i][minute].Desired
			}
			var stop policy.Stop
			state := latch.State{Head: head, Latches: latch.LatchesOf(past)}
			state, stop = policy.Assess(set.Guards, state, workload.Fleet{Cluster: "past", At: now}, scales)
			head = state.Head
			head.At = now
			past = map[workload.ID]latch.Latch{}
			for l := range state.Latches.All() {
				past[l.ID] = l
			}
			var decisions []policy.Decision
			for i, id := range m.ids {
				scale := m.scales[i][minute]
				var d policy.Decision
				latches[i], d = policy.Decide(set.Default, latches[i], workload.Sample{ID: id, Scale: &scale, Rollout: &workload.Rollout{}},
					policy.Look{Now: now, Last: last, Period: set.Guards.Period, Stop: stop})
				decisions = append(decisions, d)
			}
			last = now
			crossed, begun := false, true
			for i, d := range policy.Afford(set.Guards, head.Budget, now, policy.Ride(decisions)) {
				if d.Crosses() {
					crossed = true
					if latches[i].Declared != (checkpoint.Entry{}) {
						begun = false
						o.updates++
					}
					latches[i] = latches[i].Settled(d.To)
				}
			}
			if crossed {
				head.Budget = policy.Spend(set.Guards, head.Budget, now)
				if !begun {
					o.commits++
				}
			}
		}
		for i := range m.ids {
			levels[i] = append(levels[i], latches[i].Declared.Replicas)
		}
	}

	o.worst = 1
	covered, whole := 0.0, 0.0
	for i := range m.ids {
		for minute := range length - 1 {
			need, level := m.scales[i][minute].Desired, levels[i][minute]
			if level == 0 {
				continue
			}
			o.waste += math.Max(0, float64(level-need)) / 60
			if need > 0 {
				covered += math.Min(1, float64(level)/float64(need))
				whole++
			}
			if least := m.lasted(i, minute); least > 0 {
				o.worst = math.Min(o.worst, float64(level)/float64(least))
			}
		}
	}
	o.coverage = covered / whole
	o.commits /= float64(length-1) / (24 * 60)
	return o
}

// lasted returns the lowest desired replicas in the time before a minute, or 0 if the
// workload was unhealthy at some time in it.
func (m minutes) lasted(i, minute int) int32 {
	first := minute - int(lasting/minutely)
	if first < 0 {
		return 0
	}
	least := int32(math.MaxInt32)
	for _, s := range m.scales[i][first : minute+1] {
		if s.Desired <= 0 || s.Desired-s.Ready > max(1, s.Desired/10) {
			return 0
		}
		least = min(least, s.Desired)
	}
	return least
}

func TestTheRecommendationIsThatOfAnExhaustiveSearch(t *testing.T) {
	t.Parallel()
	candidates := grid()
	for name, m := range map[string]minutes{
		"swing": swinging(),
		"shop":  recorded(t, "shop"),
		"sale":  recorded(t, "tickets", "data"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results, err := backtest.TryAll(t.Context(), m.past(t), candidates, backtest.Options{Lasting: lasting}, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			var slow []outcome
			for i, c := range candidates {
				o := m.slow(c.Set)
				slow = append(slow, o)
				r := results[i]
				same(t, c.Name, "commits", r.CommitsPerDay, o.commits)
				same(t, c.Name, "updates", float64(r.Updates), o.updates)
				same(t, c.Name, "coverage", r.Coverage, o.coverage)
				same(t, c.Name, "worst", r.Worst.Share, o.worst)
				same(t, c.Name, "waste", r.Waste, o.waste)
			}
			taken := map[int]bool{}
			for _, w := range []backtest.Wants{backtest.DefaultWants(), {Coverage: 1, Commits: 24}, {Coverage: 0.95, Commits: 0}, {Coverage: 0.6, Commits: 2}, {Coverage: 1.01, Commits: 1}} {
				got, why := w.Recommend(results)
				want := search(slow, w)
				taken[want] = true
				if got != want {
					t.Errorf("%+v: %s (%s), the search takes %s", w, candidates[got].Name, why, candidates[want].Name)
				}
				t.Logf("%+v: %s: %s", w, candidates[got].Name, why)
			}
			if len(taken) < 2 {
				t.Error("whatever is wanted, it is the same: nothing was compared")
			}
			for i, on := range backtest.Front(results) {
				if on != undominated(slow, i) {
					t.Errorf("%s: on the front %v", candidates[i].Name, on)
				}
			}
		})
	}
}

func same(t *testing.T, name, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: %s is %v, played minute by minute %v", name, what, got, want)
	}
}

// search compares all outcomes. A candidate that violates a condition is worse than any
// candidate that does not. It rounds figures, because the order of additions may change a
// sum.
func search(all []outcome, w backtest.Wants) int {
	enough, quiet := false, false
	for _, o := range all {
		enough = enough || o.worst >= w.Coverage
		quiet = quiet || o.worst >= w.Coverage && o.commits <= w.Commits
	}
	best, cost := -1, [3]float64{}
	for i, o := range all {
		waste, commits, lack := math.Round(o.waste*1e6), math.Round(o.commits*1e6), math.Round((1-o.worst)*1e9)
		this := [3]float64{lack, waste, commits}
		switch {
		case quiet && o.worst >= w.Coverage && o.commits <= w.Commits:
			this = [3]float64{waste, commits, lack}
		case quiet:
			continue
		case enough && o.worst >= w.Coverage:
			this = [3]float64{commits, waste, lack}
		case enough:
			continue
		}
		less := this[0] < cost[0] || this[0] == cost[0] && this[1] < cost[1] || this[0] == cost[0] && this[1] == cost[1] && this[2] < cost[2]
		if best < 0 || less {
			best, cost = i, this
		}
	}
	return best
}

func undominated(all []outcome, i int) bool {
	const tiny = 1e-6
	for j, o := range all {
		by := []float64{all[i].commits - o.commits, o.worst - all[i].worst, all[i].waste - o.waste}
		worse, better := false, false
		for _, d := range by {
			worse, better = worse || d < -tiny, better || d > tiny
		}
		if better && !worse || j < i && !better && !worse {
			return false
		}
	}
	return true
}
