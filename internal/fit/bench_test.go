package fit_test

import (
	"fmt"
	"testing"

	"github.com/gitlatch/gitlatch/internal/fit"
)

// large returns 5,000 workloads with a spread by zone, and NodePools that have limits.
func large() ([]fit.Ask, fit.Room) {
	var asks []fit.Ask
	for i := range 5000 {
		name := fmt.Sprintf("app-%d", i)
		asks = append(asks, ask(name, int32(2+i%17), int64(50+i*37%1950), int64(1+i%5), func(a *fit.Ask) {
			a.Rules = []fit.Rule{
				{Kind: fit.Spread, Key: fit.Zone, Skew: 1, Soft: i%3 > 0, Peers: fit.Term{in("app", name)}},
				{Kind: fit.Apart, Key: fit.Hostname, Soft: i%2 > 0, Peers: fit.Term{in("app", name)}},
			}[:i%3]
		}))
	}
	var shapes []fit.Shape
	for _, family := range []string{"c6i", "m6i", "r6i", "c7i", "m7i", "r7i"} {
		for size := int64(2); size <= 64; size *= 2 {
			shapes = append(shapes, shape(fmt.Sprint(family, size), "amd64", size, size*map[byte]int64{'c': 2, 'm': 4, 'r': 8}[family[0]], 58))
		}
	}
	return asks, fit.Room{Pools: []fit.Pool{
		{Name: "a", Weight: 10, Shapes: shapes, Limits: fit.Resources{fit.CPU: 20000000}},
		{Name: "b", Shapes: shapes, Limits: fit.Resources{fit.CPU: 100000000}},
	}, Nodes: nodes(6, "")}
}

func BenchmarkJudge(b *testing.B) {
	asks, room := large()
	b.ReportAllocs()
	for b.Loop() {
		a := fit.Judge(asks, room)
		b.ReportMetric(float64(a.Pods), "pods")
		b.ReportMetric(float64(a.Nodes), "nodes")
		if a.Verdict != fit.Fits {
			b.Fatal(a.Verdict, a.Limit, a.Remedy)
		}
	}
}
