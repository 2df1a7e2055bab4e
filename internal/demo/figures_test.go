package demo

import (
	"math"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// one returns a trace of one workload, two hours long. states has its states by the
// minute in which they start.
func one(states map[int]traces.State) *traces.Trace {
	t := &traces.Trace{
		Length:    2 * time.Hour,
		Workloads: []traces.Workload{{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}, Driver: workload.DrivenByHPA, Min: 2, Max: 1000, Manifest: 2}},
		Changes:   [][]traces.Change{nil},
	}
	for minute := range 120 {
		if s, ok := states[minute]; ok {
			t.Changes[0] = append(t.Changes[0], traces.Change{At: time.Duration(minute) * time.Minute, State: s})
		}
	}
	return t
}

func calm(n int32) traces.State { return traces.State{Desired: n, Ready: n, Updated: n, Revision: 1} }

func declared(levels map[int]int32) History {
	var steps []Step
	for minute := range 120 {
		if l, ok := levels[minute]; ok {
			steps = append(steps, Step{time.Duration(minute) * time.Minute, l})
		}
	}
	return History{steps}
}

func TestFiguresOfAHistory(t *testing.T) {
	t.Parallel()
	day := one(map[int]traces.State{0: calm(80), 30: calm(1000), 40: calm(800), 60: calm(100)})
	p, err := past(day)
	if err != nil {
		t.Fatal(err)
	}
	got := rebuilds(day, p, "history", declared(map[int]int32{0: 100, 40: 500}))
	c := got.Coverage
	if want := (backtest.Rebuild{At: day.Start.Add(30 * time.Minute).UTC(), Needed: 1000, Created: 100, Met: 100}); c.Worst != want {
		t.Errorf("worst %+v, want %+v", c.Worst, want)
	}
	for _, f := range []struct {
		name      string
		got, want float64
	}{
		{"the mean", c.Mean, (30 + 10*0.1 + 20*0.625 + 60) / 120},
		{"the minutes below 95 %", c.Below, 30},
		{"the surplus", c.Surplus, (30*20 + 60*400.0) / (30*80 + 10*1000 + 20*800 + 60*100)},
		{"the days", got.Days, 2.0 / 24},
		{"the commits a day", got.CommitsPerDay, 12},
	} {
		if math.Abs(f.got-f.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", f.name, f.got, f.want)
		}
	}
}

func TestARebuildWithoutALevelUsesTheManifest(t *testing.T) {
	t.Parallel()
	day := one(map[int]traces.State{0: calm(80)})
	p, err := past(day)
	if err != nil {
		t.Fatal(err)
	}
	if got := rebuilds(day, p, "manifests", History{nil}); got.Coverage.Mean != 2.0/80 || got.Commits != 0 {
		t.Errorf("%+v %+v", got, got.Coverage)
	}
}
