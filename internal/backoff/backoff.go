// Package backoff waits until a context ends: for a time, or before another try.
package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep waits for d, or until the context ends. Its error is that of the context.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Jitter returns a random time from half of d to one and a half of it, so that two
// processes that lost the same race do not meet again.
func Jitter(d time.Duration) time.Duration {
	return time.Duration((0.5 + rand.Float64()) * float64(d))
}

// Retry waits before another try. The first try has number 1 and waits for about a fifth
// of a second. Each further try waits for about twice as long.
func Retry(ctx context.Context, try int) error {
	return Sleep(ctx, Jitter(200*time.Millisecond<<(try-1)))
}
