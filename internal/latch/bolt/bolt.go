// Package bolt stores state in one file, with bbolt: a [latch.Store] for one machine. A
// save is on disk when it returns. Only one process at a time can open the file.
package bolt

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The file has a bucket for each site. It contains the lease and the head at these keys,
// and a bucket with the latches by ID.
var (
	keyLease   = []byte("lease")
	keyHead    = []byte("head")
	keyLatches = []byte("latches")
)

// Acquire takes or extends the lease. See [latch.Store].
func (s *Store) Acquire(ctx context.Context, site, owner string, now, until time.Time) (lease latch.Lease, err error) {
	err = s.update(ctx, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte(site))
		if err != nil {
			return fmt.Errorf("site %q: %w", site, err)
		}
		held, err := s.lease(b, site)
		if err != nil {
			return err
		}
		if lease, err = held.Next(owner, now, until); err != nil {
			return err
		}
		return write(b, keyLease, lease)
	})
	return lease, err
}

// Release gives the lease back. See [latch.Store].
func (s *Store) Release(ctx context.Context, lease latch.Lease) error {
	return s.update(ctx, func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(lease.Site))
		held, err := s.lease(b, lease.Site)
		if err != nil || !held.Holds(lease) {
			return err
		}
		held.Owner = ""
		return write(b, keyLease, held)
	})
}

// Head reads the head of a site. See [latch.Store].
func (s *Store) Head(ctx context.Context, site string) (head latch.Head, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		head, err = read[latch.Head](s, tx.Bucket([]byte(site)), keyHead)
		return err
	})
	return head, err
}

// Latches reads the latches of a site. See [latch.Store].
func (s *Store) Latches(ctx context.Context, site string) (map[workload.ID]latch.Latch, error) {
	latches := map[workload.ID]latch.Latch{}
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(site))
		if b == nil || b.Bucket(keyLatches) == nil {
			return nil
		}
		return b.Bucket(keyLatches).ForEach(func(_, data []byte) error {
			l, err := latch.Decode[latch.Latch](s.path, data)
			latches[l.ID] = l
			return err
		})
	})
	return latches, err
}

// Save writes under a lease, all or nothing. See [latch.Store].
func (s *Store) Save(ctx context.Context, lease latch.Lease, head latch.Head, put []latch.Latch, drop []workload.ID) error {
	return s.update(ctx, func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(lease.Site))
		held, err := s.lease(b, lease.Site)
		if err != nil {
			return err
		}
		if !held.Holds(lease) {
			return latch.ErrLost
		}
		all, err := b.CreateBucketIfNotExists(keyLatches)
		if err != nil {
			return err
		}
		for _, l := range put {
			if err := s.put(all, l); err != nil {
				return err
			}
		}
		for _, id := range drop {
			if err := all.Delete([]byte(id.String())); err != nil {
				return err
			}
		}
		return write(b, keyHead, head)
	})
}

// put writes one latch if its revision is the stored one.
func (s *Store) put(all *bbolt.Bucket, l latch.Latch) error {
	key := []byte(l.ID.String())
	held, err := read[latch.Latch](s, all, key)
	switch {
	case err != nil:
		return err
	case held.Rev != l.Rev:
		return latch.ErrLost
	}
	l.Rev++
	return write(all, key, l)
}

// lease returns the lease in the bucket of a site. The bucket may be nil.
func (s *Store) lease(b *bbolt.Bucket, site string) (latch.Lease, error) {
	lease, err := read[latch.Lease](s, b, keyLease)
	lease.Site = site
	return lease, err
}

// read returns the value at a key of a bucket; the zero value if the key or the bucket
// does not exist.
func read[T latch.Stored](s *Store, b *bbolt.Bucket, key []byte) (v T, err error) {
	if b == nil || b.Get(key) == nil {
		return v, nil
	}
	return latch.Decode[T](s.path, b.Get(key))
}

func write[T latch.Stored](b *bbolt.Bucket, key []byte, v T) error {
	data, err := latch.Encode(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", key, err)
	}
	return b.Put(key, data)
}
