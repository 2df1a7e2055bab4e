//go:build gitops

package ways_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// autoscaler is the user that changes the replicas in a live cluster.
const autoscaler = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"

// commits returns the number of commits of levels to a live cluster in the tests; make
// bench-inert sets more.
func commits(t *testing.T) int {
	t.Helper()
	text := os.Getenv("GITLATCH_INERT_COMMITS")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("GITLATCH_INERT_COMMITS: must be a number of commits, got %q", text)
	}
	return n
}

// In a live cluster, autoscalers move while levels are committed and Flux reconciles.
// Only the autoscalers write the replicas: the audit log of the API server has the
// writer of each change.
func TestNoCommitOfACheckpointScalesALiveCluster(t *testing.T) {
	t.Parallel()
	l := fill(t, "flux", map[string]string{})
	l.Apply(t, string(ways.Flux(example)))
	n := commits(t)
	l.takes(t, n)
	moved, caused := l.scaled(t, n, flux.User)
	fmt.Printf("figure commits_to_a_live_cluster %d\n", n)
	fmt.Printf("figure autoscaler_scale_events %d\n", moved)
	fmt.Printf("figure commit_caused_scale_events %d\n", caused)
}

// scaled returns how often the autoscalers changed replicas during n commits, and how
// often other users did. It fails if the autoscalers did not, or if another user, above
// all the tool, did.
func (l *live) scaled(t *testing.T, n int, tool string) (moved, caused int) {
	t.Helper()
	all := writes(t, l.ControlPlane, "shop")
	for user, times := range by(scaleEvents(all)) {
		if user == autoscaler {
			moved = times
			continue
		}
		caused += times
		t.Errorf("%s wrote %d counts, and only the autoscalers should", user, times)
	}
	if moved < n {
		t.Errorf("the autoscalers wrote %d counts during %d commits: too few to tell anything", moved, n)
	}
	for _, w := range all {
		if w.user == tool && w.names && w != first(all, w.workload) {
			t.Errorf("%s wrote the count of %s, %d, to the live cluster: %+v", tool, w.workload, w.replicas, w)
		}
	}
	return moved, caused
}

// Without spec.ignore, commits scale the cluster. The audit log shows it.
func TestWithoutTheRuleCommitsScaleALiveCluster(t *testing.T) {
	t.Parallel()
	l := fill(t, "flux", map[string]string{})
	rule := regexp.MustCompile(`(?s)\n  ignore:\n.*$`)
	unruled := rule.ReplaceAll(ways.Flux(example), []byte("\n"))
	if string(unruled) == string(ways.Flux(example)) {
		t.Fatal("there was no rule to leave out")
	}
	l.Apply(t, string(unruled))
	l.takes(t, 3)

	events := by(scaleEvents(writes(t, l.ControlPlane, "shop")))
	if events[flux.User] < 3 {
		t.Errorf("Flux wrote %d counts in 3 commits, want one each at least: the log does not show what it should (%v)", events[flux.User], events)
	}
}

// takes applies n commits of levels to the cluster. The autoscalers move during each of
// them, from one CPU use of the pods to another. The next commit follows once the
// previous one is applied and the autoscalers have moved.
func (l *live) takes(t *testing.T, n int) {
	t.Helper()
	l.Applied(t, example.Name, l.origin.Tip("main"))
	levels := []int32{100, 200, 50, 20}
	for i := range n {
		before, up := sum(l.asks(t, shop...)), i%2 == 0
		l.load.Store(map[bool]string{true: busy, false: idle}[up])
		level := levels[i%len(levels)]
		l.Applied(t, example.Name, l.latch(t, map[workload.ID]int32{web: level, cart: level / 10}))
		// A different sum could also be the end of the previous change.
		l.until(t, "the autoscalers move", func(counts string) bool { return sum(counts) != before && sum(counts) > before == up })
	}
}

// sum returns the sum of replica counts in a line.
func sum(counts string) (all int) {
	for _, count := range strings.Fields(counts) {
		n, _ := strconv.Atoi(count)
		all += n
	}
	return all
}

// first returns the first write to a workload.
func first(all []write, workload string) write {
	for _, w := range all {
		if w.workload == workload {
			return w
		}
	}
	return write{}
}
