package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An Amendment is what a person changes in the state of a site.
type Amendment struct {
	// Cluster adopts a cluster, by UID, as the site's own; "" leaves that alone.
	Cluster string
	// Acknowledge ends a mass drop that the fleet will not recover from.
	Acknowledge bool
	// HoldUntil pauses the site, or only the named workloads if there are any. The
	// zero value changes no pause, and an instant that has passed ends them.
	HoldUntil time.Time
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
	rereadIfTorn(&head, all)
	latches := newLatches(all)
	if err := a.apply(&head, latches); err != nil {
		return err
	}
	head.Latches = latches.checksum()
	put, drop := latches.changed()
	_, err = store.Save(ctx, held, head, put, drop)
	return err
}

func (a Amendment) apply(head *latch.Head, latches latches) error {
	if a.Cluster != "" {
		head.Cluster = latch.Cluster{UID: a.Cluster}
	}
	if a.Cluster != "" || a.Acknowledge {
		head.Drop = nil
		for _, l := range latches.now() {
			l.Recent = nil
			latches.set(l)
		}
	}
	if !a.HoldUntil.IsZero() && len(a.Workloads) == 0 {
		head.HoldUntil = a.HoldUntil
	}
	for _, id := range a.Workloads {
		l, known := latches.of(id)
		if !known {
			return fmt.Errorf("workload %s: site has no latch of it; it gets one on the first tick that sees it", id)
		}
		if !a.HoldUntil.IsZero() {
			l.PausedUntil = a.HoldUntil
		}
		if a.Latch {
			l.OptedOut = false
			l.PausedUntil = time.Time{}
			l.YieldUntil = time.Time{}
			l.YieldScale = false
			l.RemovedUntil = time.Time{}
		}
		latches.set(l)
	}
	return nil
}
