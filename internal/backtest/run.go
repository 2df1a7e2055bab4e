package backtest

import (
	"iter"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Candidate is a policy to try, with its name in reports.
type Candidate struct {
	Name string
	Set  policy.Set
}

// Options control how Try runs and measures a candidate.
type Options struct {
	// Lasting is how long desired replicas must last to count for the worst coverage; 0
	// counts every sample.
	Lasting time.Duration
	// Watch is called with each sample and each level change of a workload, in the order
	// of time; may be nil. A level of 0 means no level.
	Watch func(id workload.ID, at time.Time, need, level int32)
	// Stop is called once for each tick, and ends the run if it returns true; may be nil.
	Stop func() bool
}

// Try runs a candidate over a past that was checked. The period is in the guards of the
// candidate. ok is false if Stop ended the run.
func Try(past *Past, c Candidate, o Options) (r Result, ok bool) {
	s := newReplay(past, c, o)
	defer s.close()
	for s.next() {
		if o.Stop != nil && o.Stop() {
			return Result{}, false
		}
		s.tick()
	}
	return s.end(), true
}

// A replay is the state of Try.
type replay struct {
	options Options
	set     policy.Set // changed to mode latch
	rows    []*row
	byID    map[workload.ID]*row
	begin   int64 // Unix seconds, like now
	now     int64 // time of the tick
	head    latch.Head
	latches map[workload.ID]latch.Latch

	latest   int64 // time of the last sample so far
	observed int64 // observed seconds up to latest

	result Result // of the ticks so far
}

// A row is one workload in a replay.
type row struct {
	id    workload.ID
	pull  func() (int64, fields, bool)
	stop  func()
	last  time.Time // tick of the last earlier sample; zero before the first
	meter meter

	at    int64 // time of the next sample
	ahead fields
	more  bool

	seen  fields // the latest sample of the tick
	fresh bool   // the tick has a sample
}

func newReplay(past *Past, c Candidate, o Options) *replay {
	s := &replay{
		options: o,
		set:     c.Set,
		result:  Result{Candidate: c},
		byID:    map[workload.ID]*row{},
		latches: map[workload.ID]latch.Latch{},
	}
	s.set.Latch = true // the past contains no mode of the site
	from, _ := past.Span()
	s.begin = from.Unix()
	s.latest = s.begin
	gap := 3 * s.period()
	for _, id := range past.IDs() {
		r := &row{id: id, meter: meter{gap: gap, lasting: int64(o.Lasting / time.Second)}}
		r.pull, r.stop = iter.Pull2(past.seconds(id))
		r.advance()
		s.rows = append(s.rows, r)
		s.byID[id] = r
	}
	return s
}

func (s *replay) period() int64 { return int64(s.set.Guards.Period / time.Second) }

func (s *replay) close() {
	for _, r := range s.rows {
		r.stop()
	}
}

func (r *row) advance() { r.at, r.ahead, r.more = r.pull() }

// next moves to the next tick with samples, and reads the samples since the tick before.
// The tick uses the latest sample of each workload.
func (s *replay) next() bool {
	earliest, found := int64(0), false
	for _, r := range s.rows {
		if r.more && (!found || r.at < earliest) {
			earliest, found = r.at, true
		}
	}
	if !found {
		return false
	}
	p := s.period()
	s.now = s.begin + (earliest-s.begin+p-1)/p*p
	if elapsed := earliest - s.latest; elapsed <= 3*p {
		s.observed += elapsed
	}
	s.latest = earliest
	for _, r := range s.rows {
		r.fresh = false
		for r.more && r.at <= s.now {
			r.seen, r.fresh = r.ahead, true
			if r.at > s.latest {
				s.observed += r.at - s.latest
				s.latest = r.at
			}
			r.meter.sample(r.at, r.ahead)
			s.watch(r, r.at)
			r.advance()
		}
	}
	return true
}

func (s *replay) watch(r *row, at int64) {
	if s.options.Watch != nil {
		s.options.Watch(r.id, instant(at), r.meter.need, r.meter.declared)
	}
}

// tick makes the decisions of a site, and saves the level changes that a tick would
// commit.
func (s *replay) tick() {
	at := instant(s.now)
	decided := policy.Round(policy.Site{
		State:  latch.State{Head: s.head, Latches: latch.LatchesOf(s.latches)},
		Set:    s.set,
		Fleet:  workload.Fleet{Cluster: "past", At: at, Kinds: s.set.Kinds, Samples: s.samples()},
		Period: s.set.Guards.Period,
		Last:   func(id workload.ID) time.Time { return s.byID[id].last },
	})
	direct := lists.Filter(decided.Decisions, policy.Decision.Crosses)
	reviewed := lists.Filter(decided.Decisions, func(d policy.Decision) bool { return d.Verdict == policy.Review })
	state := s.settle(decided.State, direct)
	before := s.result.Updates
	state = s.settle(state, reviewed)
	s.result.Reviews += s.result.Updates - before

	s.head = state.Head
	s.head.At = at
	put, drop := state.Latches.Changed()
	for _, l := range put {
		s.latches[l.ID] = l
	}
	for _, id := range drop {
		delete(s.latches, id)
	}
	for _, r := range s.rows {
		if r.fresh {
			r.last = at
		}
	}
}

// steady is the rollout of a workload that never rolls out.
var steady = &workload.Rollout{}

// samples returns the samples of a tick. The scale of a workload between two of its
// samples is unknown. Before the first and after the last sample, the workload is absent.
func (s *replay) samples() []workload.Sample {
	var samples []workload.Sample
	for _, r := range s.rows {
		if !r.fresh && (r.last.IsZero() || !r.more) {
			continue
		}
		sample := workload.Sample{ID: r.id, Rollout: steady}
		if r.fresh {
			scale := r.seen.scale()
			sample.Scale = &scale
		}
		samples = append(samples, sample)
	}
	return samples
}

// settle counts one commit for the decisions, and sets their levels. A commit with only
// first entries is the start of a site. It is counted separately, because it is the same
// for each candidate.
func (s *replay) settle(state latch.State, decisions []policy.Decision) latch.State {
	if len(decisions) == 0 {
		return state
	}
	updates := lists.Count(decisions, func(d policy.Decision) bool { return !d.From.IsZero() })
	s.result.Updates += updates
	if updates == 0 {
		s.result.Firsts++
	} else {
		s.result.Commits++
	}
	state = policy.Settled(s.set.Guards, state, decisions, instant(s.now))
	for _, d := range decisions {
		r := s.byID[d.ID]
		r.meter.declare(s.now, state.Latches.Get(d.ID).Declared.Replicas)
		s.watch(r, s.now)
	}
	return state
}
