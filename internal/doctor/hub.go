package doctor

import (
	"context"
	"encoding/json"
	"strings"
)

// A Hub is a Lister for a cluster whose Argo CD runs in another cluster, the hub. It
// reads Applications and the settings of Argo CD from the hub. Applications include those
// that ApplicationSets generate.
type Hub struct {
	Lister        // the cluster
	Hub    Lister // the cluster of Argo CD
}

// List returns all objects of a kind. See Lister.
func (h Hub) List(ctx context.Context, path, resource, kind string) ([]json.RawMessage, error) {
	if kind == "Application" {
		return h.Hub.List(ctx, path, resource, kind)
	}
	return h.Lister.List(ctx, path, resource, kind)
}

// Get returns one object. See Lister.
func (h Hub) Get(ctx context.Context, path string) (json.RawMessage, error) {
	if strings.HasSuffix(path, "/configmaps/"+settings) {
		return h.Hub.Get(ctx, path)
	}
	return h.Lister.Get(ctx, path)
}
