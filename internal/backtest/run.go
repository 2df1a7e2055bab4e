package backtest

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Candidate is a policy to try, with its name in reports. The period is in its guards.
type Candidate struct {
	Name string
	Set  policy.Set
}

// A Watch is called with each sample and each level change of a workload, in the order of
// time. levelled is false without a level.
type Watch func(id workload.ID, at time.Time, need, level int32, levelled bool)

// Try replays a past with a candidate. watch may be nil. The error is the error of the
// context.
func Try(ctx context.Context, past *Past, c Candidate, watch Watch) (Row, error) {
	state := &site{set: c.Set, latches: map[workload.ID]latch.Latch{}}
	state.set.Latch = true // the past contains no mode of the site
	r := &replay{period: c.Set.Guards.Period, gap: 3 * c.Set.Guards.Period, watch: watch}
	return r.play(ctx, past, c.Name, state.tick)
}

// Levels returns the level that a tick at a time sets, from the desired replicas. ok is
// false if it sets no level.
type Levels func(id workload.ID, at time.Time, need int32) (level int32, ok bool)

// Measure replays a past with levels that a function returns once a period, and measures
// from a time on. Samples that are further apart than gap are not observed in between.
func Measure(past *Past, name string, period, gap time.Duration, from time.Time, levels Levels) Row {
	r := &replay{period: period, gap: gap, meter: meter{from: from}}
	row, _ := r.play(context.Background(), past, name, func(r *replay) { // is not cancelled
		for _, w := range r.rows {
			if level, ok := levels(w.id, r.now, w.part.need); w.fresh && ok {
				r.declare(w, level)
			}
		}
		r.commit()
	})
	return row
}

// Hourly returns the figures of a job that commits all replica counts at each full hour.
func Hourly(past *Past, gap time.Duration, from time.Time) Row {
	return Measure(past, "hourly job", time.Hour, gap, from, func(_ workload.ID, _ time.Time, need int32) (int32, bool) { return need, true })
}

// A replay goes through the samples and the ticks of a past, in the order of time.
type replay struct {
	rows   []*row
	byID   map[workload.ID]*row
	period time.Duration
	gap    time.Duration
	watch  Watch
	meter  meter
	now    time.Time // time of the tick

	changed bool // the tick changed the level of a workload that had one
	commits int
}

// A row is one workload in a replay.
type row struct {
	id    workload.ID
	pull  func() (Sample, bool)
	stop  func()
	ahead Sample // the next sample, if more is true
	more  bool

	part   part
	latest Sample
	fresh  bool      // the tick has a sample
	last   time.Time // tick of the last earlier sample; zero before the first
}

// play calls tick at each multiple of the period that follows a sample, and returns the
// figures. A tick uses the latest sample of each workload since the tick before. The last
// sample has no tick, because the time after it is not observed.
func (r *replay) play(ctx context.Context, past *Past, name string, tick func(*replay)) (Row, error) {
	r.byID = map[workload.ID]*row{}
	for _, id := range past.IDs() {
		w := &row{id: id}
		w.pull, w.stop = iter.Pull(past.Of(id))
		defer w.stop()
		w.ahead, w.more = w.pull()
		r.rows = append(r.rows, w)
		r.byID[id] = w
	}
	for ctx.Err() == nil {
		at, more := r.earliest()
		if !more {
			return r.figures(name), nil
		}
		if r.now.Before(at) {
			if slices.ContainsFunc(r.rows, func(w *row) bool { return w.fresh }) {
				tick(r)
			}
			for _, w := range r.rows {
				w.end(r.now)
			}
			r.now = at.Add(r.period - 1).Truncate(r.period)
		}
		for _, w := range r.rows {
			if w.more && w.ahead.At.Equal(at) {
				r.take(w)
			}
		}
	}
	return Row{}, ctx.Err()
}

// earliest returns the time of the next sample.
func (r *replay) earliest() (at time.Time, more bool) {
	for _, w := range r.rows {
		if w.more && (!more || w.ahead.At.Before(at)) {
			at, more = w.ahead.At, true
		}
	}
	return at, more
}

// take takes the next sample of a workload. The workload is not observed after it if the
// sample that follows is too late.
func (r *replay) take(w *row) {
	w.latest = w.ahead
	w.fresh = true
	w.ahead, w.more = w.pull()
	to := w.part
	to.observed = w.more && w.ahead.At.Sub(w.latest.At) <= r.gap
	to.need = w.latest.Pods
	r.change(w, w.latest.At, to)
}

// declare sets the level of a workload.
func (r *replay) declare(w *row, level int32) {
	if w.part.levelled && w.part.level != level {
		r.changed = true
	}
	to := w.part
	to.levelled = true
	to.level = level
	r.change(w, r.now, to)
}

func (r *replay) change(w *row, at time.Time, to part) {
	r.meter.change(at, &w.part, to)
	if r.watch != nil {
		r.watch(w.id, at, to.need, to.level, to.levelled)
	}
}

// commit counts one commit if a level changed in the measured time.
func (r *replay) commit() {
	if r.changed && !r.now.Before(r.meter.from) {
		r.commits++
	}
	r.changed = false
}

// end ends a tick of a workload.
func (w *row) end(tick time.Time) {
	if w.fresh {
		w.last = tick
	}
	w.fresh = false
}

func (r *replay) figures(name string) Row {
	f := Row{Name: name, Days: r.meter.time.Hours() / 24, Commits: r.commits, Coverage: r.meter.coverage()}
	f.Levels = lists.Count(r.rows, func(w *row) bool { return w.part.levelled })
	if f.Days > 0 {
		f.CommitsPerDay = float64(f.Commits) / f.Days
	}
	return f
}

// A site is the state of a candidate in a replay.
type site struct {
	set     policy.Set // changed to mode latch
	head    latch.Head
	latches map[workload.ID]latch.Latch
}

// tick makes the decisions of a site, and sets the levels that a tick would commit. Level
// changes for review are merged at once, in a separate commit.
func (s *site) tick(r *replay) {
	decided := policy.Round(policy.Site{
		State:  latch.State{Head: s.head, Latches: latch.LatchesOf(s.latches)},
		Set:    s.set,
		Fleet:  workload.Fleet{Cluster: "past", At: r.now, Kinds: s.set.Kinds, Samples: r.samples()},
		Period: s.set.Guards.Period,
		Last:   func(id workload.ID) time.Time { return r.byID[id].last },
	})
	state := decided.State
	for _, is := range []func(policy.Decision) bool{
		policy.Decision.Crosses,
		func(d policy.Decision) bool { return d.Verdict == policy.Review },
	} {
		decisions := lists.Filter(decided.Decisions, is)
		if len(decisions) == 0 {
			continue
		}
		state = policy.Settled(s.set.Guards, state, decisions, r.now)
		for _, d := range decisions {
			r.declare(r.byID[d.ID], state.Latches.Get(d.ID).Declared.Replicas)
		}
		r.commit()
	}
	s.head = state.Head
	s.head.At = r.now
	put, drop := state.Latches.Changed()
	for _, l := range put {
		s.latches[l.ID] = l
	}
	for _, id := range drop {
		delete(s.latches, id)
	}
}

// steady is the rollout of a workload that never rolls out.
var steady = &workload.Rollout{}

// samples returns the samples of a tick. The scale of a workload between two of its
// samples is unknown. Before the first and after the last sample, the workload is absent.
func (r *replay) samples() []workload.Sample {
	var samples []workload.Sample
	for _, w := range r.rows {
		if !w.fresh && (w.last.IsZero() || !w.more) {
			continue
		}
		sample := workload.Sample{ID: w.id, Rollout: steady}
		if w.fresh {
			scale := w.latest.scale()
			sample.Scale = &scale
		}
		samples = append(samples, sample)
	}
	return samples
}
