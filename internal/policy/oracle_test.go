package policy_test

import (
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The oracle is a second implementation of a policy's decision, slow and obvious. It
// remembers every event of one workload and computes each answer from the full history.
// It shares no code with the package, and no number: it lists the levels, and it counts
// margins in thousandths and utilisations in hundredths, so it never rounds.
type oracle struct {
	rule     rule
	declared checkpoint.Entry
	yield    time.Time
	history  []moment
}

// A rule is a policy in integers.
type rule struct {
	series   string
	levels   []int32 // ascending, far beyond any need
	round    policy.Rounding
	holdUp   int
	holdDown time.Duration
	margin   int64 // thousandths
	bounds   policy.Mode
}

// A view is a sample in integers.
type view struct {
	unread, terminating, blind bool
	braked                     bool
	desired, ready             int32
	min, max                   int32
	target                     int64 // hundredths; 0 without a target
	tolerance                  int64 // thousandths
	rollout                    rolling
}

type rolling int

const (
	settledDown rolling = iota
	inFlight
	unknownRollout
)

// A moment is one sample, with the judgement of its time.
type moment struct {
	at       time.Time
	interval time.Duration // since the previous sample; 0 for the first
	gap      bool          // the interval was too long to have been observed

	declared        int32
	stopped, frozen bool  // for all; for lowering
	counted         int32 // the replicas that a raise counts
	raised, lowered int32 // the level asked for, the level that it left behind
	level           int32 // of the desired replicas; 0 if not seen
	enough          bool  // the replicas in git suffice, even if they are not on a level
	needs           int   // samples required for a raise, as of this sample
	bounds          policy.Bounds

	// settled is true if gitlatch wrote another entry to git after this sample, and
	// adopted if a user did.
	settled, adopted bool
}

// An answer is the oracle's decision for a sample. to is 0 if the level does not
// change.
type answer struct {
	to     checkpoint.Entry
	rides  bool    // a lowering that waits for a commit
	streak []int32 // levels of the samples that ask for more, oldest first

	running bool // the timer of a lowering
	samples int
	elapsed time.Duration
	peak    int32

	now moment
}

// settle and adopt set the entry in git to e.
func (o *oracle) settle(e checkpoint.Entry) {
	o.declared = e
	o.history[len(o.history)-1].settled = true
}

func (o *oracle) adopt(e checkpoint.Entry, until time.Time) {
	o.declared, o.yield = e, until
	if n := len(o.history); n > 0 {
		o.history[n-1].adopted = true
	}
}

// look judges one sample, remembers it, and answers from its full history.
func (o *oracle) look(v view, stop policy.Stop, at time.Time, period time.Duration) answer {
	m := moment{at: at, declared: o.declared.Replicas}
	if n := len(o.history); n > 0 {
		m.interval = at.Sub(o.history[n-1].at)
		m.gap = m.interval > 3*period
	}
	m.stopped = v.unread || v.terminating || v.desired == 0 || at.Before(o.yield) || stop.All
	m.needs = o.rule.holdUp
	if v.rollout != settledDown && m.needs < 3 {
		m.needs = 3
	}
	bounds := o.accepted(v)
	m.bounds = bounds
	if !m.stopped {
		counted := v.counted()
		m.counted = counted
		m.frozen = v.unready() || v.blind || v.braked || v.rollout != settledDown || stop.Reason != ""
		if counted > 0 {
			m.raised = o.rule.raised(counted, bounds, v)
			m.enough = o.rule.need(counted, v) <= 100*int64(m.declared) && floor(bounds) <= m.declared
		}
	}
	if !v.unread {
		m.lowered = o.rule.lowered(v.desired, bounds, v)
		m.level = o.rule.raised(v.desired, bounds, v)
	}
	o.history = append(o.history, m)

	a := answer{now: m, streak: o.streak()}
	o.lowering(&a)
	switch {
	case m.stopped:
	case len(a.streak) >= m.needs:
		a.to = entry(slices.Min(a.streak[len(a.streak)-m.needs:]), bounds)
	case !m.frozen && a.running && a.samples >= o.rule.holdUp && a.elapsed >= o.rule.holdDown:
		a.to, a.rides = entry(a.peak, bounds), a.elapsed-o.rule.holdDown < o.rule.holdDown
	}
	return a
}

// accepted returns the minimum and maximum that clamp levels.
func (o *oracle) accepted(v view) policy.Bounds {
	if o.declared != (checkpoint.Entry{}) && o.rule.bounds == policy.ModeReport {
		return policy.Bounds{Min: o.declared.Min, Max: o.declared.Max}
	}
	if v.contradicts() {
		return policy.Bounds{}
	}
	return policy.Bounds{Min: v.min, Max: v.max}
}

// entry returns the entry that git should contain: the level, limited to minimum and
// maximum replicas that may have changed since it was proposed.
func entry(level int32, b policy.Bounds) checkpoint.Entry {
	level = max(level, floor(b))
	if b.Max > 0 {
		level = min(level, b.Max)
	}
	return checkpoint.Entry{Replicas: level, Min: b.Min, Max: b.Max}
}

// contradicts reports whether the minimum is above the maximum.
func (v view) contradicts() bool { return v.max > 0 && v.min > v.max }

// unready reports whether more than one pod, and more than a tenth, is not ready.
func (v view) unready() bool {
	missing := v.desired - v.ready
	return missing > 1 && 10*int64(missing) > int64(v.desired)
}

// counted returns the replicas that a raise uses; 0 asks for no level.
func (v view) counted() int32 {
	if v.unready() {
		return v.ready
	}
	return v.desired
}

// streak collects, from now backwards, consecutive samples that asked for more than the
// level in git, both then and now. It skips samples that were stopped.
func (o *oracle) streak() []int32 {
	var levels []int32
	for i := len(o.history) - 1; i >= 0; i-- {
		m := o.history[i]
		if m.adopted {
			break
		}
		if !m.stopped {
			if m.enough || m.raised <= m.declared || m.raised <= o.declared.Replicas {
				break
			}
			levels = append(levels, m.raised)
		}
		if m.gap {
			break
		}
	}
	slices.Reverse(levels)
	return levels
}

// lowering reads all samples since git last changed and measures the present timer.
func (o *oracle) lowering(a *answer) {
	first := 0
	for i, m := range o.history {
		if m.settled || m.adopted {
			first = i + 1
		}
	}
	for _, m := range o.history[first:] {
		switch {
		case m.level == 0:
		case m.lowered >= m.declared:
			a.running, a.samples, a.elapsed, a.peak = false, 0, 0, 0
		case (m.stopped || m.frozen) && a.running:
			a.peak = max(a.peak, m.level)
		case m.stopped || m.frozen:
		case !a.running:
			a.running, a.samples, a.elapsed, a.peak = true, 1, 0, m.level
		default:
			a.samples++
			a.peak = max(a.peak, m.level)
			if !m.gap {
				a.elapsed += m.interval
			}
		}
	}
}

// sample returns the view as a sample.
func (v view) sample(id workload.ID) workload.Sample {
	s := workload.Sample{ID: id, Terminating: v.terminating}
	switch v.rollout {
	case settledDown:
		s.Rollout = &workload.Rollout{}
	case inFlight:
		s.Rollout = &workload.Rollout{InFlight: true}
	case unknownRollout:
		s.Unknown = "replica sets: forbidden"
	}
	if v.unread {
		s.Unknown = "generation 7 is not observed yet"
		return s
	}
	s.Scale = &workload.Scale{
		Desired: v.desired, Ready: v.ready, Driver: workload.DrivenByHPA,
		Min: v.min, Max: v.max,
		Target: float64(v.target) / 100, Tolerance: float64(v.tolerance) / 1000,
	}
	if v.blind {
		s.Scale.Blind = "ScalingActive is False: FailedGetResourceMetric"
	}
	if v.braked {
		s.Scale.Brake = workload.Brake{On: "HPA " + id.Name, Until: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	}
	return s
}
