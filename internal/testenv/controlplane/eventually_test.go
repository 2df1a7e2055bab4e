package controlplane

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitlatch/gitlatch/internal/backoff"
)

// A busy machine takes many seconds for one look at a cluster, every time.
func TestEventuallyGivesEachTryItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context) error { return backoff.Sleep(ctx, 20*time.Second) }
		if err := Eventually(t.Context(), 3*time.Minute, slow); err != nil {
			t.Error(err)
		}
		hangs := func(ctx context.Context) error { return backoff.Sleep(ctx, time.Hour) }
		if err := Eventually(t.Context(), 3*time.Minute, hangs); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a try that hangs ends with %v", err)
		}
	})
}
