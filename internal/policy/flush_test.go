package policy_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// A flush at any point of a history raises the level at least to the desired replicas, unless
// something blocks it. It lowers no level. A second flush changes nothing, and the following
// tick keeps its result.
func TestAFlushDeclaresThePresentNeedOnce(t *testing.T) {
	t.Parallel()
	var raised, kept atomic.Int64
	each(t, *histories/4, func(h *history) error {
		for range h.rand.IntN(20) {
			stop, interval := h.next()
			h.declare(h.decide(h.view, stop, interval))
		}
		h.policy.Scale, h.policy.Review = policy.ModeLatch, false
		stop, interval := h.next()
		before := h.latch.Declared.Replicas
		d := h.flush(stop, interval)
		switch {
		case d.Crosses() && d.Lowers():
			return fmt.Errorf("law: a flush only raises: %d to %v", before, to(d))
		case d.Crosses():
			raised.Add(1)
		default:
			kept.Add(1)
		}
		if d.Verdict == policy.Frozen && d.Crosses() {
			return fmt.Errorf("law: freezes hold")
		}
		crossed := d.Crosses()
		h.declare(d)
		if again := h.flush(stop, time.Second); again.Crosses() {
			return fmt.Errorf("law: a second flush changes nothing: %v after %v", to(again), to(d))
		}
		if after := h.decide(h.view, stop, h.period); crossed && after.Verdict != policy.Quiet {
			return fmt.Errorf("law: the tick after keeps it: %s %s %v", after.Verdict, after.Reason, to(after))
		}
		return h.covered(stop)
	})
	t.Logf("%d raised, %d kept", raised.Load(), kept.Load())
	if least := *histories / 400; raised.Load() < int64(least) || kept.Load() < int64(least) {
		t.Error("the histories hardly touch what they are to prove")
	}
}

// covered checks that after a flush with round: up, no desired replicas are above the
// level.
func (h *history) covered(stop policy.Stop) error {
	v := h.view
	still := stop.All || v.unread || v.terminating || v.desired <= 0 || v.ready != v.desired
	if still || h.policy.Round != policy.RoundUp {
		return nil
	}
	top := h.latch.Declared.Max
	if h.policy.Bounds != policy.ModeReport {
		top = v.max
	}
	if h.policy.Bounds != policy.ModeReport && v.contradicts() {
		top = 0
	}
	if got := h.latch.Declared.Replicas; got < v.desired && (top == 0 || got < top) {
		return fmt.Errorf("law: a flush declares the need: %d of %d within %d", got, v.desired, top)
	}
	return nil
}

// declare saves a level change, without an oracle.
func (h *history) declare(d policy.Decision) {
	if d.Crosses() {
		h.latch = h.latch.Settled(d.To)
	}
}

// flush takes one sample that flushes.
func (h *history) flush(stop policy.Stop, interval time.Duration) (d policy.Decision) {
	h.last, h.now = h.now, h.now.Add(interval)
	declared := h.latch.Declared
	h.latch, d = policy.Decide(h.policy, h.latch, h.view.sample(web), policy.Look{Now: h.now, Last: h.last, Period: h.period, Stop: stop, Flush: true})
	h.trace = append(h.trace, event{h.now, interval, h.view, stop.Reason, declared, d})
	return d
}

func TestAFlushSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	yields := latch.Latch{GraceUntil: now.Add(time.Hour)}
	for _, c := range []struct {
		name            string
		declared        int32
		latch           latch.Latch
		view            view
		to              int32
		verdict, reason string
		text            string
	}{
		{"raises at once", 100, latch.Latch{}, view{desired: 187, ready: 187}, 200, "cross", "", "a drill finds a need of 187, which rounds to 200"},
		{"declares what has nothing", 0, latch.Latch{}, view{desired: 7, ready: 7}, 10, "cross", "", "a need of 7, which rounds to 10"},
		{"to what is ready, where too much is not", 100, latch.Latch{}, view{desired: 450, ready: 187}, 200, "cross", "", "a need of 187, which rounds to 200"},
		{"leaves what is too high", 500, latch.Latch{}, view{desired: 40, ready: 40}, 0, "pending", "", "the rounded peak, currently 50"},
		{"lowers nothing that is not ready", 500, latch.Latch{}, view{desired: 40, ready: 20}, 0, "freeze", "unready", "only 20 of 40"},
		{"leaves alone what a person set", 100, yields, view{desired: 187, ready: 187}, 0, "freeze", "yield", "edit grace period"},
		{"knows nothing of what is unread", 100, latch.Latch{}, view{unread: true}, 0, "freeze", "unread", "unknown"},
		{"declares no zero", 100, latch.Latch{}, view{}, 0, "freeze", "suspended", "zero"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := c.latch
			l.Declared = checkpoint.Entry{Replicas: c.declared}
			_, d := policy.Decide(policy.Presets()["cope"], l, c.view.sample(web), policy.Look{Now: now, Period: time.Minute, Flush: true})
			if string(d.Verdict) != c.verdict || string(d.Reason) != c.reason || !strings.Contains(d.Text, c.text) {
				t.Errorf("%s %s: %s", d.Verdict, d.Reason, d.Text)
			}
			if !d.To.IsZero() && d.To.Replicas != c.to || d.To.IsZero() && c.to != 0 {
				t.Errorf("to %v, want %d", to(d), c.to)
			}
		})
	}
}

// A flush that only raises leaves due lowerings and retirements to the next tick.
func TestAFlushThatRaisesLeavesWhatIsDue(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	long := latch.Stopwatch{Since: now.Add(-30 * 24 * time.Hour)}
	l := latch.Latch{ID: web, Declared: checkpoint.Entry{Replicas: 500}, Down: latch.Down{Level: 50, Count: 2, Stopwatch: long}}
	gone := latch.Latch{ID: web, Declared: checkpoint.Entry{Replicas: 500}, Missing: long}
	look := policy.Look{Now: now, Last: now.Add(-time.Minute), Period: time.Minute}
	for flush, crosses := range map[bool]bool{false: true, true: false} {
		look.Flush = flush
		_, lowering := policy.Decide(policy.Presets()["cope"], l, view{desired: 40, ready: 40}.sample(web), look)
		_, retiring := policy.Retire(policy.DefaultGuards(), gone, look)
		for _, d := range []policy.Decision{lowering, retiring} {
			if d.Crosses() != crosses || !crosses && d.Reason != policy.ReasonFlush {
				t.Errorf("flush %v: %s %s: %s", flush, d.Verdict, d.Reason, d.Text)
			}
		}
	}
}
