package score

import (
	"cmp"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/drill"
)

// rollout returns a rollout that is in flight or in git, or nil if there is neither.
func (one subject) rollout() *drill.Rollout {
	live, declared := one.sample.Rollout, one.Rollout
	flying := live != nil && live.InFlight
	if !flying && declared == (checkpoint.Rollout{}) {
		return nil
	}
	r := &drill.Rollout{InFlight: flying, Returns: drill.ReturnsManifests, ByItself: true,
		Text: "Git has no entry for the rollout. A rebuild starts with the template of the manifests."}
	if flying {
		r.Desired = &live.Desired
		r.Failure = live.Failure
		r.Halted = live.Halted
		if len(live.Templates) > 0 {
			r.Target, r.Available = live.Templates[0].Hash, &live.Templates[0].Available
		}
	}
	if declared == (checkpoint.Rollout{}) {
		return r
	}
	returned := declared.Returned()
	r.Milestone, r.Phase = &declared.Milestone, string(declared.Phase)
	r.Returns, r.Version = string(declared.Returns), cmp.Or(string(returned.Images), returned.Hash)
	r.ByItself, r.Text = one.Returned.Yes(), fmt.Sprintf("A rebuild returns to %s", one.Returns)
	r.Target = cmp.Or(r.Target, declared.To.Hash)
	return r
}
