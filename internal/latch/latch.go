package latch

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Latch is the state of one workload: the level declared on the branch, and
// the timers that run against it. Timers hold levels and the instants at which
// something changed, never raw counts, so that a quiet look writes nothing.
type Latch struct {
	ID workload.ID `json:"id"`

	// Declared is what the branch holds for the workload, as far as was last
	// agreed; the zero entry is nothing.
	Declared checkpoint.Entry `json:"declared,omitzero"`
	// Proposal is what an open proposal would have the branch hold; nil is nothing.
	// Timers run against it, where it is, so that a crossing is proposed once. It is a
	// pointer, as Flight is, since a large fleet has a latch for each workload, and
	// most have neither: as values the two were a third of a latch. See Proposed.
	Proposal *checkpoint.Entry `json:"proposal,omitzero"`
	// Asked is true while people are asked for a review or a retirement. Timers then
	// run against Declared, and Proposal may be nil.
	Asked bool `json:"asked,omitzero"`

	Up   Up   `json:"up,omitzero"`
	Down Down `json:"down,omitzero"`
	// Flight is what is remembered of a rollout in flight; nil is none. See Rollout.
	Flight *Rollout `json:"flight,omitzero"`

	// Freeze is why the timers stand still; the zero value is a running latch.
	Freeze Freeze `json:"freeze,omitzero"`

	// PausedUntil is the end of a pause that a user asked for; zero is no pause.
	PausedUntil time.Time `json:"pausedUntil,omitzero"`
	// GraceUntil is the end of the edit grace period; zero is none.
	GraceUntil time.Time `json:"graceUntil,omitzero"`
	// GraceScale is true if the edit grace period is of the scale alone: the user did
	// not change the rollout.
	GraceScale bool `json:"graceScale,omitzero"`
	// OptedOut is set when a person deleted the entry, until they ask it back
	// in by writing it again or by adopting the workload.
	OptedOut bool `json:"optedOut,omitzero"`

	// RemovedUntil is set when a user removed the entry together with many others, which
	// is an edit. If a user removes the entry again before this instant, the workload is
	// opted out. Zero is no such removal.
	RemovedUntil time.Time `json:"removedUntil,omitzero"`

	// Missing runs while the workload is absent from complete samples.
	Missing Stopwatch `json:"missing,omitzero"`

	// Recent is its scale in the recent past, as the guard against a mass drop
	// remembers it.
	Recent Recent `json:"recent,omitzero"`
	// Watch is the facts that are remembered to find unusual conditions.
	Watch Watch `json:"watch,omitzero"`

	// Rev counts saves, so that a save can tell that another came between.
	// 0 is a latch that was never saved.
	Rev int64 `json:"rev,omitzero"`
}

// Up is the timer of a raise. The zero value is one that does not run.
type Up struct {
	// Levels are those of the latest consecutive samples that asked for more
	// than is declared, oldest first; no more of them are kept than a raise can
	// need.
	Levels []int32 `json:"levels,omitzero"`
}

// Down is the timer of a lowering. The zero value is one that does not run.
type Down struct {
	// Level is the level of the highest sample since the timer began.
	Level int32 `json:"level,omitzero"`
	// Count is the number of samples since, as far as a lowering needs any.
	Count int `json:"count,omitzero"`
	Stopwatch
}

// Freeze is a reason for timers to stand still, and since when they do.
type Freeze struct {
	Reason string    `json:"reason,omitzero"` // a policy.Reason; "" is no freeze
	Since  time.Time `json:"since,omitzero"`
}

// Proposed is what is proposed; the zero entry is nothing.
func (l Latch) Proposed() checkpoint.Entry { return held(l.Proposal) }

// Rollout is what is remembered of a rollout in flight; the zero value is none.
func (l Latch) Rollout() Rollout { return held(l.Flight) }

// WithRollout returns the latch with what is remembered of a rollout.
func (l Latch) WithRollout(r Rollout) Latch {
	l.Flight = some(r)
	return l
}

// withProposed returns the latch with what is proposed.
func (l Latch) withProposed(e checkpoint.Entry) Latch {
	l.Proposal = some(e)
	return l
}

// held is what a pointer leads to; nil leads to the zero value, and some is its
// reverse.
func held[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func some[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// Effective returns the latch as a decision sees it: with what is proposed in the
// place of Declared, if something is.
func (l Latch) Effective() Latch {
	if l.Proposal != nil && !l.Asked {
		l.Declared = *l.Proposal
	}
	return l
}

// Change is what an open proposal would change; ok is false where that is nothing.
func (l Latch) Change() (c checkpoint.Change, ok bool) {
	return checkpoint.Change{ID: l.ID, From: l.Declared, To: l.Proposed()}, l.Asked || l.Proposal != nil
}

// Settled returns the latch after the branch came to hold e by gitlatch's own
// doing: samples that asked for still more go on counting. What was proposed and
// is now declared, by merging, moves no timer. A record of a rollout leaves a review
// open.
func (l Latch) Settled(e checkpoint.Entry) Latch {
	if l.Asked && l.Proposal != nil && l.Declared.WithRollout(e.Rollout) == e {
		l.Declared = e
		return l.withProposed(l.Proposal.WithRollout(e.Rollout))
	}
	merged := l.Proposed() == e && e != (checkpoint.Entry{}) && !l.Asked
	was := l.Effective().Declared
	l = l.Unproposed()
	l.Declared = e
	if merged {
		return l
	}
	return l.started(was, e)
}

// Proposing returns the latch after e was proposed, or asked for.
func (l Latch) Proposing(e checkpoint.Entry, asked bool) Latch {
	was := l.Effective().Declared
	l = l.withProposed(e)
	l.Asked = asked
	if asked {
		return l
	}
	return l.started(was, e)
}

// Unproposed returns the latch after nothing is proposed any more.
func (l Latch) Unproposed() Latch {
	l.Proposal, l.Asked = nil, false
	return l
}

// started returns the latch with timers that run against e from now on. A record
// of a rollout moves no timer.
func (l Latch) started(was, e checkpoint.Entry) Latch {
	if was.WithRollout(e.Rollout) == e {
		return l
	}
	above := len(l.Up.Levels)
	for above > 0 && l.Up.Levels[above-1] > e.Replicas {
		above--
	}
	l.Up = Up{Levels: slices.Clone(l.Up.Levels[above:])}
	if len(l.Up.Levels) == 0 {
		l.Up = Up{}
	}
	l.Down = Down{}
	return l
}

// Adopted returns the latch after a person made the branch hold e. Timers of the scale
// start anew, and gitlatch leaves the entry alone until the given instant. A rollout
// that the person did not touch is not left alone, unless an earlier yield does.
func (l Latch) Adopted(e checkpoint.Entry, until time.Time) Latch {
	scale := e != l.Declared && e.Rollout == l.Declared.Rollout
	l.GraceScale = scale && !until.IsZero() && (l.GraceUntil.IsZero() || l.GraceScale)
	l.Declared = e
	l.Up = Up{}
	l.Down = Down{}
	l.OptedOut = false
	l.GraceUntil = until
	return l.Unproposed()
}

// Removed returns the latch after a user removed the entry together with many others:
// gitlatch leaves the workload alone until the given instant. A removal before again
// opts the workload out.
func (l Latch) Removed(until, again time.Time) Latch {
	l = l.Adopted(checkpoint.Entry{}, until)
	l.GraceScale = false
	l.RemovedUntil = again
	return l
}

// Yielded returns the latch without a pause or an edit grace period that is over, and
// without a removal that is too long ago to count.
func (l Latch) Yielded(now time.Time) Latch {
	if !now.Before(l.PausedUntil) {
		l.PausedUntil = time.Time{}
	}
	if !now.Before(l.GraceUntil) {
		l.GraceUntil = time.Time{}
		l.GraceScale = false
	}
	if !now.Before(l.RemovedUntil) {
		l.RemovedUntil = time.Time{}
	}
	return l
}

// Blank reports whether the latch says nothing that its absence would not.
func (l Latch) Blank() bool {
	return l.Declared == (checkpoint.Entry{}) && l.Proposal == nil && !l.Asked && len(l.Up.Levels) == 0 && !l.Down.Running() &&
		len(l.Recent) == 0 && l.Flight == nil && l.PausedUntil.IsZero() && l.GraceUntil.IsZero() && !l.OptedOut &&
		l.RemovedUntil.IsZero() && l.Watch.Equal(Watch{})
}

// Equal reports whether two latches say the same, their revisions aside.
func (l Latch) Equal(o Latch) bool {
	return l.ID == o.ID && l.Declared == o.Declared && l.Proposed() == o.Proposed() && l.Asked == o.Asked &&
		slices.Equal(l.Up.Levels, o.Up.Levels) && l.Down == o.Down && l.Rollout() == o.Rollout() && l.Freeze == o.Freeze &&
		l.PausedUntil == o.PausedUntil && l.GraceUntil == o.GraceUntil && l.GraceScale == o.GraceScale && l.OptedOut == o.OptedOut &&
		l.RemovedUntil == o.RemovedUntil && l.Missing == o.Missing && slices.Equal(l.Recent, o.Recent) && l.Watch.Equal(o.Watch)
}

// Checksum returns a hash of the workload and the revision.
func (l Latch) Checksum() int64 {
	var space [512]byte // most names fit, so that nothing is allocated
	text := space[:0]
	for _, part := range [...]string{l.ID.Namespace, string(l.ID.Kind), l.ID.Name} {
		text = append(text, part...)
		text = append(text, '/')
	}
	text = binary.LittleEndian.AppendUint64(text, uint64(l.Rev))
	sum := sha256.Sum256(text)
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// A Stopwatch measures observed time. It runs from Since, less Lost; what was
// not observed is added to Lost. The zero value does not run.
type Stopwatch struct {
	Since time.Time     `json:"since,omitzero"`
	Lost  time.Duration `json:"lost,omitzero"`
	// Paused is the instant at which the stopwatch was paused; zero while the
	// stopwatch runs.
	Paused time.Time `json:"paused,omitzero"`
}

// Running reports whether the stopwatch was started.
func (s Stopwatch) Running() bool { return !s.Since.IsZero() }

// Elapsed returns the time observed by now.
func (s Stopwatch) Elapsed(now time.Time) time.Duration {
	switch {
	case !s.Running():
		return 0
	case !s.Paused.IsZero():
		now = s.Paused
	}
	return now.Sub(s.Since) - s.Lost
}

// Pause returns the stopwatch standing still since last, the instant of the
// last look that counted.
func (s Stopwatch) Pause(last time.Time) Stopwatch {
	if s.Running() && s.Paused.IsZero() {
		s.Paused = last
	}
	return s
}

// Resume returns the stopwatch running again, with nothing counted between the
// pause and last, the instant of the last look that did not count.
func (s Stopwatch) Resume(last time.Time) Stopwatch {
	if !s.Paused.IsZero() {
		s = s.Lose(last.Sub(s.Paused))
		s.Paused = time.Time{}
	}
	return s
}

// Lose returns the stopwatch with d not counted.
func (s Stopwatch) Lose(d time.Duration) Stopwatch {
	if s.Running() && d > 0 {
		s.Lost += d
	}
	return s
}
