// Package mem stores state in memory: a [latch.Store] that ends with the process, for a
// dry run and for tests.
package mem

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Store stores state in memory. The zero value is empty and ready for use, and it is
// safe for concurrent use. It stores values in their encoded form, so that it shares no
// memory with its callers.
type Store struct {
	mu    sync.Mutex
	sites map[string]*site
}

type site struct {
	lease   latch.Lease // without an owner if no tick has it
	head    []byte      // nil before the first save
	latches map[workload.ID]stored
}

type stored struct {
	rev  int64
	data []byte
}

// New returns an empty Store.
func New() *Store { return &Store{} }

// use calls f with the state of a site, under the mutex.
func (s *Store) use(ctx context.Context, name string, f func(*site) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sites == nil {
		s.sites = map[string]*site{}
	}
	if s.sites[name] == nil {
		s.sites[name] = &site{lease: latch.Lease{Site: name}, latches: map[workload.ID]stored{}}
	}
	return f(s.sites[name])
}

// Acquire takes or extends the lease. See [latch.Store].
func (s *Store) Acquire(ctx context.Context, name, owner string, now, until time.Time) (lease latch.Lease, err error) {
	err = s.use(ctx, name, func(at *site) error {
		lease, err = at.lease.Next(owner, now, until)
		if err != nil {
			return err
		}
		at.lease = lease
		return nil
	})
	return lease, err
}

// Release gives the lease back. See [latch.Store].
func (s *Store) Release(ctx context.Context, lease latch.Lease) error {
	return s.use(ctx, lease.Site, func(at *site) error {
		if at.lease.Holds(lease) {
			at.lease.Owner = ""
		}
		return nil
	})
}

// Head reads the head of a site. See [latch.Store].
func (s *Store) Head(ctx context.Context, name string) (head latch.Head, err error) {
	err = s.use(ctx, name, func(at *site) error {
		if at.head == nil {
			return nil
		}
		head, err = latch.Decode[latch.Head]("memory", at.head)
		return err
	})
	return head, err
}

// Latches reads the latches of a site. See [latch.Store].
func (s *Store) Latches(ctx context.Context, name string) (map[workload.ID]latch.Latch, error) {
	var latches map[workload.ID]latch.Latch
	err := s.use(ctx, name, func(at *site) error {
		latches = make(map[workload.ID]latch.Latch, len(at.latches))
		for id, one := range at.latches {
			l, err := latch.Decode[latch.Latch]("memory", one.data)
			if err != nil {
				return err
			}
			latches[id] = l
		}
		return nil
	})
	return latches, err
}

// Save writes under a lease, all or nothing. See [latch.Store].
func (s *Store) Save(ctx context.Context, lease latch.Lease, head latch.Head, put []latch.Latch, drop []workload.ID) error {
	return s.use(ctx, lease.Site, func(at *site) error {
		if !at.lease.Holds(lease) {
			return latch.ErrLost
		}
		headData, err := latch.Encode(head)
		if err != nil {
			return fmt.Errorf("save head of %s: %w", lease.Site, err)
		}
		next := maps.Clone(at.latches)
		for _, l := range put {
			if l.Rev != next[l.ID].rev {
				return latch.ErrLost
			}
			l.Rev++
			data, err := latch.Encode(l)
			if err != nil {
				return fmt.Errorf("save latch %s: %w", l.ID, err)
			}
			next[l.ID] = stored{l.Rev, data}
		}
		for _, id := range drop {
			delete(next, id)
		}
		at.latches, at.head = next, headData
		return nil
	})
}
