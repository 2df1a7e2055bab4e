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
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A grudging store takes no lease back, and says nothing.
type grudging struct{ latch.Store }

func (grudging) Release(ctx context.Context, _ latch.Lease) error {
	<-ctx.Done()
	return ctx.Err()
}

type blind struct{ error }

func (b blind) Sample(context.Context) (workload.Fleet, error) { return workload.Fleet{}, b.error }

// What ended a pass is said, though nobody takes the lease back.
func TestALeaseIsNotGivenBackForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("the cluster is gone")
		one := &Tick{
			Site: "prod-eu", Owner: "one", Period: 5 * time.Minute, Lease: 4 * time.Minute,
			Sampler: blind{broken}, Store: grudging{mem.New()}, Clock: time.Now,
		}
		_, err := one.Run(t.Context())
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "give back the lease of site prod-eu: context deadline exceeded") {
			t.Errorf("error %v", err)
		}
	})
}
