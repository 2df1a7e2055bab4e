package await_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitlatch/gitlatch/internal/await"
)

func TestATryIsRepeatedAfterAboutTwiceTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for try, usual := range []time.Duration{200, 400, 800} {
			usual *= time.Millisecond
			before := time.Now()
			if err := await.Again(t.Context(), try+1); err != nil {
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
		if err := await.For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(before) != time.Second {
			t.Errorf("after %s: %v", time.Since(before), err)
		}
	})
}

// No more run at a time than may, and after an error no other begins.
func TestManyCallsAreBoundedAndEndWithTheFirstError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, begun atomic.Int32
		var tooMany atomic.Bool
		failed := errors.New("failed")
		err := await.Each(t.Context(), 100, 4, func(ctx context.Context, i int) error {
			begun.Add(1)
			if running.Add(1) > 4 {
				tooMany.Store(true)
			}
			defer running.Add(-1)
			if i == 9 {
				time.Sleep(time.Second)
				return failed
			}
			return await.For(ctx, time.Second+time.Millisecond)
		})
		if !errors.Is(err, failed) || tooMany.Load() || begun.Load() != 12 || running.Load() != 0 {
			t.Errorf("%v; too many at once: %v, %d begun, %d still run", err, tooMany.Load(), begun.Load(), running.Load())
		}
	})
}
