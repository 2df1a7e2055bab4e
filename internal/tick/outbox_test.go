package tick_test

import (
	"fmt"
	"github.com/gitlatch/gitlatch/internal/workload"
	"strings"
	"testing"
)

// If a topic accepts no alerts for a long time, the oldest alerts are dropped, and the
// tick reports that.
func TestAlertsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(nil)
	w.Deaf = true
	for i := range 110 { // raised, resolved, raised, ...
		if w.Unread = nil; i%2 == 0 {
			w.Unread = []workload.Unread{{Part: "statefulsets", Why: "forbidden: no"}}
		}
		report, err := w.Tick()
		if err != nil {
			t.Fatal(err)
		}
		w.Now = w.Now.Add(period)
		says := strings.Contains(fmt.Sprint(report.Err()), "the 1 oldest alerts are dropped: more than 100 wait to be sent")
		drops := strings.Contains(fmt.Sprint(report.Err()), "dropped")
		if n := len(w.head(t).Outbox); n != min(i+1, 100) || says != (i >= 100) || drops != says {
			t.Fatalf("tick %d: %d wait, and it says %v", i, n, report.Err())
		}
	}
}
