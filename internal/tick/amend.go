package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An Amendment is a user's change of the state of a site.
type Amendment struct {
	// Cluster adopts a cluster, by UID, as the site's own; "" leaves that alone.
	Cluster string
	// Acknowledge ends a mass drop that the fleet will not recover from.
	Acknowledge bool
	// PauseUntil pauses the site, or only the named workloads if there are any. The
	// zero value changes no pause, and an instant that has passed ends them.
	PauseUntil time.Time
	// Latch asks the named workloads back in, and ends their pauses and edit grace
	// periods.
	Latch     bool
	Workloads []workload.ID
}

// Amend applies a person's amendment under the site's lease.
func Amend(ctx context.Context, store latch.Store, site, owner string, now time.Time, lease time.Duration, a Amendment) (err error) {
	held, err := store.Acquire(ctx, site, owner, now, now.Add(lease))
	if err != nil {
		return fmt.Errorf("take the lease of site %s: %w", site, err)
	}
	defer func() { err = errors.Join(err, giveBack(ctx, store, held)) }()
	head, all, err := latch.Load(ctx, store, site)
	if err != nil {
		return err
	}
	state := latch.State{Head: head, Latches: latch.LatchesOf(all)}
	if state.Torn() {
		state.Head.Agreed = state.Head.Agreed.ReadAgain()
	}
	state, err = a.apply(state)
	if err != nil {
		return err
	}
	state.Head.Latches = state.Latches.Checksum()
	put, drop := state.Latches.Changed()
	return store.Save(ctx, held, state.Head, put, drop)
}

// apply returns the state with the amendment.
func (a Amendment) apply(s latch.State) (latch.State, error) {
	if a.Cluster != "" {
		s.Head.Cluster = latch.Cluster{UID: a.Cluster}
	}
	if a.Cluster != "" || a.Acknowledge {
		s.Head.Drop = nil
		s.Latches = s.Latches.Each(func(one latch.Latch) latch.Latch {
			one.Recent = nil
			return one
		})
	}
	if !a.PauseUntil.IsZero() && len(a.Workloads) == 0 {
		s.Head.PausedUntil = a.PauseUntil
	}
	for _, id := range a.Workloads {
		one, known := s.Latches.Lookup(id)
		if !known {
			return s, fmt.Errorf("workload %s: the state has no latch for it. The first tick that samples it creates one", id)
		}
		if !a.PauseUntil.IsZero() {
			one.PausedUntil = a.PauseUntil
		}
		if a.Latch {
			one.OptedOut = false
			one.PausedUntil = time.Time{}
			one.GraceUntil = time.Time{}
			one.GraceScale = false
			one.RemovedUntil = time.Time{}
		}
		s.Latches = s.Latches.With(map[workload.ID]latch.Latch{id: one})
	}
	return s, nil
}
