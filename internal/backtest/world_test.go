package backtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var (
	monday = time.Date(2026, 9, 14, 0, 0, 0, 0, time.UTC)
	web    = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	api    = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "api"}
)

// of returns a past with samples.
func of(t *testing.T, all map[workload.ID][]backtest.Sample) *backtest.Past {
	t.Helper()
	p := &backtest.Past{}
	for id, samples := range all {
		for _, s := range samples {
			if err := p.Add(id, "test", s); err != nil {
				t.Fatal(err)
			}
		}
	}
	return p
}

// every returns samples with the given numbers of pods, starting at a time.
func every(step time.Duration, from time.Time, counts ...int32) []backtest.Sample {
	var all []backtest.Sample
	for i, n := range counts {
		all = append(all, backtest.Sample{At: from.Add(time.Duration(i) * step), Pods: n})
	}
	return all
}

// times returns n times the same number.
func times(n int, count int32) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = count
	}
	return all
}

func series(t *testing.T, name string) policy.Series {
	t.Helper()
	s, err := policy.ParseSeries(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cope returns the default policy with the series 1-2-5 as a candidate.
func cope() backtest.Candidate {
	c := backtest.Candidate{Name: "cope", Set: policy.DefaultSet()}
	c.Set.Default.Series = policy.OneTwoFive
	return c
}

// grid returns candidates with all combinations of some series, roundings, windows and
// margins.
func grid() (all []backtest.Candidate) {
	for _, series := range []policy.Series{policy.OneTwoFive, policy.Steps, policy.Tens} {
		for _, round := range []policy.Rounding{policy.RoundUp, policy.RoundNearest, policy.RoundHeadroom} {
			for _, hold := range []time.Duration{0, 26 * time.Hour} {
				for _, margin := range []float64{0, 0.1} {
					c := backtest.Candidate{Name: fmt.Sprint(series, round, hold, margin), Set: policy.DefaultSet()}
					p := &c.Set.Default
					p.Series, p.Round = series, round
					p.HoldDown, p.Margin = hold, margin
					all = append(all, c)
				}
			}
		}
	}
	return all
}
