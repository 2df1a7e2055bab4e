package doctor

import (
	"context"
	"encoding/json"
	"strings"
)

// A Hub is a Lister of a cluster whose Argo CD runs in another one: Applications,
// those that ApplicationSets make among them, and the settings of Argo CD are
// those of the hub.
type Hub struct {
	Lister        // of the cluster
	Hub    Lister // of the one that Argo CD runs in
}

// List returns all objects of a kind.
func (h Hub) List(ctx context.Context, path, resource, kind string) ([]json.RawMessage, error) {
	if kind == "Application" {
		return h.Hub.List(ctx, path, resource, kind)
	}
	return h.Lister.List(ctx, path, resource, kind)
}

// Get returns one object.
func (h Hub) Get(ctx context.Context, path string) (json.RawMessage, error) {
	if strings.HasSuffix(path, "/configmaps/"+settings) {
		return h.Hub.Get(ctx, path)
	}
	return h.Lister.Get(ctx, path)
}
