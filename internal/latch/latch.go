package latch

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Latch is the state of one workload: the level declared on the branch, and the timers
// that run against it. Timers store levels, and the instants at which something changed,
// never raw replica counts. So a quiet sample writes nothing.
type Latch struct {
	ID workload.ID `json:"id"`

	// Declared is the entry of the workload on the branch at the last agreement; the zero
	// entry if git has no entry.
	Declared checkpoint.Entry `json:"declared,omitzero"`
	// Proposal is the part of the open proposal about this workload; nil if the proposal has
	// none. Proposal and Flight are pointers because a large fleet has a latch for each
	// workload, and most latches have neither. As values, the two were a third of a
	// latch. See Proposed.
	Proposal *Offer `json:"proposal,omitzero"`

	Up   Up   `json:"up,omitzero"`
	Down Down `json:"down,omitzero"`
	// Flight is the memory of a rollout in flight; nil if there is none. See Rollout.
	Flight *Rollout `json:"flight,omitzero"`

	// Freeze is the reason for which the timers are paused; the zero value if they run.
	Freeze Freeze `json:"freeze,omitzero"`

	// PausedUntil is the end of a user's pause; zero if the workload is not paused.
	PausedUntil time.Time `json:"pausedUntil,omitzero"`
	// GraceUntil is the end of the edit grace period; zero if there is none.
	GraceUntil time.Time `json:"graceUntil,omitzero"`
	// GraceScale is true if the edit grace period covers the scale alone, because the
	// user did not change the rollout.
	GraceScale bool `json:"graceScale,omitzero"`
	// OptedOut is true after a user deleted the entry, until a user writes the entry
	// again or adopts the workload.
	OptedOut bool `json:"optedOut,omitzero"`

	// RemovedUntil is set when a user removed the entry together with many others, which
	// is an edit. If a user removes the entry again before this instant, the workload is
	// opted out. Zero if there was no such removal.
	RemovedUntil time.Time `json:"removedUntil,omitzero"`

	// Missing runs while the workload is absent from complete samples.
	Missing Stopwatch `json:"missing,omitzero"`

	// Recent is the recent scale of the workload, for the guard against a mass drop.
	Recent Recent `json:"recent,omitzero"`
	// Watch is the facts that are stored to find unusual conditions.
	Watch Watch `json:"watch,omitzero"`

	// Rev is the number of saves, so that a save detects another save since the latch was
	// read. 0 is a latch that was never saved.
	Rev int64 `json:"rev,omitzero"`
}

// An Offer is an entry that users can merge. The zero Entry removes the entry.
type Offer struct {
	Entry checkpoint.Entry `json:"entry,omitzero"`
	// Asked is true if a user is asked for a review or a retirement. Timers then run against
	// Declared. Otherwise they run against Entry, so that gitlatch proposes a level change once.
	Asked bool `json:"asked,omitzero"`
}

// Up is the timer of a raise. The zero value is a timer that does not run.
type Up struct {
	// Levels are the levels of the latest consecutive samples that asked for more than
	// the declared level, oldest first. The number of levels is at most the number of
	// samples that a raise can require.
	Levels []int32 `json:"levels,omitzero"`
}

// Down is the timer of a lowering. The zero value is a timer that does not run.
type Down struct {
	// Level is the level of the highest sample since the timer started.
	Level int32 `json:"level,omitzero"`
	// Count is the number of samples since then, at most the number that a lowering
	// requires.
	Count int `json:"count,omitzero"`
	Stopwatch
}

// Freeze is a reason to pause the timers, and the instant since which they are paused.
type Freeze struct {
	Reason string    `json:"reason,omitzero"` // a policy.Reason; "" if the timers run
	Since  time.Time `json:"since,omitzero"`
}

// Proposed returns the proposed entry; the zero entry if the latch has no proposal.
func (l Latch) Proposed() checkpoint.Entry { return held(l.Proposal).Entry }

// Rollout returns the memory of a rollout in flight; the zero value if Flight is nil.
func (l Latch) Rollout() Rollout { return held(l.Flight) }

// WithRollout returns the latch with the given memory of a rollout.
func (l Latch) WithRollout(r Rollout) Latch {
	l.Flight = some(r)
	return l
}

// held returns the value behind a pointer; the zero value for nil. some is its inverse.
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

// Base returns the entry that timers run against: the proposed entry, or the declared entry if
// no entry is proposed or a user is asked.
func (l Latch) Base() checkpoint.Entry {
	if l.Proposal != nil && !l.Proposal.Asked {
		return l.Proposal.Entry
	}
	return l.Declared
}

// Change returns the change of an open proposal; ok is false if no proposal is open.
func (l Latch) Change() (c checkpoint.Change, ok bool) {
	return checkpoint.Change{ID: l.ID, From: l.Declared, To: l.Proposed()}, l.Proposal != nil
}

// Settled returns the latch after gitlatch itself brought e onto the branch. Samples that
// asked for a still higher level continue to count. A merge of the proposed entry moves
// no timer. A rollout entry leaves a review open.
func (l Latch) Settled(e checkpoint.Entry) Latch {
	review := held(l.Proposal)
	if review.Asked && !review.Entry.IsZero() && l.Declared.WithRollout(e.Rollout) == e {
		l.Declared = e
		review.Entry = review.Entry.WithRollout(e.Rollout)
		l.Proposal = &review
		return l
	}
	was := l.Base()
	l = l.Unproposed()
	l.Declared = e
	return l.started(was, e)
}

// Proposing returns the latch after gitlatch proposed e, or asked a user for it.
func (l Latch) Proposing(e checkpoint.Entry, asked bool) Latch {
	was := l.Base()
	l.Proposal = some(Offer{e, asked})
	if asked {
		return l
	}
	return l.started(was, e)
}

// Unproposed returns the latch without a proposal.
func (l Latch) Unproposed() Latch {
	l.Proposal = nil
	return l
}

// started returns the latch with timers that run against e from now on. A change of the
// rollout alone moves no timer.
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

// Adopted returns the latch after a user wrote e to the branch. It resets the timers of
// the scale, and starts an edit grace period until the given instant. The period covers
// the scale alone if the user did not change the rollout, unless an earlier period covers
// both, or the user opts the workload in again.
func (l Latch) Adopted(e checkpoint.Entry, until time.Time) Latch {
	scale := e != l.Declared && e.Rollout == l.Declared.Rollout
	l.GraceScale = scale && !l.OptedOut && !until.IsZero() && (l.GraceUntil.IsZero() || l.GraceScale)
	l.Declared = e
	l.Up = Up{}
	l.Down = Down{}
	l.OptedOut = false
	l.GraceUntil = until
	return l.Unproposed()
}

// Removed returns the latch after a user removed the entry together with many others. An
// edit grace period runs until the first instant. If a user removes the entry again
// before the second instant, the workload is opted out.
func (l Latch) Removed(until, again time.Time) Latch {
	l = l.Adopted(checkpoint.Entry{}, until)
	l.GraceScale = false
	l.RemovedUntil = again
	return l
}

// Returned reports whether the latch has an entry again after a user removed it together with
// many others, and so recently that another removal opts the workload out.
func (l Latch) Returned(now time.Time) bool {
	return now.Before(l.RemovedUntil) && !l.Declared.IsZero()
}

// Yielded returns the latch without a pause, an edit grace period or a mass removal that
// is over at now.
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

// Blank reports whether the latch has no state to store. Freeze and Missing alone are not
// stored.
func (l Latch) Blank() bool {
	return l.Declared == (checkpoint.Entry{}) && l.Proposal == nil && len(l.Up.Levels) == 0 && !l.Down.Running() &&
		len(l.Recent) == 0 && l.Flight == nil && l.PausedUntil.IsZero() && l.GraceUntil.IsZero() && !l.OptedOut &&
		l.RemovedUntil.IsZero() && l.Watch.Equal(Watch{})
}

// Equal reports whether two latches are equal except for their revisions.
func (l Latch) Equal(o Latch) bool {
	return l.ID == o.ID && l.Declared == o.Declared && held(l.Proposal) == held(o.Proposal) &&
		slices.Equal(l.Up.Levels, o.Up.Levels) && l.Down == o.Down && l.Rollout() == o.Rollout() && l.Freeze == o.Freeze &&
		l.PausedUntil == o.PausedUntil && l.GraceUntil == o.GraceUntil && l.GraceScale == o.GraceScale && l.OptedOut == o.OptedOut &&
		l.RemovedUntil == o.RemovedUntil && l.Missing == o.Missing && slices.Equal(l.Recent, o.Recent) && l.Watch.Equal(o.Watch)
}

// Checksum returns a hash of the workload and the revision.
func (l Latch) Checksum() int64 {
	var space [512]byte // most names fit, which avoids an allocation
	text := space[:0]
	for _, part := range [...]string{l.ID.Namespace, string(l.ID.Kind), l.ID.Name} {
		text = append(text, part...)
		text = append(text, '/')
	}
	text = binary.LittleEndian.AppendUint64(text, uint64(l.Rev))
	sum := sha256.Sum256(text)
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// A Stopwatch measures observed time: the time since Since, less Lost. Time that was not
// observed is added to Lost. The zero value does not run.
type Stopwatch struct {
	Since time.Time     `json:"since,omitzero"`
	Lost  time.Duration `json:"lost,omitzero"`
	// Paused is the instant at which the stopwatch was paused; zero while it runs.
	Paused time.Time `json:"paused,omitzero"`
}

// Running reports whether the stopwatch was started.
func (s Stopwatch) Running() bool { return !s.Since.IsZero() }

// Elapsed returns the time that was observed until now.
func (s Stopwatch) Elapsed(now time.Time) time.Duration {
	switch {
	case !s.Running():
		return 0
	case !s.Paused.IsZero():
		now = s.Paused
	}
	return now.Sub(s.Since) - s.Lost
}

// Pause returns the stopwatch paused since last, the instant of the last sample that
// counted.
func (s Stopwatch) Pause(last time.Time) Stopwatch {
	if s.Running() && s.Paused.IsZero() {
		s.Paused = last
	}
	return s
}

// Resume returns the stopwatch running again. The time between the pause and last, the
// instant of the last sample that did not count, is lost.
func (s Stopwatch) Resume(last time.Time) Stopwatch {
	if !s.Paused.IsZero() {
		s = s.Lose(last.Sub(s.Paused))
		s.Paused = time.Time{}
	}
	return s
}

// Lose returns the stopwatch with d added to the lost time.
func (s Stopwatch) Lose(d time.Duration) Stopwatch {
	if s.Running() && d > 0 {
		s.Lost += d
	}
	return s
}
