package cluster

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A restore raises Flagger's primary for the target in git, and raises each of them
// once.
func TestAPrimaryStandsForItsTarget(t *testing.T) {
	t.Parallel()
	id := func(name string) workload.ID {
		return workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
	}
	by := []plan.Scaler{{Kind: plan.HPA, Namespace: "shop", Name: "web-primary", Max: 50}}
	primary := plan.Workload{ID: id("web-primary"), Replicas: 3, Ready: 2, Scalers: by, Version: "7", Terminating: true}
	stray := plan.Workload{ID: id("gone-primary"), Replicas: 3}
	live := map[workload.ID]plan.Workload{
		id("web"):  {ID: id("web"), Priority: 7, Scalers: []plan.Scaler{{Name: "web"}}, Version: "5"},
		id("cart"): {ID: id("cart"), Replicas: 4},
		primary.ID: primary,
		stray.ID:   stray,
	}
	promote(live, []plan.Workload{primary, stray})
	web := live[id("web")]
	if len(live) != 2 || web.ID != id("web") || web.Runs() != primary.ID || web.Replicas != 3 || web.Ready != 2 || web.Priority != 7 || web.Version != "7" || !web.Terminating ||
		len(web.Scalers) != 1 || web.Scalers[0] != by[0] {
		t.Errorf("%+v", live)
	}
	if cart := live[id("cart")]; cart.Runs() != cart.ID || cart.Replicas != 4 {
		t.Errorf("cart: %+v", cart)
	}
}
