package backtest

import (
	"iter"
	"maps"
	"time"

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

	// Of one tick, kept so that the next one need not allocate them again.
	looked    []*row
	scales    map[workload.ID]int32
	recent    map[workload.ID]latch.Recent
	decisions []policy.Decision
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

	// What the tick makes of it: latched is false where the policy skips it.
	scale   workload.Scale
	sample  workload.Sample
	policy  policy.Policy
	skip    policy.Decision
	latched bool
}

func newReplay(past *Past, c Candidate, o Options) *replay {
	s := &replay{options: o, name: c.Name, set: c.Set, scales: map[workload.ID]int32{}, recent: map[workload.ID]latch.Recent{}}
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
	looked := s.look()
	fleet := workload.Fleet{Cluster: "past", At: at}
	head, recent, stop := policy.Assess(s.set.Guards, s.head, fleet, s.scales, s.recent)
	s.head, s.head.At = head, at
	maps.Copy(s.recent, recent)

	decisions := s.decisions[:0]
	for _, r := range looked {
		d := r.skip
		if r.latched {
			look := policy.Look{Now: at, Last: r.last, Period: s.set.Guards.Period, Stop: stop}
			r.latch, d = policy.Decide(r.policy, r.latch, r.sample, look)
			r.last = at
		}
		decisions = append(decisions, d)
	}
	s.decisions = decisions
	s.settle(looked, policy.Afford(s.set.Guards, s.head.Budget, at, decisions), at)
}

// steady is the rollout of what never rolls out.
var steady = &workload.Rollout{}

// look returns the rows that the tick sees, each with its sample and its policy.
// What it returns is that of the tick before, written anew, as are the scales.
func (s *replay) look() []*row {
	s.looked = s.looked[:0]
	clear(s.scales)
	for _, r := range s.rows {
		if !r.fresh {
			continue
		}
		r.scale = r.seen.scale()
		r.sample = workload.Sample{ID: r.id, Scale: &r.scale, Rollout: steady}
		if r.policy, r.skip, r.latched = s.set.Choose(r.sample); r.latched {
			s.scales[r.id] = r.scale.Desired
		}
		s.looked = append(s.looked, r)
	}
	return s.looked
}

// settle declares what crossed, in one commit, and what a person is asked to
// review in another. A commit that only declares what git knew nothing of is the
// beginning of a site, which each candidate has alike.
func (s *replay) settle(looked []*row, decisions []policy.Decision, at time.Time) {
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
		r := looked[i]
		r.latch = r.latch.Settled(d.ApplyTo(d.From))
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
	if d.From.IsZero() {
		c.firsts++
	} else {
		c.updates++
	}
}
