package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var web = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}

// A history is one workload's random life under one policy. The latch and the oracle see
// the same samples.
type history struct {
	rand   *rand.Rand
	policy policy.Policy
	period time.Duration

	latch  latch.Latch
	oracle *oracle

	now, last time.Time
	view      view
	calm      bool // only the need changes
	trace     []event
}

// An event is a sample in the words of a story, or a user's edit without a decision.
type event struct {
	at       time.Time
	interval time.Duration
	view     view
	stop     policy.Reason
	declared checkpoint.Entry
	decision policy.Decision
}

func (e event) String() string {
	at := e.at.Format("02 15:04:05")
	if e.decision.Verdict == "" {
		return fmt.Sprintf("%s a person writes %+v", at, e.declared)
	}
	d := e.decision
	return fmt.Sprintf("%s +%s %+v stop=%q declared=%+v -> %s %s to=%v %q", at, e.interval, e.view, e.stop, e.declared, d.Verdict, d.Reason, to(d), d.Text)
}

// newHistory draws a valid policy and a first sample.
func newHistory(seed, index uint64) *history {
	h := &history{rand: rand.New(rand.NewPCG(seed, index)), now: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)}
	h.period = []time.Duration{time.Minute, 5 * time.Minute, time.Hour}[h.rand.IntN(3)]
	h.calm = h.rand.IntN(4) == 0
	for {
		r, p := h.drawPolicy()
		if len(p.Problems()) == 0 {
			h.policy, h.oracle = p, &oracle{rule: r}
			break
		}
	}
	h.view = view{desired: h.between(1, 60)}
	if h.rand.IntN(3) == 0 {
		h.view.desired = h.between(1, 2000)
	}
	h.view.ready = h.view.desired
	h.drawBounds()
	h.view.target = pick[int64](h.rand, 0, 50, 75, 80)
	h.view.tolerance = pick[int64](h.rand, 0, 0, 100, 250)
	return h
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (h *history) between(low, high int32) int32 { return low + h.rand.Int32N(high-low+1) }

// chance is true with the probability 1/n.
func (h *history) chance(n int) bool { return h.rand.IntN(n) == 0 }

var namedLevels = map[string][]int32{}

func init() {
	for _, name := range policy.SeriesNames() {
		namedLevels[name] = levelsOf(name)
	}
}

var lists = [][]int32{{1}, {3, 4}, {7, 20, 90}, {2, 8, 32, 128, 512}, {50, 100}, {1, 2, 3, 5, 8, 13, 21, 34, 55}}

var listLevels = func() [][]int32 {
	var all [][]int32
	for _, l := range lists {
		all = append(all, levelsFrom(l))
	}
	return all
}()

func (h *history) drawPolicy() (rule, policy.Policy) {
	r := rule{
		round:  pick(h.rand, policy.Roundings()...),
		holdUp: 1 + h.rand.IntN(4),
		margin: int64(pick(h.rand, 0, 50, 100, 100, 125, 199, 300)),
		bounds: pick(h.rand, policy.ModeReport, policy.ModeReport, policy.ModeLatch, policy.ModeIgnore),
	}
	looks := pick(h.rand, 0, 1, 3, 6, 26)
	r.holdDown = time.Duration(looks)*h.period + time.Duration(h.rand.IntN(3)-1)*h.period/4
	r.holdDown = max(0, r.holdDown)
	p := policy.Presets()["cope"]
	p.Name, p.Round, p.HoldUp, p.HoldDown, p.Margin = "drawn", r.round, r.holdUp, r.holdDown, float64(r.margin)/1000
	p.Review, p.Bounds = h.chance(4), r.bounds
	if h.chance(20) {
		p.Scale = policy.ModeReport
	}
	var err error
	if i := h.rand.IntN(len(lists) + 8); i < len(lists) {
		r.series, r.levels = fmt.Sprint(lists[i]), listLevels[i]
		p.Series, err = policy.ListSeries(lists[i])
	} else {
		r.series = pick(h.rand, policy.SeriesNames()...)
		r.levels = namedLevels[r.series]
		p.Series, err = policy.ParseSeries(r.series)
	}
	if err != nil {
		panic(err)
	}
	return r, p
}

func (h *history) drawBounds() {
	h.view.min = pick[int32](h.rand, 0, 1, 1, h.between(2, 12))
	h.view.max = pick[int32](h.rand, 0, h.view.min+h.between(0, 5), h.between(10, 100)+h.view.min, h.between(100, 3000))
	h.view.max = max(h.view.max, 0)
	if h.view.max > 0 {
		h.view.max = max(h.view.max, h.view.min)
	}
	if h.view.max > 0 && h.chance(8) {
		h.view.min = h.view.max + h.between(1, 100)
	}
}

// next draws the sample and the instant of the next event.
func (h *history) next() (policy.Stop, time.Duration) {
	h.nextNeed()
	v := &h.view
	v.unread, v.terminating, v.blind, v.braked, v.rollout = false, false, false, false, settledDown
	v.ready = v.desired
	var stop policy.Stop
	if !h.calm {
		switch h.rand.IntN(40) {
		case 0, 1:
			v.unread = true
		case 2:
			v.terminating = true
		case 3, 4:
			v.blind = true
		case 5, 6, 7, 8:
			v.rollout = inFlight
		case 9:
			v.rollout = unknownRollout
		case 10, 11, 12:
			v.ready = max(0, v.desired-h.between(0, 4))
		case 13, 14:
			v.ready = h.between(0, v.desired)
		case 15:
			stop = policy.Stop{All: true, Reason: policy.ReasonHold, Text: "held"}
		case 16:
			stop = policy.Stop{Reason: policy.ReasonMassDrop, Text: "a mass drop"}
		case 17:
			v.desired = 0
		case 18:
			h.drawBounds()
		case 19:
			v.target = pick[int64](h.rand, 0, 50, 75)
			v.tolerance = pick[int64](h.rand, 0, 100)
		case 20, 21:
			v.braked = true
		}
	}
	interval := h.period
	switch h.rand.IntN(16) {
	case 0:
		interval = 3 * h.period
	case 1:
		interval = 3*h.period + time.Second
	case 2:
		interval = time.Duration(1 + h.rand.Int64N(int64(5*h.period)))
	case 3:
		if !h.calm {
			interval = h.period * time.Duration(4+h.rand.IntN(30))
		}
	}
	return stop, interval
}

// nextNeed keeps the need, changes it a little, moves it around a threshold, or makes it
// leap or fall.
func (h *history) nextNeed() {
	n := max(1, h.view.desired)
	switch h.rand.IntN(12) {
	case 0:
		n = n * h.between(60, 160) / 100
	case 1:
		n += h.between(-2, 2)
	case 2:
		if h.latch.Declared.Replicas > 0 {
			n = h.latch.Declared.Replicas + h.between(-2, 2)
		}
	case 3:
		if h.chance(4) {
			n = min(20_000, n*h.between(2, 30))
		}
	case 4:
		if h.chance(3) {
			n = n / h.between(2, 20)
		}
	case 5:
		if h.chance(3) {
			n = max(1, h.view.min)
		}
	}
	h.view.desired = min(20_000, max(1, n))
}

// look takes one sample and compares latch and oracle. It returns the decision and the
// answer, or the difference.
func (h *history) look(v view, stop policy.Stop, interval time.Duration) (policy.Decision, answer, error) {
	d := h.decide(v, stop, interval)
	a := h.oracle.look(v, stop, h.now, h.period)
	if err := h.agree(h.latch, d, a, v); err != nil {
		return d, a, err
	}
	again := policy.Look{Now: h.now, Last: h.now, Period: h.period, Stop: stop}
	if err := repeats(h.policy, h.latch, d, v, again); err != nil {
		return d, a, err
	}
	return d, a, lowersByTimer(h, again)
}

// decide takes one sample without the oracle, for laws that compare two lives of a
// latch.
func (h *history) decide(v view, stop policy.Stop, interval time.Duration) (d policy.Decision) {
	h.last, h.now = h.now, h.now.Add(interval)
	if len(h.trace) == 0 {
		h.last = time.Time{}
	}
	declared := h.latch.Declared
	h.latch, d = policy.Decide(h.policy, h.latch, v.sample(web), policy.Look{Now: h.now, Last: h.last, Period: h.period, Stop: stop})
	h.trace = append(h.trace, event{h.now, interval, v, stop.Reason, declared, d})
	return d
}

// fork returns a copy of the history with a separate future.
func (h *history) fork() *history {
	f, o := *h, *h.oracle
	f.oracle = &o
	f.trace, o.history = slices.Clone(h.trace), slices.Clone(h.oracle.history)
	return &f
}

// settle saves a decision as a tick may: git accepts it now, or not. Sometimes a user
// edits the entry.
func (h *history) settle(d policy.Decision) {
	if d.Crosses() && !h.chance(5) {
		h.latch = h.latch.Settled(d.To)
		h.oracle.settle(d.To)
	}
	if !h.calm && h.chance(50) {
		e := checkpoint.Entry{Replicas: h.between(1, 300)}
		if !h.view.contradicts() {
			e.Min = h.view.min
			e.Max = h.view.max
		}
		if h.chance(5) {
			e = checkpoint.Entry{}
		}
		until := h.now.Add(pick(h.rand, 0, h.period, 5*h.period, 40*h.period))
		h.latch = h.latch.Adopted(e, until)
		h.oracle.adopt(e, until)
		h.trace = append(h.trace, event{at: h.now, declared: e})
	}
}

// fail reports a failed history as a story.
func (h *history) fail(t *testing.T, index uint64, err error) {
	t.Helper()
	var story strings.Builder
	for _, e := range h.trace[max(0, len(h.trace)-40):] {
		fmt.Fprintln(&story, e)
	}
	t.Fatalf("history %d: series %s, round %s, hold.up %d, hold.down %s, margin %.3g, bounds %s, period %s\n%s%v",
		index, h.policy.Series, h.policy.Round, h.policy.HoldUp, h.policy.HoldDown, h.policy.Margin, h.policy.Bounds, h.period,
		&story, err)
}
