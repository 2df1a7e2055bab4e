package tick_test

import (
	"fmt"
	"strings"
	"testing"
)

// A topic that takes none for long costs the oldest alerts, and the tick says so.
func TestAlertsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	w.deaf = true
	for i := range 110 { // raised, resolved, raised, ...
		if w.unread = nil; i%2 == 0 {
			w.unread = []string{"statefulsets: forbidden: no"}
		}
		report, err := w.tick()
		if err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(period)
		says := strings.Contains(fmt.Sprint(report.Err()), "the 1 oldest alerts are dropped: more than 100 wait to be sent")
		if n := len(w.head(t).Outbox); n != min(i+1, 100) || says != (i >= 100) {
			t.Fatalf("tick %d: %d wait, and it says %v", i, n, report.Err())
		}
	}
}
