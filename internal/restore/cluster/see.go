package cluster

import (
	"context"
	"slices"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// See reads a workload of the last Look again, with its primary and its autoscalers. It
// reads the workload last, because a later write to the workload makes a raise fail, and
// a later write to an autoscaler does not. If an autoscaler was created after the Look,
// the next Look reads it.
func (c *Client) See(ctx context.Context, w plan.Workload) (map[workload.ID]plan.Workload, error) {
	var scalers []autoscaler
	for _, s := range w.Scalers {
		// Listing one object requires no right that Look does not require.
		some, err := c.scalers(ctx, s.Kind, true, kube.Selection{Namespace: s.Namespace, Name: s.Name})
		if err != nil {
			return nil, err
		}
		scalers = append(scalers, some...)
	}
	found := map[workload.Kind][]scalable{}
	for _, id := range slices.Compact([]workload.ID{w.ID, w.Runs()}) {
		o, _ := c.Kinds.Object(id.Kind)
		some, err := list[scalable](ctx, c, resourceOf(o), !own(o), kube.Selection{Namespace: id.Namespace, Name: id.Name})
		if err != nil {
			return nil, err
		}
		found[id.Kind] = append(found[id.Kind], some...)
	}
	return c.fleet(found, scalers, func(string) int32 { return w.Priority }), nil
}
