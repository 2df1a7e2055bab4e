package dynamo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
)

// tries is the maximum number of times that Acquire finds a changed lease. The owner that
// changed the lease has it then, so a second time is rare already.
const tries = 8

// Acquire takes or extends the lease. See [latch.Store].
func (s *Store) Acquire(ctx context.Context, site, owner string, now, until time.Time) (latch.Lease, error) {
	for range tries {
		held, err := s.lease(ctx, site)
		if err != nil {
			return latch.Lease{}, fmt.Errorf("read lease of site %s: %w", site, err)
		}
		lease, err := held.Next(owner, now, until)
		if err != nil {
			return latch.Lease{}, err
		}
		switch err := s.exchange(ctx, held, lease); {
		case err == nil:
			return lease, nil
		case !errors.Is(err, errCondition):
			return latch.Lease{}, fmt.Errorf("take lease of site %s: %w", site, err)
		}
	}
	return latch.Lease{}, fmt.Errorf("take lease of site %s: other processes changed it during %d attempts", site, tries)
}

// Release gives the lease back. See [latch.Store].
func (s *Store) Release(ctx context.Context, lease latch.Lease) error {
	err := s.update(ctx, headKey(lease.Site), "REMOVE holder, expires", stands, standing(lease))
	if err != nil && !errors.Is(err, errCondition) {
		return fmt.Errorf("release lease of site %s: %w", lease.Site, err)
	}
	return nil
}

// stands is the condition that the lease of standing is the stored one, like
// latch.Lease.Holds.
const stands = "holder = :holder AND fence = :fence"

func standing(lease latch.Lease) item {
	return item{":holder": text(lease.Owner), ":fence": number(lease.Fence)}
}

// exchange stores a lease if the stored one is still equal to held.
func (s *Store) exchange(ctx context.Context, held, lease latch.Lease) error {
	values := item{
		":holder":  text(lease.Owner),
		":expires": text(instant(lease.Until)),
		":fence":   number(lease.Fence),
	}
	var condition string
	switch {
	case held.Fence == 0:
		condition = "attribute_not_exists(fence)"
	case held.Owner == "":
		condition = "fence = :was AND attribute_not_exists(holder)"
		values[":was"] = number(held.Fence)
	default:
		condition = "fence = :was AND holder = :before AND expires = :end"
		values[":was"] = number(held.Fence)
		values[":before"] = text(held.Owner)
		values[":end"] = text(instant(held.Until))
	}
	return s.update(ctx, headKey(lease.Site), "SET holder = :holder, expires = :expires, fence = :fence", condition, values)
}

// lease returns the stored lease. It has no owner if no tick has the lease, and fence 0
// if no tick ever had it.
func (s *Store) lease(ctx context.Context, site string) (latch.Lease, error) {
	stored, err := s.get(ctx, headKey(site), attrHolder, attrExpires, attrFence)
	if err != nil {
		return latch.Lease{}, err
	}
	lease := latch.Lease{Site: site, Owner: textOf(stored[attrHolder]), Fence: numberOf(stored[attrFence])}
	if lease.Owner == "" {
		return lease, nil
	}
	if lease.Until, err = time.Parse(time.RFC3339Nano, textOf(stored[attrExpires])); err != nil {
		return latch.Lease{}, &latch.CorruptError{Where: s.where(headKey(site)), Cause: err}
	}
	return lease, nil
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
