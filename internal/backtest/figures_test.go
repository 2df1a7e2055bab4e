package backtest_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// fortnight is what an autoscaler made of a load of 80 to 1,000 pods a day, with
// 2 % noise, looked at every minute: it leaves 10 % alone, and goes down to the
// highest recommendation of five minutes. Sampled every five minutes, from the
// trough on.
func fortnight() (samples []backtest.Sample, changesPerDay float64) {
	const minutes, days = 24 * 60, 14
	noise := rand.New(rand.NewPCG(7, 0))
	current, changes := int32(100), 0
	var recent []int32
	for minute := range days * minutes {
		load := 540 - 460*math.Cos(2*math.Pi*float64(minute)/minutes)
		load *= 1 + 0.02*noise.NormFloat64()
		recommended := current
		if math.Abs(load/float64(current)-1) > 0.1 {
			recommended = min(1000, int32(math.Ceil(load)))
		}
		recent = append(recent, recommended)
		recent = recent[max(0, len(recent)-5):]
		highest := recent[0]
		for _, r := range recent {
			highest = max(highest, r)
		}
		if next := min(highest, max(current, recommended)); next != current {
			current = next
			changes++
		}
		if minute%5 == 0 {
			samples = append(samples, backtest.Sample{At: monday.Add(time.Duration(minute) * time.Minute), Scale: pods(current)})
		}
	}
	return samples, float64(changes) / days
}

// The figures that the choice of the default rests on: 2, 6, 10, 19 and 34
// commits a day, and 0.1 to 1.7 with the peak held.
//
// Levels that are evenly spaced and closer than a step of the autoscaler depend on
// which level a lowering goes to. 34 is a rule that takes the level of the bare
// count once that, with its margin, is under the threshold. A policy takes the
// level of the count with its margin, which the next look may be under again, and
// comes to 43. Both are counted here by eye, too.
func TestTheSinusoidalFigures(t *testing.T) {
	t.Parallel()
	samples, changes := fortnight()
	past := of(t, map[workload.ID][]backtest.Sample{web: samples})
	if changes < 43 || changes > 48 {
		t.Errorf("%.1f raw changes a day, want about 47", changes)
	}
	for _, c := range []struct {
		series        string
		plain, within float64
		held          float64
	}{
		{"decades", 2, 0.5, 0.1},
		{"1-2-5", 6, 0.5, 0.2},
		{"R5", 10, 0.5, 0.4},
		{"R10", 19, 1.2, 0.7}, // 20 levels, unless one step of the autoscaler passes a level
		{"tens", 43, 0.5, 1.7},
	} {
		set := policy.DefaultSet()
		set.Guards.CommitsPerDay = 1000
		p := &set.Default
		p.Series, p.HoldUp, p.HoldDown = series(t, c.series), 1, 0
		plain, _ := backtest.Try(past, backtest.Candidate{Set: set}, backtest.Options{})
		p.HoldDown = 24 * time.Hour
		held, _ := backtest.Try(past, backtest.Candidate{Set: set}, backtest.Options{})
		t.Logf("%-8s %5.2f commits/day, %.2f with the peak of 24 h held, of %.1f raw changes", c.series, plain.CommitsPerDay(), held.CommitsPerDay(), changes)
		if math.Abs(plain.CommitsPerDay()-c.plain) > c.within {
			t.Errorf("%s: %.2f commits a day, want %v", c.series, plain.CommitsPerDay(), c.plain)
		}
		if math.Abs(held.CommitsPerDay()-c.held) > 0.1 {
			t.Errorf("%s: %.2f commits a day with the peak held, want %v", c.series, held.CommitsPerDay(), c.held)
		}
		if held.Commits >= plain.Commits || held.Waste <= plain.Waste || plain.Coverage < 0.999 || plain.Worst.Share < 1 {
			t.Errorf("%s: held %+v, plain %+v", c.series, held, plain)
		}
	}
	if withMargin, bare := countTens(samples); math.Abs(withMargin-43) > 0.5 || math.Abs(bare-34) > 3.5 {
		t.Errorf("multiples of 10, by eye: %.1f commits a day, %.1f to the bare count; want 43, and about 34", withMargin, bare)
	}
}

// countTens counts, in as few lines as it takes, the commits a day of multiples of
// ten with a margin of 10 %: lowered to the level with the margin, and to that of
// the bare count.
func countTens(samples []backtest.Sample) (withMargin, bare float64) {
	level := func(n int32) int32 { return (n + 9) / 10 * 10 }
	margin := func(n int32) int32 { return (11*n + 99) / 100 * 10 }
	a, b := level(samples[0].Scale.Desired), level(samples[0].Scale.Desired)
	for _, s := range samples {
		n := s.Scale.Desired
		if level(n) > a || margin(n) < a {
			if level(n) > a {
				a = level(n)
			} else {
				a = margin(n)
			}
			withMargin++
		}
		if level(n) > b || margin(n) < b {
			b = level(n)
			bare++
		}
	}
	return withMargin / 14, bare / 14
}
