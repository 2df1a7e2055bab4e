package policy_test

import (
	"math/big"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The oracle is a second implementation of a policy's decision, slow and
// obvious: it keeps everything that ever happened to one workload and works out
// each answer from the beginning. It shares no code with the package, and no
// number: levels are written out, margins and utilisations are whole thousandths
// and hundredths, so that nothing is ever rounded.
type oracle struct {
	rule     rule
	declared checkpoint.Entry
	yield    time.Time
	history  []moment
}

// A rule is a policy in whole numbers.
type rule struct {
	series   string
	levels   []int32 // ascending, far beyond any need
	round    policy.Round
	holdUp   int
	holdDown time.Duration
	margin   int64 // thousandths
	bounds   policy.Mode
}

// A view is a sample in whole numbers.
type view struct {
	unread, terminating, blind bool
	desired, ready             int32
	min, max                   int32
	target                     int64 // hundredths; 0 is none
	tolerance                  int64 // thousandths
	rollout                    rolling
}

type rolling int

const (
	settledDown rolling = iota
	inFlight
	unknownRollout
)

// A moment is one look, as it was judged then.
type moment struct {
	at       time.Time
	interval time.Duration // since the look before; 0 for the first
	gap      bool          // the interval was too long to have been observed

	declared        int32
	stopped, frozen bool  // for all; for lowering
	counted         int32 // what a raise is measured by
	raised, lowered int32 // the level asked for, the level that it left behind
	level           int32 // of what is asked to run
	enough          bool  // what is declared is enough, level or not
	needs           int   // samples for a raise, as of this look
	bounds          policy.Bounds

	// settled and adopted tell that git came to hold another entry after this
	// look: by gitlatch's own doing, by a person's.
	settled, adopted bool
}

// An answer is what the oracle makes of a look. to is 0 where nothing is
// crossed.
type answer struct {
	to     checkpoint.Entry
	streak []int32 // levels of the samples that ask for more, oldest first

	running bool // the timer of a lowering
	samples int
	elapsed time.Duration
	peak    int32

	now moment
}

// settle and adopt tell the oracle that git now holds e.
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

// look judges one sample, remembers it, and answers from the whole history.
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
		m.frozen = v.unready() || v.blind || v.rollout != settledDown || stop.Reason != ""
		if counted > 0 {
			m.raised = o.rule.raised(counted, bounds, v)
			m.enough = o.rule.need(counted, v) <= 100*int64(m.declared) && floor(bounds) <= m.declared
		}
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
		a.to = entry(a.peak, bounds)
	}
	return a
}

// accepted are the bounds that levels are clamped to.
func (o *oracle) accepted(v view) policy.Bounds {
	if o.declared != (checkpoint.Entry{}) && o.rule.bounds == policy.ModeReport {
		return policy.Bounds{Min: o.declared.Min, Max: o.declared.Max}
	}
	return policy.Bounds{Min: v.min, Max: v.max}
}

// entry is what git is to hold: a level, within bounds that may have moved since
// it was asked for.
func entry(level int32, b policy.Bounds) checkpoint.Entry {
	level = max(level, floor(b))
	if b.Max > 0 {
		level = min(level, b.Max)
	}
	return checkpoint.Entry{Replicas: level, Min: b.Min, Max: b.Max}
}

// unready: more than one pod, and more than a tenth of them, is not ready.
func (v view) unready() bool {
	missing := v.desired - v.ready
	return missing > 1 && 10*int64(missing) > int64(v.desired)
}

// counted is the count that a raise is measured by; 0 asks for nothing.
func (v view) counted() int32 {
	if v.unready() {
		return v.ready
	}
	return v.desired
}

// streak looks back from now for consecutive samples that asked for more than
// is declared, then and now. Looks that were stopped are looked through.
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

// lowering goes through all looks since git last changed and measures the timer
// that runs now.
func (o *oracle) lowering(a *answer) {
	first := 0
	for i, m := range o.history {
		if m.settled || m.adopted {
			first = i + 1
		}
	}
	for _, m := range o.history[first:] {
		switch {
		case m.stopped || m.frozen:
		case m.lowered >= m.declared:
			a.running, a.samples, a.elapsed, a.peak = false, 0, 0, 0
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

// one is one pod in the oracle's unit of need: a hundredth (utilisation) of a
// thousandth (margin).
const one = 100 * 1000

// raised is the level that a count asks for.
func (r rule) raised(count int32, b policy.Bounds, v view) int32 {
	return r.level(r.need(count, v)*1000, b)
}

// lowered is the level that a count must have left behind for a lowering: with
// the margin, but none at the floor.
func (r rule) lowered(count int32, b policy.Bounds, v view) int32 {
	if count <= floor(b) {
		return floor(b)
	}
	return r.level(r.need(count, v)*(1000+max(r.margin, v.tolerance)), b)
}

// need is a count in hundredths of a pod.
func (r rule) need(count int32, v view) int64 {
	if r.round == policy.RoundHeadroom && v.target > 0 {
		return int64(count) * v.target
	}
	return int64(count) * 100
}

func floor(b policy.Bounds) int32 { return max(1, b.Min) }

// level rounds a need, in units of one, by going through all levels from the
// floor up.
func (r rule) level(need int64, b policy.Bounds) int32 {
	below := floor(b)
	if need <= int64(below)*one {
		return below
	}
	for _, above := range r.levels {
		if above <= below {
			continue
		}
		if b.Max > 0 && above >= b.Max {
			break
		}
		if need > int64(above)*one {
			below = above
			continue
		}
		return r.choose(need, below, above)
	}
	if b.Max > below {
		return r.choose(need, below, b.Max)
	}
	return below
}

// choose rounds a need above one level to it or to the next.
func (r rule) choose(need int64, below, above int32) int32 {
	if r.round == policy.RoundNearest && need < int64(above)*one {
		square := new(big.Int).Mul(big.NewInt(need), big.NewInt(need))
		product := new(big.Int).Mul(big.NewInt(int64(below)*one), big.NewInt(int64(above)*one))
		if square.Cmp(product) < 0 {
			return below // of the geometric mean
		}
	}
	return above
}

// wasLevel reports whether a latch may declare a level that was one under the
// bounds of now, or of an earlier look that a timer remembers.
func (o *oracle) wasLevel(level int32) bool {
	return slices.ContainsFunc(o.history, func(m moment) bool { return o.rule.isLevel(level, m.bounds) })
}

// isLevel reports whether a latch may declare a level: one of the series within
// the bounds, or a bound.
func (r rule) isLevel(level int32, b policy.Bounds) bool {
	if level == floor(b) || b.Max > floor(b) && level == b.Max {
		return true
	}
	_, found := slices.BinarySearch(r.levels, level)
	return found && level > floor(b) && (b.Max == 0 || level < b.Max)
}

// highest is beyond every need that the laws draw, margins included.
const highest = 100_000

// levelsOf are the levels of the named series up to the highest, written out.
func levelsOf(name string) []int32 {
	switch name {
	case "1-2-5":
		return []int32{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, highest}
	case "decades":
		return []int32{1, 10, 100, 1000, 10_000, highest}
	case "R5":
		return []int32{1, 2, 3, 4, 6, 10, 16, 25, 40, 63, 100, 160, 250, 400, 630, 1000, 1600, 2500, 4000, 6300,
			10_000, 16_000, 25_000, 40_000, 63_000, highest}
	case "R10":
		return []int32{1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 32, 40, 50, 63, 80, 100, 125, 160, 200, 250, 315, 400,
			500, 630, 800, 1000, 1250, 1600, 2000, 2500, 3150, 4000, 5000, 6300, 8000,
			10_000, 12_500, 16_000, 20_000, 25_000, 31_500, 40_000, 50_000, 63_000, 80_000, highest}
	case "tens":
		var levels []int32
		for l := int32(10); l <= highest; l += 10 {
			levels = append(levels, l)
		}
		return levels
	}
	panic("no levels are written out for series " + name)
}

// levelsFrom are the levels of a list: beyond its last each whole number is one.
func levelsFrom(list []int32) []int32 {
	levels := slices.Clone(list)
	for l := list[len(list)-1] + 1; l <= highest; l++ {
		levels = append(levels, l)
	}
	return levels
}

// sample is the view as a sampler would tell it.
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
	return s
}
