package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/placement"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestLines(t *testing.T) {
	t.Parallel()
	web := func(n int) placement.Pending {
		return placement.Pending{Workload: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprint("web-", n)}, Pods: 2, Of: 5, Priority: 100}
	}
	limit := &placement.Limit{Text: "NodePool default reaches its limit of 1000 cpu"}
	reading := func(name, why string) placement.Reading { return placement.Reading{Name: name, Why: why} }
	for name, c := range map[string]struct {
		answer placement.Answer
		want   []string
	}{
		"fits": {placement.Answer{Verdict: placement.Fits, Pods: 12, Placed: 12, Nodes: 1}, []string{"A rebuild fits: 1 node has room for all of its 12 pods."}},
		"a limit is near": {placement.Answer{Verdict: placement.Fits, Pods: 12, Placed: 12, Nodes: 2, Near: "the subnets of zone a"}, []string{
			"A rebuild fits: 2 nodes have room for all of its 12 pods.",
			"This is close to a limit (the subnets of zone a). If the pods start in several batches, they can need one more node."}},
		"does not fit": {placement.Answer{Verdict: placement.DoesNotFit, Pods: 12, Placed: 8, Limit: limit, Remedy: "raise it", Pending: []placement.Pending{web(1), web(2)}, Unknown: []placement.Reading{reading("quotas", "denied")}}, []string{
			"A rebuild does not fit: 4 of 12 pods stay pending, because NodePool default reaches its limit of 1000 cpu.", "To place them, raise it.",
			"Pending, by priority: shop/web-1 (2 of 5 pods), shop/web-2 (2 of 5 pods).", "Not read: quotas (denied)"}},
		"unknown": {placement.Answer{Verdict: placement.Unknown, Pods: 12, Placed: 12, Unknown: []placement.Reading{reading("a", "denied"), reading("b", "throttled"), reading("c", "denied")}}, []string{
			"It is unknown whether a rebuild fits.", "Not read: a, c (denied)", "Not read: b (throttled)"}},
		"unknown with many pending": {placement.Answer{Verdict: placement.Unknown, Pods: 20, Placed: 8, Pending: []placement.Pending{web(1), web(2), web(3), web(4), web(5), web(6)}}, []string{
			"It is unknown whether a rebuild fits: 12 of 20 pods stay pending in the room that gitlatch could read.",
			"Pending, by priority: shop/web-1 (2 of 5 pods), shop/web-2 (2 of 5 pods), shop/web-3 (2 of 5 pods), shop/web-4 (2 of 5 pods), shop/web-5 (2 of 5 pods), and 1 more workload."}},
	} {
		if got := c.answer.Lines(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
