package story

import (
	"errors"

	"github.com/gitlatch/gitlatch/internal/alert"
)

// Faults are the faults of a world's ticks. The zero value has no faults.
type Faults struct {
	// KillBefore is the number of the effect before which the process dies; 0 disables
	// it.
	KillBefore int
	// FailAt is the number of the effect that fails. UnheardAt is the number of the
	// effect that takes place but reports a failure. 0 disables either.
	FailAt, UnheardAt int
	// Half stops the next save of latches before the head, and kills the process.
	Half bool
	// before are the acts just before an effect of the next tick, by its number.
	before map[int][]func()

	// Throttled is the number of saves that fail from now on.
	Throttled int
	// Room is the maximum size of the head in bytes; 0 means no limit.
	Room int
	// Limit is the maximum number of files in a commit that the host accepts; 0 means no
	// limit.
	Limit int
	// Refuse is the server's error for every push; "" accepts them.
	Refuse string
	// LostReply makes the next push land, and the tick gets no reply. With Lands, the
	// push lands, and the tick gets a refusal.
	LostReply, Lands bool
	// Hold prevents the next push from landing, and the tick from getting an answer.
	// With Refused the tick gets that refusal.
	Hold    bool
	Refused string
	// Walks is the number of commits that the host reads to find a window; 0 means no
	// limit.
	Walks int
	// Deaf is a topic that accepts no alert. Unwanted is the kind that the topic refuses.
	Deaf     bool
	Unwanted alert.Kind
}

var (
	// ErrKilled is the error of a tick that was killed.
	ErrKilled = errors.New("killed")
	errFault  = errors.New("the service is unavailable")
)

// does performs one effect of a tick, unless a fault prevents it.
func (w *World) does(effect func() error) error {
	w.Effects++
	n := w.Effects
	w.happen(n)
	switch {
	case w.KillBefore > 0 && n >= w.KillBefore:
		w.Disturbed = true
		return ErrKilled
	case n == w.FailAt:
		w.Disturbed = true
		return errFault
	}
	err := effect()
	if n == w.UnheardAt && err == nil {
		w.Disturbed = true
		return errFault
	}
	return err
}

// happen runs the acts before an effect. They may include other ticks, which this
// tick's faults do not affect.
func (w *World) happen(effect int) {
	acts := w.before[effect]
	if len(acts) == 0 {
		return
	}
	delete(w.before, effect)
	faults, effects, requests, settled, pushing := w.Faults, w.Effects, w.Requests, w.Settled, w.pushing
	w.Faults = Faults{Refuse: faults.Refuse, Limit: faults.Limit, Room: faults.Room, Walks: faults.Walks, Deaf: faults.Deaf, Unwanted: faults.Unwanted}
	for _, act := range acts {
		act()
	}
	w.Faults, w.Effects, w.Requests, w.Settled, w.pushing = faults, effects, requests, settled, pushing
	w.Disturbed, w.ticking = true, true
}
