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

const minutely = time.Minute

// A minutes is a past with a sample of every workload in every minute.
type minutes struct {
	ids  []workload.ID
	pods [][]int32
}

func (m minutes) past(t *testing.T) *backtest.Past {
	all := map[workload.ID][]backtest.Sample{}
	for i, id := range m.ids {
		for minute, n := range m.pods[i] {
			all[id] = append(all[id], backtest.Sample{At: monday.Add(time.Duration(minute) * minutely), Pods: n})
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
			var row []int32
			for at := time.Duration(0); at <= day.Length; at += minutely {
				row = append(row, day.At(i, at).Desired)
			}
			m.ids, m.pods = append(m.ids, w.ID), append(m.pods, row)
		}
	}
	return m
}

func swinging() (m minutes) {
	samples, _ := fortnight()
	var row []int32
	for _, s := range samples {
		for range 5 {
			row = append(row, s.Pods)
		}
	}
	return minutes{[]workload.ID{web}, [][]int32{row[:4*24*60+1]}}
}

// An outcome is the result of a candidate in the slow replay.
type outcome struct{ commits, mean, worst, below, surplus float64 }

// slow runs a candidate minute by minute, without optimizations. It computes the level of
// each workload for each minute, and then the figures.
func (m minutes) slow(set policy.Set) (o outcome) {
	length := len(m.pods[0])
	latches := make([]latch.Latch, len(m.ids))
	levels := make([][]int32, len(m.ids))
	var head latch.Head
	past := map[workload.ID]latch.Latch{}
	var last time.Time
	for minute := range length {
		now := monday.Add(time.Duration(minute) * minutely)
		if minute < length-1 && minute%int(set.Guards.Period/minutely) == 0 {
			scales := map[workload.ID]int32{}
			for i, id := range m.ids {
				scales[id] = m.pods[i][minute]
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
				n := m.pods[i][minute]
				scale := workload.Scale{Desired: n, Ready: n, Driver: workload.DrivenByHPA}
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
	seconds, needed, surplus := 0.0, 0.0, 0.0
	for minute := range length - 1 {
		need, met, created := 0.0, 0.0, 0.0
		for i := range m.ids {
			if level := float64(levels[i][minute]); level > 0 {
				desired := float64(m.pods[i][minute])
				need += desired
				met += math.Min(level, desired)
				created += level
			}
		}
		if created == 0 {
			continue
		}
		share := 1.0
		if need > 0 {
			share = met / need
		}
		seconds++
		needed += need
		surplus += created - met
		o.mean += share
		o.worst = math.Min(o.worst, share)
		if share < 0.95 {
			o.below++
		}
	}
	o.mean /= seconds
	o.surplus = surplus / needed
	return o
}

func TestTheFiguresAreThoseOfASlowReplay(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]minutes{
		"swing": swinging(),
		"shop":  recorded(t, "shop"),
		"sale":  recorded(t, "tickets", "data"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			past := m.past(t)
			for _, c := range grid() {
				r, err := backtest.Try(t.Context(), past, c, nil)
				if err != nil {
					t.Fatal(err)
				}
				o := m.slow(c.Set)
				same(t, c.Name, "commits", float64(r.Commits), o.commits)
				same(t, c.Name, "mean", r.Coverage.Mean, o.mean)
				same(t, c.Name, "worst", r.Coverage.Worst.Share(), o.worst)
				same(t, c.Name, "below", r.Coverage.Below, o.below)
				same(t, c.Name, "surplus", r.Coverage.Surplus, o.surplus)
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
