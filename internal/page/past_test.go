package page_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// pages returns a page of each kind, of a usual size.
func pages(t *testing.T) map[string][]byte {
	return map[string][]byte{"drill": drilled(t, site(212)), "failed drill": drilled(t, failing()), "crowded drill": drilled(t, crowded()), "backtest": backtested(t, tried(24))}
}

// tried returns a backtest of the given number of policies, at least 13, over 30 days.
func tried(policies int) backtest.Document {
	from := noon.Add(-30 * 24 * time.Hour)
	d := backtest.Document{
		Document: term.DocumentOf("Backtest"), From: from, To: noon, Workloads: 214, Samples: 1_848_960, Step: "5m0s", Period: "5m0s", Lasting: "10m0s",
		Wants: backtest.Wants{Coverage: 0.95, Commits: 4}, Recommended: "R10 up 26h 10%",
		Why: "the least waste of the policies that cover 95 % of each replica count that lasted with at most 4 commits per day",
	}
	series, holds := []string{"1-2-5", "R5", "R10", "tens", "decades"}, []string{"0h", "26h", "8d"}
	for i := range policies {
		s, h, round := series[i%5], holds[(i/5)%3], []string{"up", "nearest"}[(i/15)%2]
		steps := map[string]float64{"1-2-5": 6, "R5": 10, "R10": 19, "tens": 34, "decades": 2}[s]
		quiet := map[string]float64{"0h": 1, "26h": 0.083, "8d": 0.012}[h]
		waste := (0.9/math.Sqrt(steps) + 0.05) * map[string]float64{"0h": 1, "26h": 2.6, "8d": 3.4}[h]
		worst := 1.0
		if round == "nearest" {
			waste, worst = waste*0.6, 1-0.9/steps
		}
		c := backtest.Tried{
			Name:   fmt.Sprintf("%s %s %s 10%%", s, round, h),
			Policy: backtest.Rules{Series: s, Round: round, HoldUp: 2, HoldDown: map[string]string{"0h": "0s", "26h": "26h0m0s", "8d": "192h0m0s"}[h], Margin: 0.1},
			Result: backtest.Result{Days: 30,
				CommitsPerDay: steps * quiet, Commits: int(30 * steps * quiet), Updates: int(41 * steps * quiet), Firsts: 1, Declared: 214,
				Coverage: (1 + worst) / 2, Waste: waste * 1e6, Need: 1e6,
				Worst: backtest.Worst{Share: worst, Workload: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}, At: noon, Need: 1000, Declared: int32(1000 * worst)}},
		}
		c.Recommended = c.Name == d.Recommended
		d.Candidates = append(d.Candidates, c)
	}
	for i, c := range d.Candidates {
		front := true
		for _, o := range d.Candidates {
			no := o.CommitsPerDay <= c.CommitsPerDay && o.Waste <= c.Waste && o.Worst.Share >= c.Worst.Share
			front = front && !(no && (o.CommitsPerDay < c.CommitsPerDay || o.Waste < c.Waste || o.Worst.Share > c.Worst.Share))
		}
		d.Candidates[i].Front = front
	}
	d.Pictures = drawn(policies)
	return d
}

// drawn returns pictures of three workloads that swing each day, for the given number
// of policies. One workload was not observed for two days.
func drawn(policies int) *backtest.Pictures {
	const buckets = 480
	p := &backtest.Pictures{BucketSeconds: 5400, Buckets: buckets, Workloads: []string{"shop/deployment/web", "search/statefulset/index", "media/deployment/images"}, OtherWorkloads: 211}
	need := func(w, bucket int) float64 {
		peak := []float64{1000, 60, 240}[w]
		week := 1 - 0.4*math.Max(0, math.Sin(2*math.Pi*float64(bucket)/112))
		return peak * week * (0.55 - 0.45*math.Cos(2*math.Pi*float64(bucket)/16))
	}
	for w := range p.Workloads {
		var l backtest.Line
		for b := range int32(buckets) {
			if w == 2 && b >= 200 && b < 232 {
				if b == 200 {
					l = append(l, [3]int32{b, -1, -1})
				}
				continue
			}
			v := need(w, int(b))
			l = append(l, [3]int32{b, int32(v * 0.9), int32(math.Ceil(v * 1.06))})
		}
		p.Needs = append(p.Needs, l)
	}
	for i := range policies {
		var levels []backtest.Line
		for w := range p.Workloads {
			var l backtest.Line
			last := int32(0)
			for b := range int32(buckets) {
				peak := 0.0
				for back := range []int{1, 17, 120}[i/5%3] {
					peak = max(peak, need(w, max(0, int(b)-back)))
				}
				level := levelFor(int32(math.Ceil(peak * 1.06)))
				if level != last {
					l = append(l, [3]int32{b, level, level})
				}
				last = level
			}
			levels = append(levels, l)
		}
		p.Levels = append(p.Levels, levels)
	}
	return p
}
