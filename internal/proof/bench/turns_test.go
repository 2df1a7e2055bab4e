package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/kube"
)

// A cost is what a run took: of the clock, and of this process's CPU.
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

// turns lets runs take turns, so many times after one that does not count, and
// returns the median of each: of what disturbs the machine all have their share.
func turns(t testing.TB, times int, runs ...func()) []cost {
	t.Helper()
	return turnsAfter(t, func() {}, times, runs...)
}

// turnsAfter is turns with something before each run that does not count.
func turnsAfter(t testing.TB, before func(), times int, runs ...func()) []cost {
	t.Helper()
	all := make([][]cost, len(runs))
	for n := range times + 1 {
		for i, run := range runs {
			before()
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

// scaled is a number of objects at the size that is measured.
func scaled(n int) int { return max(1, int(float64(n)**size)) }

// A build that does its work four times is seen as slower, by the same turns that
// figures are made of.
func TestASlowedDownBuildIsSeen(t *testing.T) {
	t.Parallel()
	server := canned(t, 2000)
	sampler, err := kube.New(&rest.Config{Host: server.URL, QPS: -1}, kube.Options{Site: "prod", Clock: time.Now})
	must(t, err)
	look := func(n int) func() {
		return func() {
			for range n {
				fleet, err := sampler.Sample(context.Background(), nil)
				if err != nil || len(fleet.Samples) != 2000 {
					t.Fatalf("%d samples, unread %q: %v", len(fleet.Samples), fleet.Unread, err)
				}
			}
		}
	}
	drain := func() { must(t, drained(context.Background(), http.DefaultClient, server.URL)) }
	costs := turns(t, 5, look(1), look(4), drain)
	ours, slowed := ratio(costs[0].clock, costs[2].clock), ratio(costs[1].clock, costs[2].clock)
	if slowed < 2*ours {
		t.Errorf("a look is %.2f of draining the same, and one that works four times is %.2f", ours, slowed)
	}
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(max(1, b)) }
