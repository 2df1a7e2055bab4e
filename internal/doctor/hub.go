package doctor

import (
	"context"
	"encoding/json"
)

// A Hub is a Lister for a cluster whose Argo CD runs in another cluster, the hub. It reads
// Applications from the hub, also those that ApplicationSets generate.
type Hub struct {
	Lister        // the cluster
	Hub    Lister // the cluster of Argo CD
}

// List returns all objects of a kind. See Lister.
func (h Hub) List(ctx context.Context, path, resource, kind string) ([]json.RawMessage, error) {
	if kind == applicationKind {
		return h.Hub.List(ctx, path, resource, kind)
	}
	return h.Lister.List(ctx, path, resource, kind)
}
