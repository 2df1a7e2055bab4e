package cluster

import (
	"context"
	"slices"
	"strings"

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
		some, err := list[autoscaler](ctx, c, within(pathOf(s.Kind), s.Namespace), true, named(s.Name)...)
		if err != nil {
			return nil, err
		}
		for _, a := range some {
			a.kind = s.Kind
			scalers = append(scalers, a)
		}
	}
	found := map[workload.Kind][]scalable{}
	for _, id := range slices.Compact([]workload.ID{w.ID, w.Runs()}) {
		o, _ := c.kinds.Object(id.Kind)
		some, err := list[scalable](ctx, c, within(o.Path()+"/"+o.Resource, id.Namespace), !own(o), named(id.Name)...)
		if err != nil {
			return nil, err
		}
		found[id.Kind] = append(found[id.Kind], some...)
	}
	return c.fleet(found, scalers, func(string) int32 { return w.Priority }), nil
}

// named selects the object of a name. To list it takes no right that a look has
// not.
func named(name string) []string { return []string{"fieldSelector", "metadata.name=" + name} }

// within narrows the path of a resource to a namespace.
func within(path, namespace string) string {
	i := strings.LastIndex(path, "/")
	return path[:i] + "/namespaces/" + namespace + path[i:]
}
