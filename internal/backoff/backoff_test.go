package backoff_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitlatch/gitlatch/internal/backoff"
)

func TestATryIsRepeatedAfterAboutTwiceTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for try, usual := range []time.Duration{200, 400, 800} {
			usual *= time.Millisecond
			before := time.Now()
			if err := backoff.Retry(t.Context(), try+1); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(before); took < usual/2 || took > usual*3/2 {
				t.Errorf("before try %d: %s", try+2, took)
			}
		}
	})
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		before := time.Now()
		if err := backoff.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != time.Second {
			t.Errorf("after %s: %v", time.Since(before), err)
		}
	})
}
