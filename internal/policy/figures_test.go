package policy_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An autoscaler follows a need like the HPA. It ignores a deviation within its tolerance,
// and lowers only to the highest recommendation of its window.
type autoscaler struct {
	current int32
	recent  []int32 // recommendations, one a minute
	changes int
}

const (
	tolerance = 0.1
	window    = 5 // minutes

	least, most = 1, 1000 // its minimum and maximum
)

func (a *autoscaler) follow(need float64) {
	recommended := a.current
	if math.Abs(need/float64(a.current)-1) > tolerance {
		recommended = min(most, max(least, int32(math.Ceil(need))))
	}
	a.recent = append(a.recent, recommended)
	a.recent = a.recent[max(0, len(a.recent)-window):]
	highest := recommended
	for _, r := range a.recent {
		highest = max(highest, r)
	}
	next := min(highest, max(a.current, recommended))
	if next != a.current {
		a.changes++
	}
	a.current = next
}

// The measurements behind the choice of the default: commits a day over a fortnight that
// starts at the trough. The workload swings between 100 and 1,000 pods daily (far enough
// below 100 for the margin), with 5 % noise. Without hold.down, each swing commits each
// level twice. With hold.down, only the rise of the first day causes commits.
func TestADailySwingCostsWhatTheSeriesSays(t *testing.T) {
	t.Parallel()
	tests := []struct {
		series      string
		plain, held float64
	}{
		{"decades", 2, 0.1},
		{"1-2-5", 6, 0.2},
		{"steps", 25, 1},
		{"tens", 34, 1.7},
	}
	for _, tt := range tests {
		p := policy.Presets()["cope"]
		p.Series, p.HoldUp, p.HoldDown = series(t, tt.series), 1, 0
		plain, raw := commitsPerDay(p)
		p.HoldDown = 24 * time.Hour
		held, _ := commitsPerDay(p)
		t.Logf("%-8s %5.1f commits/day (%g), %5.2f (%g) with the peak of 24 h held, of %.0f raw changes (47)",
			tt.series, plain, tt.plain, held, tt.held, raw)
		if math.Abs(plain-tt.plain) > 0.3*tt.plain {
			t.Errorf("%s: %.1f commits/day, want about %v", tt.series, plain, tt.plain)
		}
		if math.Abs(held-tt.held) > 0.05+0.2*tt.held {
			t.Errorf("%s: %.2f commits/day with the peak held, want about %v", tt.series, held, tt.held)
		}
		if raw < 38 || raw > 56 {
			t.Errorf("%.0f raw changes a day, want about 47", raw)
		}
	}
}

// commitsPerDay runs a fortnight of samples at intervals of five minutes.
func commitsPerDay(p policy.Policy) (commits, raw float64) {
	const day, days = 24 * 60, 14
	noise := rand.New(rand.NewPCG(seed, 0))
	hpa := &autoscaler{current: 100}
	seen := workload.Scale{Min: least, Max: most}
	l := blank(100, seen)
	look := policy.Look{Now: noon, Period: 5 * time.Minute}
	made := 0
	for minute := range days * day {
		need := 540 - 460*math.Cos(2*math.Pi*float64(minute)/day)
		hpa.follow(need * (1 + 0.05*noise.NormFloat64()))
		if minute%5 > 0 {
			continue
		}
		look.Last, look.Now = look.Now, look.Now.Add(5*time.Minute)
		var d policy.Decision
		seen.Desired = hpa.current
		l, d = policy.Decide(p, l, healthy(seen), look)
		if d.Crosses() {
			l = l.Settled(d.To)
			made++
		}
	}
	return float64(made) / days, float64(hpa.changes) / days
}
