package latch_test

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
)

// A store that was restored from a backup remembers an older lease, or no lease. It must
// not repeat a fence that it gave out since the backup.
func TestFencesSurviveARestore(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	next := func(l latch.Lease, owner string, now time.Time) latch.Lease {
		t.Helper()
		l, err := l.Next(owner, now, now)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for name, backup := range map[string]latch.Lease{
		"of a state with a lease": next(latch.Lease{Site: "prod"}, "a", noon),
		"of nothing":              {Site: "prod"},
		"of a small fence":        {Site: "prod", Owner: "a", Fence: 41},
	} {
		before := next(backup, "b", noon.Add(time.Minute))
		after := next(backup, "c", noon.Add(2*time.Minute))
		if after.Fence <= before.Fence || before.Fence <= backup.Fence {
			t.Errorf("%s: fence %d, then %d, and after the restore %d", name, backup.Fence, before.Fence, after.Fence)
		}
	}
	// A clock that stops or goes back does not reduce the fence.
	l := next(latch.Lease{Site: "prod"}, "a", noon)
	for _, now := range []time.Time{noon, noon.Add(-time.Hour), {}} {
		after := next(latch.Lease{Site: "prod", Fence: l.Fence}, "b", now)
		if after.Fence <= l.Fence {
			t.Errorf("at %s: fence %d after %d", now, after.Fence, l.Fence)
		}
		l = after
	}
}

// A lease without an owner would belong to every caller without a name.
func TestALeaseHasAnOwner(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, stored := range []latch.Lease{{Site: "prod"}, {Site: "prod", Owner: "a", Until: now.Add(-time.Minute), Fence: 41}} {
		if l, err := stored.Next("", now, now.Add(time.Minute)); err == nil {
			t.Errorf("no owner gets %+v after %+v", l, stored)
		}
	}
}
