package policy_test

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// routed is a rollout both of whose templates have all pods, with a share of the
// traffic for the target.
func routed(traffic int32) *workload.Rollout {
	return &workload.Rollout{InFlight: true, Desired: 100, Traffic: &traffic, Templates: []workload.Template{
		{Hash: "v2", Desired: 100, Available: 100}, {Hash: "v1", Desired: 100, Available: 100}}}
}

// A milestone goes by what the target serves: pods without traffic take a rollout
// nowhere, and one that stands there is not soon over.
func TestAMilestoneIsThatOfTheTraffic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		traffic, milestone int32
		returns            checkpoint.Side
	}{{0, 0, checkpoint.SideFrom}, {20, 10, checkpoint.SideFrom}, {49, 25, checkpoint.SideFrom}, {50, 50, checkpoint.SideTo}} {
		p := policy.Presets()["cope"]
		l := latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}}
		var d policy.Decision
		now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
		for i := range 2 {
			look := policy.Look{Now: now, Period: 5 * time.Minute}
			if i > 0 {
				look.Last = now.Add(-5 * time.Minute)
			}
			l, d = policy.DecideRollout(p, l, workload.Sample{ID: l.ID, Rollout: routed(c.traffic)}, look)
			now = now.Add(5 * time.Minute)
		}
		if d.Verdict != policy.Cross || d.To.Rollout.Milestone != c.milestone || d.To.Rollout.Returns != c.returns {
			t.Errorf("with %d %% of the traffic: %s %s, %+v", c.traffic, d.Verdict, d.Text, d.To)
		}
	}
}
