package bench

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// fits measures the answer for 5,000 workloads: far from every limit, at a limit and above
// it. At a limit, the solver runs again with other choices. Above it, the solver also
// computes the remedy. The figures are the slowest answer and the largest heap.
func fits(t *testing.T, b book) {
	asks, room := placing(int(5000 * *size))
	limited := func(cpus int64) fit.Answer {
		room.Pools[0].Limits = fit.Resources{fit.CPU: cpus}
		return fit.Judge(asks, room)
	}
	need := limited(0).Limit.Need
	var slowest time.Duration
	var largest uint64
	for _, c := range []struct {
		limit   int64
		verdict fit.Verdict
	}{{4 * need, fit.Fits}, {need, fit.Fits}, {need * 9 / 10, fit.DoesNotFit}} {
		start := time.Now()
		var a fit.Answer
		peak := heap(func() { a = limited(c.limit) })
		took := time.Since(start)
		t.Logf("limit %d of %d: %s for %d pods on %d nodes, %s, %.1f MiB", c.limit, need, a.Verdict, a.Pods, a.Nodes, took, float64(peak)/(1<<20))
		if a.Verdict != c.verdict {
			t.Errorf("%s, want %s: %+v", a.Verdict, c.verdict, a.Limit)
		}
		slowest, largest = max(slowest, took), max(largest, peak)
	}
	b.alone("fit_5k_ms", float64(slowest.Microseconds())/1000)
	b.alone("fit_5k_mib", float64(largest)/(1<<20))
}

// heap returns the peak of the heap in bytes while a function runs, above the heap before,
// with garbage that is not collected yet.
func heap(run func()) (peak uint64) {
	read := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	runtime.GC()
	before, done, stopped := read(), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, read())
			}
		}
	}()
	run()
	close(done)
	<-stopped
	return max(peak, read(), before) - before
}

// placing returns workloads and a NodePool of 36 instance types. Some workloads spread over
// zones, and some have their pods on different nodes.
func placing(workloads int) ([]fit.Ask, fit.Room) {
	const gi = 1 << 30
	var asks []fit.Ask
	for i := range workloads {
		name := fmt.Sprintf("app-%d", i)
		peers := fit.Term{{Key: "app", Op: "In", Values: []string{name}}}
		asks = append(asks, fit.Ask{
			Workload: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}, Pods: int32(2 + i%17),
			Labels: map[string]string{"app": name}, Requests: fit.Resources{fit.CPU: int64(50 + i*37%1950), fit.Memory: int64(1+i%5) * gi},
			Rules: []fit.Rule{
				{Kind: fit.Spread, Key: fit.Zone, Skew: 1, Soft: i%3 > 0, Peers: peers},
				{Kind: fit.Apart, Key: fit.Hostname, Soft: i%2 > 0, Peers: peers},
			}[:i%3],
		})
	}
	var shapes []fit.Shape
	for _, family := range []string{"c6i", "m6i", "r6i", "c7i", "m7i", "r7i"} {
		for cpus := int64(2); cpus <= 64; cpus *= 2 {
			memory := cpus * map[byte]int64{'c': 2, 'm': 4, 'r': 8}[family[0]]
			s := fit.Shape{Name: fmt.Sprint(family, cpus), VCPUs: cpus, Interfaces: 3, PerInterface: 10,
				Labels:      map[string]string{fit.Arch: "amd64"},
				Capacity:    fit.Resources{fit.CPU: cpus * 1000, fit.Memory: memory * gi, fit.Pods: 58},
				Allocatable: fit.Resources{fit.CPU: cpus*1000 - 100, fit.Memory: (memory - 1) * gi, fit.Pods: 58}}
			s.Labels[fit.InstanceType] = s.Name
			for _, zone := range []string{"a", "b", "c"} {
				s.Offers = append(s.Offers, fit.Offer{Zone: zone, CapacityType: "on-demand"})
			}
			shapes = append(shapes, s)
		}
	}
	return asks, fit.Room{Pools: []fit.Pool{{Name: "default", Shapes: shapes}}}
}
