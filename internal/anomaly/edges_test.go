package anomaly_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A stretch is so many looks at one scale, and whether people know of the
// anomaly: after the last of them, or after none.
type stretch struct {
	scale workload.Scale
	looks int
	open  bool
}

// Each threshold from both of its sides: what is just under it begins nothing
// however long it lasts, what is just over it is told at its hold and no look
// before, goes on down to the lower threshold and is over just under that.
func TestEdges(t *testing.T) {
	t.Parallel()
	const long = 40 // looks, more than any hold
	for _, c := range []struct {
		name  string
		kind  alert.Kind
		latch latch.Latch
		looks []stretch
	}{
		{"a quarter is missing", alert.Unrealised, latch.Latch{}, []stretch{{ready(75, 100), long, false}}},
		{"over a quarter is missing, then a tenth", alert.Unrealised, latch.Latch{},
			[]stretch{{ready(74, 100), 12, false}, {ready(74, 100), 1, true}, {ready(89, 100), long, true}, {ready(90, 100), 1, false}}},
		{"the only pod is missing", alert.Unrealised, latch.Latch{}, []stretch{{ready(0, 1), 12, false}, {ready(0, 1), 1, true}, {ready(1, 1), 1, false}}},
		{"one of two", alert.Unrealised, latch.Latch{}, []stretch{{ready(1, 2), 12, false}, {ready(1, 2), 1, true}, {ready(2, 2), 1, false}}},
		{"one of three, then of nine, then of ten", alert.Unrealised, latch.Latch{},
			[]stretch{{ready(2, 3), 12, false}, {ready(2, 3), 1, true}, {ready(8, 9), long, true}, {ready(9, 10), 1, false}}},
		{"one of four", alert.Unrealised, latch.Latch{}, []stretch{{ready(3, 4), long, false}, {ready(2, 4), 13, true}}},
		{"none is asked for", alert.Unrealised, latch.Latch{}, []stretch{{ready(0, 0), long, false}}},

		{"one below the max", alert.Ceiling, latch.Latch{}, []stretch{{loaded(99, 0), long, false}}},
		{"at the max, which is enough", alert.Ceiling, latch.Latch{}, []stretch{{loaded(100, 1.1), long, false}}},
		{"at the max, and asked for more, then for less", alert.Ceiling, latch.Latch{},
			[]stretch{{loaded(100, 1.11), 6, false}, {loaded(100, 1.11), 1, true}, {loaded(100, 0.9), long, true}, {loaded(100, 0.89), 1, false}}},
		{"at the max, and down from it", alert.Ceiling, latch.Latch{},
			[]stretch{{loaded(100, 0), 6, false}, {loaded(100, 0), 1, true}, {loaded(90, 0), long, true}, {loaded(89, 0), 1, false}}},

		{"at zero by an autoscaler that may", alert.Zero, declared(20), []stretch{{idling(workload.DrivenByHPA, 0), long, false}}},
		{"at zero by KEDA, that may", alert.Zero, declared(20), []stretch{{idling(workload.DrivenByKEDA, 0), long, false}}},
		{"at zero below the min", alert.Zero, declared(20),
			[]stretch{{idling(workload.DrivenByHPA, 1), 3, false}, {idling(workload.DrivenByHPA, 1), 1, true}, {ready(1, 1), 1, false}}},
		{"at zero by what writes a count", alert.Zero, declared(20), []stretch{{idling(workload.DrivenByScale, 0), 3, false}, {idling(workload.DrivenByScale, 0), 1, true}}},
		{"at zero, and never declared", alert.Zero, declared(0), []stretch{{idling(workload.DrivenByHPA, 1), long, false}}},

		{"asked for what git accepts", alert.Capped, declared(50), []stretch{{ready(60, 60), long, false}}},
		{"asked for one more than git accepts", alert.Capped, declared(50),
			[]stretch{{ready(61, 61), 1, false}, {ready(61, 61), 1, true}, {ready(60, 60), 1, false}}},
		{"asked for more than git accepts, at no level", alert.Capped, declared(0), []stretch{{ready(61, 61), long, false}}},

		{"grown by less than a quarter for no load", alert.NotLoad, latch.Latch{}, []stretch{{loaded(17, 0.5), 1, false}, {loaded(21, 0.5), long, false}}},
		{"grown by a quarter, and by three pods", alert.NotLoad, latch.Latch{}, []stretch{{loaded(12, 0.5), 1, false}, {loaded(15, 0.5), long, false}}},
		{"grown by a quarter and four pods, then a tenth less", alert.NotLoad, latch.Latch{},
			[]stretch{{loaded(16, 0.5), 1, false}, {loaded(20, 0.89), 12, false}, {loaded(20, 0.89), 1, true}, {loaded(18, 0.5), 4, true}, {loaded(17, 0.5), 1, false}}},
		{"grown by a quarter, until there is load for it", alert.NotLoad, latch.Latch{},
			[]stretch{{loaded(16, 0.5), 1, false}, {loaded(20, 0.5), 13, true}, {loaded(20, 0.9), 1, false}}},

		{"three times the pods for its demand", alert.WorkPerRequest, usual(0.01), []stretch{{asked(30, 1000), long, false}}},
		{"more than three times the pods, down to twice", alert.WorkPerRequest, usual(0.01),
			[]stretch{{asked(31, 1000), 3, false}, {asked(31, 1000), 1, true}, {asked(21, 1000), long, true}, {asked(20, 1000), 1, false}}},
		{"nine pods for nothing", alert.WorkPerRequest, usual(0.01), []stretch{{asked(9, 0), long, false}, {asked(10, 0), 3, false}, {asked(10, 0), 1, true}}},

		{"seven turns", alert.Flapping, turned(7), []stretch{{ready(20, 20), long, false}}},
		// The turns were ten minutes apart, the last at noon, and count for two hours.
		{"eight turns, of which four are left, then three", alert.Flapping, turned(8),
			[]stretch{{ready(20, 20), 1, true}, {ready(20, 20), 17, true}, {ready(20, 20), 1, false}}},

		{"fallen to more than a quarter", alert.Collapse, known(), []stretch{{ready(16, 16), 1, false}, {ready(5, 5), long, false}}},
		{"fallen from seven", alert.Collapse, known(), []stretch{{ready(7, 7), 1, false}, {ready(1, 1), long, false}}},
		{"fallen to a quarter, and up to a half", alert.Collapse, known(),
			[]stretch{{ready(16, 16), 1, false}, {ready(4, 4), 2, false}, {ready(4, 4), 1, true}, {ready(8, 8), long, true}, {ready(9, 9), 1, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, now := newSite(), noon
			c.latch.ID = web
			s.latches[web] = c.latch
			for i, of := range c.looks {
				for look := range of.looks {
					one := workload.Sample{ID: web, Scale: &of.scale, Rollout: &workload.Rollout{}}
					s.remember(now, one)
					s.judge(now, one)
					now = now.Add(period)
					open := slices.ContainsFunc(s.open, func(o alert.Open) bool { return o.Kind == c.kind })
					if open && !of.open || !open && of.open && look == of.looks-1 {
						t.Fatalf("stretch %d, look %d: open is %v\n%+v", i, look, s.open, s.latches[web].Watch)
					}
				}
			}
		})
	}
}

func ready(ready, desired int32) workload.Scale {
	return workload.Scale{Desired: desired, Ready: ready, Min: 1, Max: 1000, Driver: workload.DrivenByHPA}
}

// loaded is a scale of at most 100, with the load of its metrics; 0 is unknown.
func loaded(desired int32, load float64) workload.Scale {
	s := ready(desired, desired)
	s.Max, s.Load = 100, load
	return s
}

func idling(driver workload.Driver, least int32) workload.Scale {
	return workload.Scale{Min: least, Max: 1000, Driver: driver}
}

func asked(desired int32, demand float64) workload.Scale {
	s := ready(desired, desired)
	s.Demand = &demand
	return s
}

// declared is a level, and a max of 60 that git accepted.
func declared(level int32) latch.Latch {
	return latch.Latch{Declared: checkpoint.Entry{Replicas: level, Min: 1, Max: 60}}
}

// known is what was watched for a week.
func known() latch.Latch {
	return latch.Latch{Watch: latch.Watch{Since: noon.Add(-7 * 24 * time.Hour)}}
}

// usual is so many pods for a unit of demand, learned long ago.
func usual(per float64) latch.Latch {
	l := known()
	l.Watch.Measured, l.Watch.Usual, l.Watch.Learned = l.Watch.Since, per, noon.Add(-time.Hour)
	return l
}

// turned is so many turns, ten minutes apart, the last of them at noon.
func turned(times int) latch.Latch {
	l := known()
	for i := range times {
		l.Watch.Turns = append(l.Watch.Turns, noon.Add(-time.Duration(times-1-i)*10*time.Minute))
	}
	return l
}
