package page_test

import (
	"math"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/term"
)

// documents returns a page of each kind, of a usual size.
func documents(t *testing.T) map[string][]byte {
	cut := site(30)
	cut.Cut, cut.Unread, cut.Problems = 3, []string{"statefulsets: forbidden"}, []string{"line 7: not a number"}
	for i := range cut.Workloads {
		if r := cut.Workloads[i].Rollout; r != nil {
			r.ByItself = false
		}
	}
	return map[string][]byte{"drill": drilled(t, site(212)), "failed drill": drilled(t, failing()), "crowded drill": drilled(t, crowded()), "cut drill": drilled(t, cut), "backtest": backtested(t, tried())}
}

// tried returns a backtest of three policies over 30 days, with a workload that swings
// each day and was not observed for two days.
func tried() backtest.Report {
	from := noon.Add(-30 * 24 * time.Hour)
	r := backtest.Report{
		Document: term.DocumentOf("Backtest"), From: from, To: noon, Workloads: 214, Samples: 1_848_960, Step: "5m0s", Period: "5m0s",
		Plot: term.Plot{Title: "shop/web by prod-eu", To: 30 * 24 * time.Hour, Every: 7 * 24 * time.Hour},
	}
	for i, name := range []string{"hourly job", "prod-eu", "/home/me/gitops/gitlatch-with-a-long-name.yaml", "closest"} {
		worst := backtest.Rebuild{At: noon.Add(-time.Duration(i) * 50 * time.Hour), Needed: 1000, Created: 1100, Met: 700 + 70*int64(i)}
		r.Policies = append(r.Policies, backtest.Row{Name: name, Days: 28, CommitsPerDay: 23.4 / float64(1+i), Commits: 700 / (1 + i), Levels: 214 - i/3,
			Coverage: &backtest.Coverage{Worst: worst, Mean: 0.9 + 0.03*float64(i), Below: 12345 / float64(1+i), Surplus: 0.1 * float64(i)}})
	}
	for bucket := range 2880 {
		at := time.Duration(bucket) * 15 * time.Minute
		need := math.Ceil(1000 * (0.55 - 0.45*math.Cos(2*math.Pi*float64(bucket)/96)))
		if bucket > 1200 && bucket < 1392 {
			need = 0
		}
		r.Plot.Scale = append(r.Plot.Scale, term.Point{At: at, Value: need})
		if bucket > 0 {
			r.Plot.Level = append(r.Plot.Level, term.Point{At: at, Value: 200 + 800*math.Min(1, float64(bucket)/48)})
		}
	}
	return r
}
