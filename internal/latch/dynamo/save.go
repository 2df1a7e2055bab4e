package dynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// atOnce is the default of Options.AtOnce.
const atOnce = 16

// repeat calls f for every index below n, for at most s.atOnce of them at a time. After an
// error it starts no further call. It does not cancel running calls: they end on their own.
func (s *Store) repeat(ctx context.Context, n int, f func(i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.atOnce)
	for i := range n {
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return f(i)
		})
	}
	return group.Wait()
}

// A write is the change that a save makes to one item.
type write struct {
	what      string
	key       item
	body      []byte
	change    string
	condition string
	values    item
}

// Save writes the latches, then the head, each under its own condition. See
// [latch.Store].
//
// Before the first latch it checks that the lease is still valid. Another tick may take
// the lease during the save. So each write of a latch requires the revision that was
// read, and no newer fence. The write of the head requires the lease itself. The changes
// of the other tick are then not overwritten.
func (s *Store) Save(ctx context.Context, lease latch.Lease, head latch.Head, put []latch.Latch, drop []workload.ID) error {
	// Everything is encoded before the first write, so that a value that cannot be stored
	// leaves the state unchanged.
	last, err := headWrite(lease, head)
	if err != nil {
		return err
	}
	var writes []write
	for _, l := range put {
		w, err := latchWrite(lease, l)
		if err != nil {
			return err
		}
		writes = append(writes, w)
	}

	if len(put)+len(drop) > 0 {
		held, err := s.lease(ctx, lease.Site)
		if err != nil {
			return fmt.Errorf("read lease of site %s: %w", lease.Site, err)
		}
		if !held.Holds(lease) {
			return latch.ErrLost
		}
	}
	if err := s.repeat(ctx, len(writes), func(i int) error { return s.write(ctx, writes[i]) }); err != nil {
		return err
	}
	if err := s.repeat(ctx, len(drop), func(i int) error { return s.drop(ctx, lease, drop[i]) }); err != nil {
		return err
	}
	return s.write(ctx, last)
}

func headWrite(lease latch.Lease, head latch.Head) (write, error) {
	return sealed(write{
		what:      "head of site " + lease.Site,
		key:       headKey(lease.Site),
		change:    "SET body = :body, stamp = :stamp",
		condition: stands,
		values:    standing(lease),
	}, head)
}

func latchWrite(lease latch.Lease, l latch.Latch) (write, error) {
	w := write{
		what:      "latch " + l.ID.String(),
		key:       latchKey(lease.Site, l.ID),
		change:    "SET body = :body, stamp = :stamp, rev = :rev, fence = :fence",
		condition: "rev = :was AND fence <= :fence",
		values:    item{":rev": number(l.Rev + 1), ":fence": number(lease.Fence), ":was": number(l.Rev)},
	}
	if l.Rev == 0 {
		w.condition = "attribute_not_exists(rev)"
		delete(w.values, ":was")
	}
	l.Rev++
	return sealed(w, l)
}

// sealed returns a write with the stored form of a value, and with a stamp that
// identifies the write.
func sealed[T latch.Stored](w write, v T) (write, error) {
	var err error
	if w.body, err = latch.Encode(v); err != nil {
		return w, fmt.Errorf("save %s: %w", w.what, err)
	}
	if len(w.body) > maxBody {
		return w, fmt.Errorf("save %s: it has %d bytes, and an item in DynamoDB has at most %d. Split the workloads into several sites, or shorten the policy file", w.what, len(w.body), maxBody)
	}
	w.values[":body"], w.values[":stamp"] = binary(w.body), text(rand.Text())
	return w, nil
}

// write writes one item. If its condition is false, it returns ErrLost. If the reply to a
// write is lost, the SDK sends the write again, which then fails because of its own first
// attempt. The stamp shows that the first attempt was written.
func (s *Store) write(ctx context.Context, w write) error {
	err := s.update(ctx, w.key, w.change, w.condition, w.values)
	if errors.Is(err, errCondition) {
		var stored item
		if stored, err = s.get(ctx, w.key, attrStamp); err == nil && textOf(stored[attrStamp]) != textOf(w.values[":stamp"]) {
			return latch.ErrLost
		}
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", w.what, err)
	}
	return nil
}

// drop deletes one latch, unless a later owner of the lease has written it.
func (s *Store) drop(ctx context.Context, lease latch.Lease, id workload.ID) error {
	condition := "attribute_not_exists(fence) OR fence <= :fence"
	_, err := call(ctx, s, s.client.DeleteItem, &dynamodb.DeleteItemInput{
		TableName:                 &s.table,
		Key:                       latchKey(lease.Site, id),
		ConditionExpression:       &condition,
		ExpressionAttributeValues: item{":fence": number(lease.Fence)},
	})
	switch {
	case errors.Is(err, errCondition):
		return latch.ErrLost
	case err != nil:
		return fmt.Errorf("drop latch %s: %w", id, err)
	}
	return nil
}
