// Package await waits: for a time, before another try, and for many calls.
package await

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// For waits for d, or until the context ends, whose error it then returns.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// About is For a half of d to one and a half: who lost the same race is not to
// meet again.
func About(ctx context.Context, d time.Duration) error {
	return For(ctx, time.Duration((0.5+rand.Float64())*float64(d)))
}

// Again waits before what failed is tried again, the first time with 1: for a
// fifth of a second or so, and about twice as long each time.
func Again(ctx context.Context, try int) error {
	return About(ctx, 200*time.Millisecond<<(try-1))
}

// Each calls f for each of n, so many at a time. An error ends the context of
// those that run and begins no other. Each waits for them and returns the first
// error.
func Each(ctx context.Context, n, atOnce int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			if err := f(ctx, i); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
