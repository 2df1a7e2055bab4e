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

// A stretch is a number of samples of one scale. open is true if the condition is open
// after the last of them, and false if it is open after no sample.
type stretch struct {
	scale workload.Scale
	looks int
	open  bool
}

// A scale just below a threshold raises nothing, however long it lasts. A scale just above
// it raises the condition at the sample that ends the hold, and not before. The condition
// lasts down to the lower threshold, and is over just below.
func TestEdges(t *testing.T) {
	t.Parallel()
	const long = 40 // samples, longer than any hold
	for _, c := range []struct {
		name  string
		kind  alert.Kind
		latch latch.Latch
		looks []stretch
	}{
		{"at zero by an autoscaler that may", alert.Zero, declared(20), []stretch{{idling(workload.DrivenByHPA, 0), long, false}}},
		{"at zero by KEDA, that may", alert.Zero, declared(20), []stretch{{idling(workload.DrivenByKEDA, 0), long, false}}},
		{"at zero below the min", alert.Zero, declared(20),
			[]stretch{{idling(workload.DrivenByHPA, 1), 3, false}, {idling(workload.DrivenByHPA, 1), 1, true}, {pods(1), 1, false}}},
		{"at zero by what writes a count", alert.Zero, declared(20), []stretch{{idling(workload.DrivenByScale, 0), 3, false}, {idling(workload.DrivenByScale, 0), 1, true}}},
		{"at zero, and never declared", alert.Zero, declared(0), []stretch{{idling(workload.DrivenByHPA, 1), long, false}}},

		{"asked for what git accepts", alert.Capped, declared(50), []stretch{{pods(60), long, false}}},
		{"asked for one more than git accepts", alert.Capped, declared(50),
			[]stretch{{pods(61), 1, false}, {pods(61), 1, true}, {pods(60), 1, false}}},
		{"asked for more than git accepts, at no level", alert.Capped, declared(0), []stretch{{pods(61), long, false}}},

		{"written by a user as the metrics ask", alert.Override, latch.Latch{},
			[]stretch{{written(50, 0.9), long, false}, {written(50, 1.1), long, false}}},
		{"written by a user, and the metrics ask for fewer", alert.Override, latch.Latch{},
			[]stretch{{written(50, 0.89), 1, false}, {written(50, 0.89), 1, true}, {written(50, 0.9), 1, false}}},
		{"written by a user, and the metrics ask for more", alert.Override, latch.Latch{},
			[]stretch{{written(99, 1.11), 1, false}, {written(99, 1.11), 1, true}, {written(100, 1.11), 1, false}}},
		{"written by a user without a maximum, and the metrics ask for more", alert.Override, latch.Latch{},
			[]stretch{{unlimited(written(99, 1.11)), 1, false}, {unlimited(written(99, 1.11)), 1, true}}},

		{"grown by less than a quarter for no load", alert.NotLoad, latch.Latch{}, []stretch{{loaded(17, 0.5), 1, false}, {loaded(21, 0.5), long, false}}},
		{"grown by a quarter, and by three pods", alert.NotLoad, latch.Latch{}, []stretch{{loaded(12, 0.5), 1, false}, {loaded(15, 0.5), long, false}}},
		{"grown from zero", alert.NotLoad, latch.Latch{}, []stretch{{loaded(16, 0.5), 1, false}, {loaded(0, 0.5), 1, false}, {loaded(20, 0.5), long, false}}},
		{"grown by a quarter and four pods, then a tenth less", alert.NotLoad, latch.Latch{},
			[]stretch{{loaded(16, 0.5), 1, false}, {loaded(20, 0.89), 12, false}, {loaded(20, 0.89), 1, true}, {loaded(18, 0.5), 4, true}, {loaded(17, 0.5), 1, false}}},
		{"grown by a quarter, until there is load for it", alert.NotLoad, latch.Latch{},
			[]stretch{{loaded(16, 0.5), 1, false}, {loaded(20, 0.5), 13, true}, {loaded(20, 0.9), 1, false}}},

		{"three times the pods for its demand", alert.WorkPerRequest, usual(0.01), []stretch{{asked(30, 1000), long, false}}},
		{"more than three times the pods, down to twice", alert.WorkPerRequest, usual(0.01),
			[]stretch{{asked(31, 1000), 3, false}, {asked(31, 1000), 1, true}, {asked(21, 1000), long, true}, {asked(20, 1000), 1, false}}},
		{"four times the pods in the first 26 hours, which become usual", alert.WorkPerRequest, since(26*time.Hour-time.Second, usual(0.01)), []stretch{{asked(40, 1000), long, false}}},
		{"four times the pods after the first 26 hours", alert.WorkPerRequest, since(26*time.Hour, usual(0.01)), []stretch{{asked(40, 1000), 3, false}, {asked(40, 1000), 1, true}}},
		{"twice the pods of last week, and four times those of this week", alert.WorkPerRequest, usual(0.01),
			[]stretch{{asked(20, 1000), long, false}, {asked(10, 2000), 7 * 25 * 12, false}, {asked(20, 1000), 3, false}, {asked(20, 1000), 1, true}}},
		{"nine pods for nothing", alert.WorkPerRequest, usual(0.01), []stretch{{asked(9, 0), long, false}, {asked(10, 0), 3, false}, {asked(10, 0), 1, true}}},
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

func pods(desired int32) workload.Scale {
	return workload.Scale{Desired: desired, Ready: desired, Min: 1, Max: 1000, Driver: workload.DrivenByHPA}
}

// loaded is a scale of at most 100, with the load of its metrics; 0 is unknown.
func loaded(desired int32, load float64) workload.Scale {
	s := pods(desired)
	s.Max, s.Load = 100, load
	return s
}

// written is a scale that a user wrote.
func written(desired int32, load float64) workload.Scale {
	s := loaded(desired, load)
	s.Hand = "kubectl"
	return s
}

// unlimited is a scale without a maximum.
func unlimited(s workload.Scale) workload.Scale {
	s.Max = 0
	return s
}

func idling(driver workload.Driver, least int32) workload.Scale {
	return workload.Scale{Min: least, Max: 1000, Driver: driver}
}

func asked(desired int32, demand float64) workload.Scale {
	s := pods(desired)
	s.Demand = &demand
	return s
}

// declared returns a latch with a level, and a maximum of 60 that git accepted.
func declared(level int32) latch.Latch {
	return latch.Latch{Declared: checkpoint.Entry{Replicas: level, Min: 1, Max: 60}}
}

// usual returns a latch with the usual pods for a unit of demand, which it has measured
// for a week.
func usual(per float64) latch.Latch {
	return latch.Latch{Watch: latch.Watch{Usual: per, Learned: noon.Add(-time.Hour), Measured: noon.Add(-7 * 24 * time.Hour)}}
}

// since returns a latch whose demand has been measured for a time at noon.
func since(measured time.Duration, l latch.Latch) latch.Latch {
	l.Watch.Measured = noon.Add(-measured)
	return l
}

// The samples of a steady workload change no memory, so that no tick writes it to the state.
func TestASteadyWorkloadIsNotWritten(t *testing.T) {
	t.Parallel()
	s, scale := newSite(), asked(20, 20)
	steady := workload.Sample{ID: web, Scale: &scale, Rollout: &workload.Rollout{}}
	s.judge(noon, steady)
	first := s.latches[web].Watch
	for look := range 30 * 12 { // an hour has twelve
		s.judge(noon.Add(time.Duration(look+1)*period), steady)
		if now := s.latches[web].Watch; !now.Equal(first) {
			t.Fatalf("look %d: %+v, and first %+v", look, now, first)
		}
	}
}
