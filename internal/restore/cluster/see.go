package cluster

import (
	"context"
	"slices"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// See reads a workload of the last look anew: itself, what runs in its place, and
// the autoscalers that it had then. The workload is read last, since a raise is
// refused if that changed, and not if its autoscaler did. Who gets an autoscaler
// after the look is seen with it by the next.
func (c *Client) See(ctx context.Context, w plan.Workload) (map[workload.ID]plan.Workload, error) {
	var scalers []autoscaler
	for _, s := range w.Scalers {
		// To list one object takes no right that a look has not.
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
