package controlplane

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitlatch/gitlatch/internal/backoff"
)

// On a busy machine, each sample of a cluster takes many seconds.
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
