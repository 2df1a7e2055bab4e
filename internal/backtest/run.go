package backtest

import (
	"iter"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Candidate is a policy that is tried, by the name that reports call it.
type Candidate struct {
	Name string
	Set  policy.Set
}

// Options say how a candidate is run and measured.
type Options struct {
	// Lasting is how long a need must have lasted before it counts for the worst
	// coverage; 0 counts every sample.
	Lasting time.Duration
	// Watch is called with each sample and each change of a level of a workload,
	// in the order of time; nil is not. A level of 0 is none.
	Watch func(id workload.ID, at time.Time, need, level int32)
	// Stop ends a run before its end where it returns true, which it is asked once
	// for each tick; nil does not.
	Stop func() bool
}

// Try runs a candidate over a past that was checked. The period is that of the
// candidate's guards. ok is false where Stop ended it.
func Try(past *Past, c Candidate, o Options) (r Result, ok bool) {
	s := newReplay(past, c, o)
	defer s.close()
	for s.next() {
		if o.Stop != nil && o.Stop() {
			return Result{}, false
		}
		s.tick()
	}
	return s.result(), true
}

// A replay is a run of a candidate under way.
type replay struct {
	options Options
	name    string
	set     policy.Set
	rows    []*row
	begin   int64 // Unix seconds, as is now
	now     int64 // of the tick
	head    latch.Head

	latest   int64 // of all samples so far
	observed int64 // seconds, up to then

	commits, firsts, updates, reviews int
}

// A row is one workload in a replay.
type row struct {
	id    workload.ID
	pull  func() (int64, fields, bool)
	stop  func()
	latch latch.Latch
	last  time.Time // when it was looked at last
	meter meter

	at    int64 // of the sample that comes next
	ahead fields
	more  bool

	seen  fields // the latest sample of the tick
	fresh bool   // there was one
}

func newReplay(past *Past, c Candidate, o Options) *replay {
	s := &replay{options: o, name: c.Name, set: c.Set}
	from, _ := past.Span()
	s.begin = from.Unix()
	s.latest = s.begin
	gap := 3 * s.period()
	for _, id := range past.IDs() {
		r := &row{id: id, meter: meter{gap: gap, lasting: int64(o.Lasting / time.Second)}}
		r.pull, r.stop = iter.Pull2(past.seconds(id))
		r.advance()
		s.rows = append(s.rows, r)
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

// next moves to the next tick that has samples, and takes them: those since the
// tick before, of which each workload's latest is what the tick sees.
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

// tick decides as a tick of a site does: the fleet as a whole, each workload,
// then what the budget has room for, which is one commit.
func (s *replay) tick() {
	at := instant(s.now)
	samples := s.samples()
	fleet := workload.Fleet{Cluster: "past", At: at}
	scales := make(map[workload.ID]int32, len(samples))
	for i := range samples {
		if _, _, latched := s.set.Choose(samples[i].Sample); latched {
			scales[samples[i].ID] = samples[i].Scale.Desired
		}
	}
	head, stop := policy.Assess(s.set.Guards, s.head, fleet, scales)
	s.head = head

	decisions := make([]policy.Decision, len(samples))
	for i, one := range samples {
		chosen, skip, latched := s.set.Choose(one.Sample)
		if !latched {
			decisions[i] = skip
			continue
		}
		look := policy.Look{Now: at, Last: one.row.last, Period: s.set.Guards.Period, Stop: stop}
		one.row.latch, decisions[i] = policy.Decide(chosen, one.row.latch, one.Sample, look)
		one.row.last = at
	}
	s.settle(samples, policy.Afford(s.set.Guards, s.head.Budget, at, decisions), at)
}

// A seen is a sample and whose it is.
type seen struct {
	workload.Sample
	row *row
}

func (s *replay) samples() []seen {
	all := make([]seen, 0, len(s.rows))
	for _, r := range s.rows {
		if r.fresh {
			scale := r.seen.scale()
			all = append(all, seen{workload.Sample{ID: r.id, Scale: &scale, Rollout: &workload.Rollout{}}, r})
		}
	}
	return all
}

// settle declares what crossed, in one commit, and what a person is asked to
// review in another. A commit that only declares what git knew nothing of is the
// beginning of a site, which each candidate has alike.
func (s *replay) settle(samples []seen, decisions []policy.Decision, at time.Time) {
	var direct, reviewed commit
	for i, d := range decisions {
		switch {
		case d.Crosses():
			direct.add(d)
		case d.Verdict == policy.Review:
			reviewed.add(d)
		default:
			continue
		}
		r := samples[i].row
		r.latch = r.latch.Settled(entry(d))
		r.meter.declare(s.now, r.latch.Declared.Replicas)
		s.watch(r, s.now)
	}
	for _, c := range []commit{direct, reviewed} {
		switch {
		case c.updates > 0:
			s.commits++
		case c.firsts > 0:
			s.firsts++
		default:
			continue
		}
		s.updates += c.updates
		s.head.Budget = policy.Spend(s.set.Guards, s.head.Budget, at)
	}
	s.reviews += reviewed.updates
}

// A commit counts what it declares: of what had a level, and of what had none.
type commit struct{ updates, firsts int }

func (c *commit) add(d policy.Decision) {
	if d.From == nil {
		c.firsts++
	} else {
		c.updates++
	}
}

// entry is what git holds of a workload after a crossing.
func entry(d policy.Decision) checkpoint.Entry {
	held := checkpoint.Entry{}
	if d.From != nil {
		held = *d.From
	}
	return d.On(held)
}
