package demo

import (
	"math"
	"testing"
	"time"

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
	got := Summarize(day, declared(map[int]int32{0: 100, 40: 500}), dayOf(day))
	want := Figures{
		Worst:   Rebuild{At: 30 * time.Minute, Needed: 1000, Created: 100, Met: 100},
		Busiest: Rebuild{At: 30 * time.Minute, Needed: 1000, Created: 100, Met: 100},
		Below:   30 * time.Minute,
		Mean:    (30 + 10*0.1 + 20*0.625 + 60) / 120,
	}
	if math.Abs(got.Mean-want.Mean) > 1e-9 {
		t.Errorf("the mean is %v, want %v", got.Mean, want.Mean)
	}
	got.Mean = want.Mean
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestARebuildWithoutALevelUsesTheManifest(t *testing.T) {
	t.Parallel()
	day := one(map[int]traces.State{0: calm(80), 60: calm(1)})
	for at, want := range map[time.Duration]Rebuild{
		0:                {Needed: 80, Created: 2, Met: 2},
		time.Hour:        {At: time.Hour, Needed: 1, Created: 2, Met: 1},
		90 * time.Minute: {At: 90 * time.Minute, Needed: 1, Created: 50, Met: 1},
	} {
		if got := rebuild(day, declared(map[int]int32{61: 50}), at); got != want {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
}

func TestAnHourlyJobCommitsEachFullHour(t *testing.T) {
	t.Parallel()
	day := one(map[int]traces.State{0: calm(80), 59: calm(1000), 61: calm(10)})
	h, commits := Hourly(day, dayOf(day))
	if commits != 2 || h.At(0, 0) != 80 || h.At(0, time.Hour-grain) != 80 || h.At(0, time.Hour) != 1000 || h.At(0, 2*time.Hour) != 1000 {
		t.Errorf("%d commits of %v", commits, h)
	}
}
