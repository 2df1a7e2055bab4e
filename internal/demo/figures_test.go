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

func TestWorstCoverage(t *testing.T) {
	t.Parallel()
	const hold = 10 * time.Minute
	unready := func(desired, ready int32) traces.State {
		return traces.State{Desired: desired, Ready: ready, Updated: desired, Revision: 1}
	}
	for name, c := range map[string]struct {
		states map[int]traces.State
		levels map[int]int32
		want   float64
	}{
		"all that is needed":                      {map[int]traces.State{0: calm(80)}, map[int]int32{0: 100}, 1.25},
		"nothing declared":                        {map[int]traces.State{0: calm(80)}, nil, 0},
		"a need that does not last the hold":      {map[int]traces.State{0: calm(80), 30: calm(200), 40: calm(80)}, map[int]int32{0: 100}, 1.25},
		"a need that lasts longer":                {map[int]traces.State{0: calm(80), 30: calm(200), 41: calm(80)}, map[int]int32{0: 100}, 0.5},
		"followed within the hold":                {map[int]traces.State{0: calm(80), 30: calm(200)}, map[int]int32{0: 100, 40: 200}, 1},
		"followed a minute late":                  {map[int]traces.State{0: calm(80), 30: calm(200)}, map[int]int32{0: 100, 41: 200}, 0.5},
		"the least of the hold is the need":       {map[int]traces.State{0: calm(80), 30: calm(200), 35: calm(125), 36: calm(200), 45: calm(80)}, map[int]int32{0: 100}, 0.8},
		"not ready, so not healthy":               {map[int]traces.State{0: calm(80), 30: unready(200, 179), 60: calm(80)}, map[int]int32{0: 100}, 1.25},
		"ready enough":                            {map[int]traces.State{0: calm(80), 30: unready(200, 180), 60: calm(80)}, map[int]int32{0: 100}, 0.5},
		"rolling out is no excuse":                {map[int]traces.State{0: calm(80), 30: {Desired: 200, Ready: 200, Updated: 50, Old: 200, Revision: 2}}, map[int]int32{0: 100}, 0.5},
		"a blind autoscaler is no excuse":         {map[int]traces.State{0: calm(80), 30: {Desired: 200, Ready: 200, Updated: 200, Revision: 1, Note: traces.Blind}}, map[int]int32{0: 100}, 0.5},
		"a spec not looked at yet is not known":   {map[int]traces.State{0: calm(80), 30: {Desired: 200, Ready: 200, Updated: 200, Revision: 1, Note: traces.Unobserved}}, map[int]int32{0: 100}, 1.25},
		"no pods need nothing":                    {map[int]traces.State{0: calm(0), 60: calm(10)}, map[int]int32{69: 10}, 1},
		"what is lowered below a need is counted": {map[int]traces.State{0: calm(80)}, map[int]int32{0: 100, 50: 50}, 0.625},
	} {
		day := one(c.states)
		got := WorstCoverage(day, declared(c.levels), hold, dayOf(day))
		if math.Abs(got.Share-c.want) > 1e-9 {
			t.Errorf("%s: got %+v, want %v", name, got, c.want)
		}
	}
}

func TestCoverageLooksBackBeyondItsSpan(t *testing.T) {
	t.Parallel()
	day := one(map[int]traces.State{0: calm(80), 55: calm(200)})
	got := WorstCoverage(day, declared(map[int]int32{0: 100}), 10*time.Minute, Span{time.Hour, time.Hour + 6*time.Minute})
	if got.Share != 0.5 || got.At != 65*time.Minute {
		t.Errorf("got %+v, want half, from 10 minutes after the raise", got)
	}
}

func TestANeedCountsFromTheEndOfTheHold(t *testing.T) {
	t.Parallel()
	const hold, from = 10 * time.Minute, time.Hour
	day := one(map[int]traces.State{0: calm(0), 60: calm(10)})
	for late, want := range map[time.Duration]float64{0: 1, grain: 0} {
		h := History{{{At: from + hold + late, Level: 10}}}
		if got := WorstCoverage(day, h, hold, dayOf(day)); got.Share != want {
			t.Errorf("declared %s after the hold: got %+v, want %v", late, got, want)
		}
	}
}

func TestChangesPerCommitCountsBothWithinTheSpan(t *testing.T) {
	t.Parallel()
	day := one(map[int]traces.State{0: calm(1), 10: calm(2), 60: calm(3), 61: {Desired: 3, Ready: 2, Updated: 3, Revision: 1}, 70: calm(4), 80: calm(3), 90: calm(9)})
	span := Span{time.Hour, 2 * time.Hour}
	for name, c := range map[string]struct {
		commits []time.Duration
		want    float64
	}{
		"none":          {nil, 4},
		"two":           {[]time.Duration{time.Hour, 90 * time.Minute}, 2},
		"one is before": {[]time.Duration{59 * time.Minute, 90 * time.Minute}, 4},
	} {
		if got := ChangesPerCommit(day, c.commits, span); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestWorstMomentIsWhenMostIsMissing(t *testing.T) {
	t.Parallel()
	day := one(map[int]traces.State{0: calm(80), 30: calm(1000), 60: calm(100)})
	got := WorstMoment(day, declared(map[int]int32{0: 100, 40: 500}), dayOf(day))
	want := Rebuild{
		At: 30 * time.Minute, Needed: 1000,
		Manifests:  Outcome{Created: 2, Met: 2, Short: 1, Rounds: 9, Seconds: 570},
		Checkpoint: Outcome{Created: 100, Met: 100, Short: 1, Rounds: 4, Seconds: 270},
		Furthest:   Behind{day.Workloads[0].ID, 1000, 2, 100},
	}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
