package latch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Store keeps the state of sites. It reads no clock: instants are arguments.
type Store interface {
	// Acquire takes the site's lease for owner until the given instant, or
	// extends it where owner holds it and it has not been taken over. Each time
	// the lease changes hands its fence grows. It returns a HeldError while
	// another owner holds a lease that has not expired at now.
	Acquire(ctx context.Context, site, owner string, now, until time.Time) (Lease, error)

	// Head reads the head of a site, the zero Head where it has no state. Head and
	// Latches are strongly consistent: what a Save that returned wrote is seen.
	// Instants come in UTC, to the nanosecond. Reading needs no lease.
	//
	// Under a lease nobody else saves between the two reads. Without one a Save may
	// come between: read the head first, as Load does.
	Head(ctx context.Context, site string) (Head, error)

	// Latches reads the latches of a site by workload, in a map that is the
	// caller's. See Head.
	Latches(ctx context.Context, site string) (map[workload.ID]Latch, error)

	// Save writes under a lease: first the latches in put, each only if its Rev
	// is the stored one, and with the next Rev; without the latches in drop; then
	// the head. Where the lease was taken over, or a latch moved meanwhile, it
	// returns ErrLost; the head is then not written, and of the latches each is
	// written whole or not at all. A Save that stops half-way leaves the same:
	// Head.Latches then differs from the Checksum of the latches.
	Save(ctx context.Context, lease Lease, head Head, put []Latch, drop []workload.ID) error

	// Release gives the lease back. A lease that was taken over is left alone,
	// without an error.
	Release(ctx context.Context, lease Lease) error
}

// Load reads the whole state of a site, the head first. If a Save comes between, the
// head is older than the latches, as a Save that was cut short leaves them: whatever
// git holds since then is judged again. With latches older than the head, levels that
// git holds would be decided again.
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
	Fence int64     `json:"fence"` // grows with each change of hands, never back; at least the Unix time of it in ms
}

// Next returns the lease that owner gets where l is the one stored, whose owner
// is "" where nobody holds it: l with a later end where it is owner's already,
// a lease with the next fence where it is free or has expired at now. Else the
// error is a HeldError.
func (l Lease) Next(owner string, now, until time.Time) (Lease, error) {
	switch {
	case owner == "":
		return Lease{}, fmt.Errorf("site %s: lease must have an owner", l.Site)
	case l.Owner == owner:
	case l.Owner != "" && now.Before(l.Until):
		return Lease{}, &HeldError{Site: l.Site, Owner: l.Owner, Until: l.Until}
	default:
		l.Owner = owner
		// Time, too, makes it grow: after a store was restored from a backup, no
		// fence is given out again that was given out since that backup.
		l.Fence = max(l.Fence+1, now.UnixMilli())
	}
	l.Until = until.UTC()
	return l, nil
}

// Holds reports whether l, the lease stored, still is the one that was given
// out as lease. Its end plays no part: until another takes over, a late holder
// disturbs nobody.
func (l Lease) Holds(lease Lease) bool {
	return l.Owner != "" && l.Owner == lease.Owner && l.Fence == lease.Fence
}

// A HeldError says that the lease of a site is held by another.
type HeldError struct {
	Site  string
	Owner string
	Until time.Time
}

// Error names the holder and until when it may hold.
func (e *HeldError) Error() string {
	return fmt.Sprintf("site %s: lease is held by %s until %s", e.Site, e.Owner, e.Until.UTC().Format(time.RFC3339))
}

// ErrLost is returned by a Save that came too late: another owner has the
// lease, or a latch was saved by another meanwhile. Read again and decide
// afresh.
var ErrLost = errors.New("lease or latch was taken over by another tick")

// A CorruptError says that stored state cannot be read, and what to do.
type CorruptError struct {
	Where string // the file or table
	Cause error
}

// Error says what cannot be read and that git rebuilds it.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: the state cannot be read: %v. Move it away, and run the command again. gitlatch then reads the levels from git, and only the timers are lost", e.Where, e.Cause)
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Cause }
