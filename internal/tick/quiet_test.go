package tick_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A quiet tick writes the head and no latch: the size of the write does not grow with
// the number of workloads.
func TestQuietTickSavesNoLatch(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"})
	id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	revisions := map[int64]int{}
	for run, pods := range []int32{87, 87, 87, 95, 92, 90} {
		w.Fleet[id] = workload.Sample{ID: id, Scale: &workload.Scale{Desired: pods, Ready: pods, Driver: workload.DrivenByHPA}, Rollout: &workload.Rollout{}}
		if _, err := w.Tick(); err != nil {
			t.Fatal(err)
		}
		w.Now = w.Now.Add(period)
		if run > 0 {
			revisions[w.latches(t)[id].Rev]++
		}
	}
	if len(revisions) != 1 {
		t.Errorf("quiet ticks saved the latch: %v", revisions)
	}
}
