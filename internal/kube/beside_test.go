package kube_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// Kinds are listed in parallel: the server answers only after it has every request.
func TestKindsAreListedSideBySide(t *testing.T) {
	t.Parallel()
	e := serve(t, append(fleetOf(3), database())...)
	var missing atomic.Int32
	all := make(chan struct{})
	together := []string{deployments, statefulSets, daemonSets, rollouts, hpas, scaledObjects}
	missing.Store(int32(len(together)))
	e.trouble = func(_ http.ResponseWriter, r *http.Request, n int) bool {
		if n != 1 || !slices.Contains(together, r.URL.Path) {
			return false
		}
		if missing.Add(-1) == 0 {
			close(all)
		}
		select {
		case <-all:
		case <-time.After(time.Minute):
			t.Errorf("%s waits for others to be answered", r.URL.Path)
		}
		return false
	}
	if f := sample(t, e); len(f.Samples) != 4 || len(f.Unread) > 0 {
		t.Errorf("%d samples, unread %q", len(f.Samples), f.Unread)
	}
}
