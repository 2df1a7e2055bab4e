package bench

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A cost is the cost of a run: wall-clock time, and this process's CPU time.
type cost struct{ clock, cpu time.Duration }

// took measures a run.
func took(t testing.TB, run func()) cost {
	t.Helper()
	before, began := cpu(t), time.Now()
	run()
	return cost{time.Since(began), cpu(t) - before}
}

func cpu(t testing.TB) time.Duration {
	t.Helper()
	var used syscall.Rusage
	must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// turns lets runs take turns, after one turn that does not count, and returns the
// median of each run. So a disturbance of the machine affects all runs.
func turns(t testing.TB, times int, runs ...func()) []cost {
	t.Helper()
	all := make([][]cost, len(runs))
	for n := range times + 1 {
		for i, run := range runs {
			if c := took(t, run); n > 0 {
				all[i] = append(all[i], c)
			}
		}
	}
	medians := make([]cost, len(runs))
	for i, costs := range all {
		medians[i].clock = median(costs, func(c cost) time.Duration { return c.clock })
		medians[i].cpu = median(costs, func(c cost) time.Duration { return c.cpu })
	}
	return medians
}

func median(costs []cost, of func(cost) time.Duration) time.Duration {
	var all []time.Duration
	for _, c := range costs {
		all = append(all, of(c))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3g s", d.Seconds()) }

// scaled returns a number of objects for the measured size.
func scaled(n int) int { return max(1, int(float64(n)**size)) }

// A build that does its work four times has four times the ratio, also if the machine is
// disturbed during one turn. The clock is that of a bubble, so that a busy machine cannot
// fail the test.
func TestASlowedDownBuildIsSeen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := 0
		work := func(n int) func() {
			return func() {
				started++
				time.Sleep(time.Duration(n) * time.Second)
				if started == 8 || started == 9 {
					time.Sleep(time.Minute)
				}
			}
		}
		costs := turns(t, 5, work(1), work(4), work(1))
		ours, slowed := ratio(costs[0].clock, costs[2].clock), ratio(costs[1].clock, costs[2].clock)
		if ours != 1 || slowed != 4 {
			t.Errorf("the ratio is %.2f, and %.2f for a build that works four times", ours, slowed)
		}
	})
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }
