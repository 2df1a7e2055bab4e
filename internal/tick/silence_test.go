package tick

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
)

// A grudging store fails to read the head, and never replies to a release of the lease.
type grudging struct {
	latch.Store
	error
}

func (g grudging) Head(context.Context, string) (latch.Head, error) { return latch.Head{}, g.error }

func (grudging) Release(ctx context.Context, _ latch.Lease) error {
	<-ctx.Done()
	return ctx.Err()
}

// The tick returns its error even if the store never releases the lease.
func TestALeaseIsNotGivenBackForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the table is gone")
		one := &Tick{
			Site: "prod-eu", Owner: "one", Period: 5 * time.Minute, Lease: 4 * time.Minute,
			Store: grudging{mem.New(), broken}, Clock: time.Now,
		}
		_, err := one.Run(t.Context())
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "give back the lease of site prod-eu: context deadline exceeded") {
			t.Errorf("error %v", err)
		}
	})
}
