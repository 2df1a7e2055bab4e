package latch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Store stores the state of sites. It does not read the clock: instants are arguments.
type Store interface {
	// Acquire takes the site's lease for owner until the given instant. If owner has the
	// lease already, Acquire extends it. The fence grows each time the lease changes its
	// owner. Acquire returns a HeldError if another owner has a lease that has not
	// expired at now.
	Acquire(ctx context.Context, site, owner string, now, until time.Time) (Lease, error)

	// Head reads the head of a site; the zero Head if the site has no state. Head and
	// Latches are strongly consistent: they see the writes of each Save that has
	// returned. Instants are in UTC, to the nanosecond. Reading requires no lease.
	//
	// A caller with the lease sees no Save of another owner between the two reads.
	// Without the lease a Save may come between them, so read the head first, like Load.
	Head(ctx context.Context, site string) (Head, error)

	// Latches reads the latches of a site, by workload. The caller owns the map. See
	// Head.
	Latches(ctx context.Context, site string) (map[workload.ID]Latch, error)

	// Save writes under a lease. It writes the latches in put, each only if its Rev is
	// the stored one, and increments Rev. It deletes the latches in drop. Then it writes
	// the head. If the lease was taken over or a stored Rev differs, it returns ErrLost
	// and does not write the head. Each latch is then either written completely or not
	// written. A Save that stops half-way has the same effect: Head.Latches then differs
	// from the Checksum of the latches.
	Save(ctx context.Context, lease Lease, head Head, put []Latch, drop []workload.ID) error

	// Release gives the lease back. If the lease was taken over, Release has no effect
	// and returns no error.
	Release(ctx context.Context, lease Lease) error
}

// Load reads the state of a site, the head first. If a Save comes between the reads, the
// head is older than the latches, as after a Save that stopped half-way: the next tick
// judges the changes in git since then again. If the latches were older than the head,
// the tick would decide levels again that are in git already.
func Load(ctx context.Context, s Store, site string) (Head, map[workload.ID]Latch, error) {
	head, err := s.Head(ctx, site)
	if err != nil {
		return head, nil, err
	}
	latches, err := s.Latches(ctx, site)
	return head, latches, err
}

// A Lease is the right of one owner to write the state of one site.
type Lease struct {
	Site  string    `json:"site"`
	Owner string    `json:"owner,omitzero"`
	Until time.Time `json:"until,omitzero"`
	Fence int64     `json:"fence"` // grows with each change of the owner; at least the Unix time of that change, in ms
}

// Next returns the lease that owner gets if l is the stored lease. If l is owner's
// already, Next extends it. If l has no owner ("") or has expired at now, Next returns a
// lease with the next fence. Otherwise it returns a HeldError.
func (l Lease) Next(owner string, now, until time.Time) (Lease, error) {
	switch {
	case owner == "":
		return Lease{}, fmt.Errorf("site %s: lease must have an owner", l.Site)
	case l.Owner == owner:
	case l.Owner != "" && now.Before(l.Until):
		return Lease{}, &HeldError{Site: l.Site, Owner: l.Owner, Until: l.Until}
	default:
		l.Owner = owner
		// The time makes the fence grow as well. So after a restore from a backup, the
		// store does not repeat a fence that it gave out since the backup.
		l.Fence = max(l.Fence+1, now.UnixMilli())
	}
	l.Until = until.UTC()
	return l, nil
}

// Holds reports whether l, the stored lease, is still the one that was given out as
// lease. It ignores the expiry: until another owner takes over, a late owner is harmless.
func (l Lease) Holds(lease Lease) bool {
	return l.Owner != "" && l.Owner == lease.Owner && l.Fence == lease.Fence
}

// A HeldError reports that another owner has the lease of a site.
type HeldError struct {
	Site  string
	Owner string
	Until time.Time
}

// Error names the owner and the end of the lease.
func (e *HeldError) Error() string {
	return fmt.Sprintf("site %s: lease is held by %s until %s", e.Site, e.Owner, e.Until.UTC().Format(time.RFC3339))
}

// ErrLost is returned by a Save that came too late: another owner has the lease, or
// another tick saved one of the latches. Read the state again and repeat the decision.
var ErrLost = errors.New("lease or latch was taken over by another tick")

// A CorruptError reports that stored state cannot be read.
type CorruptError struct {
	Where string // the file or table
	Cause error
}

// Error names the unreadable state, the cause and the remedy.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: the state cannot be read: %v. Move it away, and run the command again. gitlatch then reads the levels from git, and only the timers are lost", e.Where, e.Cause)
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Cause }
