package anomaly

import (
	"fmt"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	// idle is the load below which an autoscaler itself would have fewer pods: it
	// tolerates a tenth off its target.
	idle = 0.9
	// busy is the load above which it would have more.
	busy = 1.1
	// nearMax is the share of its max at which a workload that was at it still is:
	// a tenth less is what an autoscaler tolerates.
	nearMax = 0.9
	// A growth is by a quarter, as of a raise that the budget does not wait for,
	// and by 4 pods, the least that an autoscaler may add in one step: fewer are
	// noise.
	grown     = 1.25
	leastStep = 4
	// missing is the share of pods that is far more than the tenth for which a
	// policy freezes: the quarter that a rollout may take away by default. Of up to
	// three pods that is any. It is over at that tenth: of fewer than ten pods, once
	// all are ready.
	missing, missingStill = 0.25, 0.1
	// usualTimes is how many times the usual pods for a unit of demand are out of
	// the ordinary, and above which share of that they still are. A deploy, a
	// cache or a season moves it by less than three times.
	usualTimes, usualStill = 3.0, 2.0
	// leastPods is the scale below which pods for a unit of demand say nothing.
	leastPods = 10
)

func yes(format string, args ...any) sight {
	return sight{seen: it, text: fmt.Sprintf(format, args...)}
}

// from returns the sight with the count that its episode is measured from.
func (s sight) since(from int32) sight {
	s.from = from
	return s
}

// ceiling sees a workload at its autoscaler's max whose need is not known, or
// known to be more.
func (c *candidate) ceiling(was *latch.Episode) sight {
	s := c.scale
	switch {
	case s.Max == 0 || s.Min >= s.Max || float64(s.Desired) < nearMax*float64(s.Max), s.Load > 0 && s.Load < idle:
		return sight{seen: nothing}
	case s.Desired < s.Max || s.Load > 0 && s.Load <= busy:
		return c.weak(was, "it is at %d of at most %d pods", s.Desired, s.Max)
	case s.Load > 0:
		return yes("it is at the max of its autoscaler, %d pods, %s, and its metrics are at %s of their targets: it needs more pods, and gets none", s.Max, c.span(was), times(s.Load))
	}
	return yes("it is at the max of its autoscaler, %d pods, %s: how many more it needs is not known", s.Max, c.span(was))
}

// unrealised sees pods that are asked for and do not get ready. A rollout has
// its own words for that, unless it is held.
func (c *candidate) unrealised(was *latch.Episode) sight {
	s := c.scale
	lacks := s.Desired - s.Ready
	switch {
	case c.sample.Rollout == nil || c.sample.Rollout.InFlight && !c.sample.Rollout.Held():
		return sight{seen: unknown}
	case float64(lacks) <= missingStill*float64(s.Desired):
		return sight{seen: nothing}
	case float64(lacks) <= missing*float64(s.Desired):
		return c.weak(was, "%d of %d pods are ready", s.Ready, s.Desired)
	}
	return yes("%s asked for, and %d %s ready, %s", podsAre(s.Desired), s.Ready, are(s.Ready), c.span(was))
}

// zero sees a workload with a checkpoint that is at zero, although no autoscaler
// of it may scale it there.
func (c *candidate) zero(was *latch.Episode) sight {
	s := c.scale
	declared := c.latch.Declared.Replicas
	mayRest := s.Min == 0 && (s.Driver == workload.DrivenByHPA || s.Driver == workload.DrivenByKEDA)
	if s.Desired != 0 || declared == 0 || mayRest {
		return sight{seen: nothing}
	}
	if s.Min > 0 {
		return yes("it is scaled to zero, %s, and the min of its autoscaler is %d: git declares %d", c.span(was), s.Min, declared)
	}
	return yes("it is scaled to zero, %s: git declares %d", c.span(was), declared)
}

// override sees a count that a person wrote and an autoscaler drives, unless that
// would write the same: by its metrics, or because it has left it alone for a
// day.
func (c *candidate) override(*latch.Episode) sight {
	s := c.scale
	driven := s.Driver == workload.DrivenByHPA || s.Driver == workload.DrivenByKEDA
	old := !s.Handed.IsZero() && c.Now.Sub(s.Handed) >= halted
	if s.Hand == "" || !driven || s.Desired == 0 || old || agrees(s) {
		return sight{seen: nothing}
	}
	by := s.Hand
	if !s.Handed.IsZero() {
		by += " at " + instant(s.Handed)
	}
	return yes("its count, %d, was written by %s, although its autoscaler drives it", s.Desired, by)
}

// agrees reports whether an autoscaler would write the count that stands.
func agrees(s workload.Scale) bool {
	switch {
	case s.Load == 0:
		return false
	case s.Load < idle:
		return s.Desired <= s.Min
	case s.Load > busy:
		return s.Max > 0 && s.Desired >= s.Max
	}
	return true
}

// mismatch sees live bounds that git did not accept. Where git's max is in the
// way that says more.
func (c *candidate) mismatch(*latch.Episode) sight {
	declared := c.latch.Declared
	differ, tight := policy.CompareBounds(c.policy, declared, c.scale)
	if differ == nil || tight || c.policy.Bounds != policy.ModeReport {
		return sight{seen: nothing}
	}
	return yes("the bounds of its autoscaler are %s, and git accepted %s", differ, policy.Bounds{Min: declared.Min, Max: declared.Max})
}

// capped sees a need above the max that git accepted. Where git declares no
// level it accepted none.
func (c *candidate) capped(*latch.Episode) sight {
	declared := c.latch.Declared
	if _, tight := policy.CompareBounds(c.policy, declared, c.scale); !tight {
		return sight{seen: nothing}
	}
	return yes("%d pods are asked for, and git accepts at most %d", c.scale.Desired, declared.Max)
}

// brakeLeft sees an autoscaler that a restore still keeps from scaling down, after
// the end of its brake, or where nobody knows the end.
func (c *candidate) brakeLeft(*latch.Episode) sight {
	b := c.scale.Brake
	if b.On == "" || b.Until.After(c.Now) {
		return sight{seen: nothing}
	}
	return yes("%s", b)
}

// notLoad sees a workload that grew by a quarter while its metrics asked for
// fewer pods, and that its autoscaler does not shrink.
func (c *candidate) notLoad(was *latch.Episode) sight {
	s := c.scale
	low, _ := c.window(c.Now.Add(-past))
	said := func(from int32) sight {
		return yes("it grew to %d pods, %s, while its metrics were at less than %.1f of their targets; now they are at %s", s.Desired, c.span(was), idle, times(s.Load)).since(from)
	}
	switch {
	case s.Load == 0:
		return sight{seen: unknown}
	case s.Load >= idle:
		return sight{seen: nothing}
	case was != nil && float64(s.Desired) >= idle*float64(was.From):
		return said(was.From)
	case low > 0 && s.Desired-low >= leastStep && float64(s.Desired) >= grown*float64(low):
		return said(s.Desired)
	}
	return sight{seen: nothing}
}

// workPerRequest sees pods that are far more than usual for what is asked of
// them. What stands at its floor stands there for no demand.
func (c *candidate) workPerRequest(was *latch.Episode) sight {
	s := c.scale
	per, known := c.perUnit()
	switch {
	case s.Demand == nil || c.watch.Usual == 0 || c.learning():
		return sight{seen: unknown}
	case s.Desired < leastPods || s.Desired <= s.Min:
		return sight{seen: nothing}
	case known && per <= usualStill*c.watch.Usual:
		return sight{seen: nothing}
	case known && per <= usualTimes*c.watch.Usual:
		return c.weak(was, "it has %d pods for a demand of %s", s.Desired, figure(*s.Demand))
	case !known:
		return yes("it has %d pods, and nothing is asked of it", s.Desired)
	}
	return yes("it has %d pods for a demand of %s: %s a unit, where %s are usual", s.Desired, figure(*s.Demand), figure(per), figure(c.watch.Usual))
}

// weak is too little to begin an episode, and text for one that goes on.
func (c *candidate) weak(_ *latch.Episode, format string, args ...any) sight {
	return sight{seen: less, text: fmt.Sprintf(format, args...)}
}
