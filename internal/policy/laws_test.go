package policy_test

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
)

// histories is the number of random lives that each law is checked with.
var histories = flag.Uint64("histories", 4_000, "random lives that each law is checked with; 1000000 is the measure at length")

// seed makes the histories the same in every run, so that an index identifies a
// failure.
const seed = 20181106

// each runs n histories on all processors, and stops at the first error.
func each(t *testing.T, n uint64, live func(h *history) error) {
	t.Helper()
	var (
		next   atomic.Uint64
		failed atomic.Bool
		group  sync.WaitGroup
		first  sync.Once
		index  uint64
		wrong  *history
		why    error
	)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for i := next.Add(1); i <= n && !failed.Load(); i = next.Add(1) {
				h := newHistory(seed, i)
				if err := live(h); err != nil {
					failed.Store(true)
					first.Do(func() { index, wrong, why = i, h, err })
				}
			}
		})
	}
	group.Wait()
	if wrong != nil {
		wrong.fail(t, index, why)
	}
}

// At every sample of every history, latch and oracle agree on the decision and on the
// timers, and the laws of a single sample are true. Afterwards, from every state of the
// latch, it raises to a sustained replica count and lowers to the floor.
func TestHistoriesAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	var looks, raises, lowerings, freezes atomic.Int64
	each(t, *histories, func(h *history) error {
		n := 10 + h.rand.IntN(40)
		for range n {
			stop, interval := h.next()
			d, _, err := h.look(h.view, stop, interval)
			if err != nil {
				return err
			}
			switch {
			case d.Verdict == policy.Frozen:
				freezes.Add(1)
			case d.Crosses() && d.Lowers():
				lowerings.Add(1)
			case d.Crosses():
				raises.Add(1)
			}
			h.settle(d)
		}
		looks.Add(int64(n))
		for _, law := range []func(*history) error{declaresWhatIsSustained, reachesTheFloor} {
			after := h.fork()
			if err := law(after); err != nil {
				h.trace = after.trace
				return err
			}
		}
		return nil
	})
	t.Logf("%d looks: %d raises, %d lowerings, %d freezes", looks.Load(), raises.Load(), lowerings.Load(), freezes.Load())
	if least := looks.Load() / 100; raises.Load() < least || lowerings.Load() < least || freezes.Load() < least {
		t.Error("the histories hardly touch what they are to prove")
	}
}

// steady takes samples with one constant replica count and good health, and saves every
// level change. A user merges every change that a policy sends for review.
func (h *history) steady(need int32, looks int) error {
	v := view{desired: need, ready: need, min: h.view.min, max: h.view.max, target: h.view.target, tolerance: h.view.tolerance}
	for range looks {
		d, _, err := h.look(v, policy.Stop{}, h.period)
		if err != nil {
			return err
		}
		if d.Crosses() || d.Verdict == policy.Review {
			h.latch = h.latch.Settled(d.To)
			h.oracle.settle(d.To)
		}
	}
	return nil
}

// endYield ends the edit grace period of the entry.
func (h *history) endYield() {
	h.policy.Scale = policy.ModeLatch
	h.latch.GraceUntil, h.oracle.yield = time.Time{}, time.Time{}
}

func (h *history) accepted() policy.Bounds {
	return h.oracle.accepted(h.view)
}

// The latch always reaches the floor. If the need stays there, at most the lowering in
// progress and one more are required.
func reachesTheFloor(h *history) error {
	h.endYield()
	floor := floor(h.accepted())
	looks := 2 * (h.policy.HoldUp + int(h.policy.HoldDown/h.period) + 3)
	if err := h.steady(floor, looks); err != nil {
		return err
	}
	if got := h.latch.Declared.Replicas; got != floor {
		return fmt.Errorf("law: the floor is always reachable: after %d looks at %d the level is %d", looks, floor, got)
	}
	return nil
}

// Never below the sustained need, up to the upper bound, with round up.
func declaresWhatIsSustained(h *history) error {
	h.endYield()
	need := h.between(1, 500)
	if err := h.steady(need, h.policy.HoldUp+1); err != nil {
		return err
	}
	got, bounds := h.latch.Declared.Replicas, h.accepted()
	if least := need; h.policy.Round == policy.RoundUp && got < least && (bounds.Max == 0 || got < bounds.Max) {
		return fmt.Errorf("law: never below the sustained need: %d after %d looks at %d", got, h.policy.HoldUp+1, need)
	}
	return nil
}

// Freezes lose no timer. A history with additional samples that do not count changes
// its level at the same samples, and to the same levels, as a history that has no such
// samples.
func TestFreezesLoseNoTimer(t *testing.T) {
	t.Parallel()
	each(t, *histories, func(h *history) error {
		h.policy.Scale = policy.ModeLatch
		plain, frozen := h.fork(), h.fork()
		for look := range 10 + h.rand.IntN(40) {
			h.nextNeed()
			v := h.view
			v.ready = v.desired
			interval := pick(h.rand, h.period, h.period, h.period, 3*h.period, 4*h.period)
			for look > 0 && h.chance(3) {
				still, stop := h.standstill(v)
				if d := frozen.decide(still, stop, h.noGap(h.period)); d.Verdict != policy.Frozen {
					h.trace = frozen.trace
					return fmt.Errorf("look %d: %s where nothing may move: %+v %+v", look, d.Verdict, still, stop)
				}
			}
			a, b := plain.decide(v, policy.Stop{}, interval), frozen.decide(v, policy.Stop{}, interval)
			if a.Verdict != b.Verdict || to(a) != to(b) {
				h.trace = frozen.trace
				return fmt.Errorf("law: freezes lose no timer: look %d: %s %v without, %s %v with", look, a.Verdict, to(a), b.Verdict, to(b))
			}
			if a.Crosses() {
				plain.latch, frozen.latch = plain.latch.Settled(a.To), frozen.latch.Settled(b.To)
				h.latch = plain.latch
			}
		}
		return nil
	})
}

// standstill draws a sample for which a latch does not change.
func (h *history) standstill(v view) (view, policy.Stop) {
	switch h.rand.IntN(5) {
	case 0:
		v.unread = true
	case 1:
		v.terminating = true
	case 2:
		v.desired, v.ready = 0, 0
	case 3:
		return v, policy.Stop{All: true, Reason: policy.ReasonSecond, Text: "two clusters"}
	default:
		return v, policy.Stop{All: true, Reason: policy.ReasonHold, Text: "held"}
	}
	return v, policy.Stop{}
}

// noGap draws an interval that is too short for a gap.
func (h *history) noGap(period time.Duration) time.Duration {
	return time.Duration(1 + h.rand.Int64N(int64(3*period)))
}

// Monotone and quiet, for all replica counts under random policies. More desired
// replicas never ask for a lower level, and are never lowered to one. A lowering ends
// at the level of the desired replicas. A count that is within the margin below the one
// that raised does not lower.
func TestLevelsAreMonotoneAndQuietWithinTheMargin(t *testing.T) {
	t.Parallel()
	each(t, *histories, func(h *history) error {
		raised, lowered := int32(0), int32(0)
		at := h.between(1, pick[int32](h.rand, 1, 40, 400, 4000))
		for range 40 {
			up, down := h.raisedBy(at), h.loweredBy(at)
			switch {
			case up < raised || down < lowered:
				return fmt.Errorf("law: monotone: need %d asks for %d after %d, and is lowered to %d after %d", at, up, raised, down, lowered)
			case down != up:
				return fmt.Errorf("law: the level of the need: need %d asks for %d and is lowered to %d", at, up, down)
			}
			high := int32(float64(at) * (1 + h.policy.Margin))
			declared := h.raisedBy(high)
			if now := decideAtOnce(h, at, declared); at > floor(h.accepted()) && now != declared {
				return fmt.Errorf("law: quiet within the margin: declared %d for %d, %d moves it to %d", declared, high, at, now)
			}
			raised, lowered = up, down
			at += 1 + h.rand.Int32N(1+at/8)
		}
		return nil
	})
}

// raisedBy returns the level that one sample of the desired replicas asks for.
// loweredBy returns the level that a sample lowers to from far above.
func (h *history) raisedBy(need int32) int32 { return decideAtOnce(h, need, 0) }

func (h *history) loweredBy(need int32) int32 { return decideAtOnce(h, need, 1<<30) }

func decideAtOnce(h *history, need, declared int32) int32 {
	p, l := h.policy, h.latch
	p.HoldUp, p.HoldDown, p.Scale, p.Bounds, p.Review = 1, 0, policy.ModeLatch, policy.ModeLatch, false
	l.Declared.Replicas = declared
	v := view{desired: need, ready: need, min: h.view.min, max: h.view.max, target: h.view.target, tolerance: h.view.tolerance}
	_, d := policy.Decide(p, l, v.sample(web), policy.Look{Now: h.now, Period: h.period})
	if d.To.IsZero() {
		return declared
	}
	return d.To.Replicas
}
